//! Specs: test scripts for filters, run in a VM of their own, which request the steps of a test from the host.

use std::ffi::{CString, c_int};
use std::slice;
use std::time::Duration;

use eddy_filter::{LoadError, LoadResult};
use mlua_sys as ffi;

use super::vm::{Allowed, PATTERN_STEPS, Vm, VmFault, VmLimits};
use crate::failure::size_text;
use crate::thread::prepare_thread;

/// Loaded spec. It has all permissions of the user who runs it.
#[derive(Debug)]
pub struct LuaSpec {
    vm: Vm,
}

/// Element of a message between a spec and its host; `api/spec.lua` defines the elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecPart {
    /// Kind of the element.
    pub what: String,
    /// Name, for kinds that have several.
    pub name: Vec<u8>,
    /// Value.
    pub value: Vec<u8>,
}

impl SpecPart {
    /// Creates an element.
    pub fn new(what: &str, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        Self { what: what.to_owned(), name: name.as_ref().to_vec(), value: value.as_ref().to_vec() }
    }
}

impl LuaSpec {
    /// Loads a spec; `chunk` is its name in messages.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with an error message that begins with the chunk's name and the line.
    pub fn load(chunk: &str, text: &[u8]) -> LoadResult<Self> {
        prepare_thread();
        let chunk = CString::new(format!("={chunk}")).map_err(|_| LoadError::Refused {
            message: "the name of a spec must not contain NUL".to_owned(),
        })?;
        let made = || -> Result<Self, VmFault> {
            let mut vm = Vm::new(&LIMITS)?;
            vm.load_host(c"=(eddy)", "return {}")?;
            vm.call(0, 1)?;
            vm.load_host(c"=(eddy)", include_str!("api/json.lua"))?;
            vm.push(INTERNAL);
            vm.call(1, 0)?;
            vm.load_host(c"=(eddy)", include_str!("api/spec.lua"))?;
            vm.push(INTERNAL);
            vm.push(ffi::LUA_GLOBALSINDEX);
            vm.load(&chunk, text)?;
            vm.call(3, 1)?;
            Ok(Self { vm })
        };
        made().map_err(refused)
    }

    /// Continues with an answer, at first an empty one; returns the next output or request of the spec.
    ///
    /// # Errors
    /// The spec exceeded its CPU time or memory.
    pub fn step(&mut self, answer: &[SpecPart]) -> LoadResult<Vec<SpecPart>> {
        self.vm.push(STEP);
        let message = packed(answer);
        let argument = Argument { data: message.as_ptr(), len: message.len() };
        // SAFETY: there is room on the stack; the address is read before this function returns.
        unsafe { ffi::lua_pushlightuserdata(self.vm.state(), (&raw const argument).cast_mut().cast()) };
        let said = self.vm.call(1, 1).map(|()| self.text());
        self.vm.truncate(STEP);
        unpacked(&said.map_err(refused)?).ok_or_else(|| LoadError::Refused {
            message: "the output of the spec cannot be parsed; please report this bug of eddy".to_owned(),
        })
    }

    /// Returns the text on top of the stack.
    fn text(&self) -> Vec<u8> {
        let mut len = 0;
        // SAFETY: `step` of `api/spec.lua` gives a string, so that nothing is converted and no error raised.
        let text = unsafe { ffi::lua_tolstring(self.vm.state(), -1, &raw mut len) };
        if text.is_null() {
            return Vec::new();
        }
        // SAFETY: the string stays on the stack meanwhile, and has this length.
        unsafe { slice::from_raw_parts(text.cast::<u8>(), len) }.to_vec()
    }
}

/// Text, as `api/spec.lua` declares it in C.
#[repr(C)]
struct Argument {
    data: *const u8,
    len: usize,
}

/// Serializes the elements: each text is preceded by its length.
fn packed(parts: &[SpecPart]) -> Vec<u8> {
    let mut message = Vec::new();
    for text in parts.iter().flat_map(|part| [part.what.as_bytes(), &part.name, &part.value]) {
        message.extend_from_slice(text.len().to_string().as_bytes());
        message.push(b':');
        message.extend_from_slice(text);
    }
    message
}

fn unpacked(mut message: &[u8]) -> Option<Vec<SpecPart>> {
    let mut parts = Vec::new();
    while !message.is_empty() {
        let mut next = || {
            let colon = message.iter().position(|&byte| byte == b':')?;
            let (len, rest) = message.split_at(colon);
            let len: usize = str::from_utf8(len).ok()?.parse().ok()?;
            let (text, rest) = rest.get(1..)?.split_at_checked(len)?;
            message = rest;
            Some(text.to_vec())
        };
        let (what, name, value) = (next()?, next()?, next()?);
        parts.push(SpecPart { what: String::from_utf8(what).ok()?, name, value });
    }
    Some(parts)
}

/// Converts a fault to an error. No configuration key sets the limits of specs.
fn refused(fault: VmFault) -> LoadError {
    let message = match fault {
        VmFault::Cpu(allowed) => format!("it used more CPU time than a spec is allowed ({allowed:?})"),
        VmFault::Memory { all, .. } => {
            format!("it needs more memory than a spec is allowed ({})", size_text(all))
        }
        VmFault::Script(why) => why,
    };
    LoadError::Refused { message }
}

/// Stack positions.
const INTERNAL: c_int = 1;
const STEP: c_int = 2;
/// A spec is trusted like the command that runs it; the limits on time and memory only catch mistakes.
const LIMITS: VmLimits = VmLimits {
    cpu: Duration::from_secs(2),
    memory_bytes: 1 << 30,
    pattern_steps: PATTERN_STEPS,
    allow: Allowed { os: true, io: true, package: true, ffi: true },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parts: &[SpecPart]) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        parts.iter().map(|part| format!("{} {} {}", part.what, text(&part.name), text(&part.value))).collect()
    }

    fn load(text: &str) -> LuaSpec {
        LuaSpec::load("a_spec.lua", text.as_bytes()).unwrap()
    }

    #[test]
    fn tests_pass_and_fail_with_their_line() {
        let mut spec = load(
            "test('good', function() equal(1, 1) assert(true) end)
             test('bad', function()
               equal('a', 'b', 'the letter')
             end)
             test('worse', function() assert(false) end)
             test('worst', function() error({}) end)",
        );
        assert_eq!(words(&spec.step(&[]).unwrap()), ["passed good "]);
        let said = words(&spec.step(&[]).unwrap());
        assert_eq!(said, ["failed bad a_spec.lua:3: the letter: expected \"b\", got \"a\""]);
        assert_eq!(words(&spec.step(&[]).unwrap()), ["failed worse a_spec.lua:5: assertion failed!"]);
        let said = words(&spec.step(&[]).unwrap());
        assert_eq!(said, ["failed worst an error that is not a string: a table"]);
        assert_eq!(words(&spec.step(&[]).unwrap()), ["end  "]);
        assert_eq!(words(&spec.step(&[]).unwrap()), ["end  "]);
    }

    #[test]
    fn only_selected_tests_run() {
        let mut spec = load("test('one', function() end) test('two', function() end)");
        assert_eq!(words(&spec.step(&[SpecPart::new("only", "tw", "")]).unwrap()), ["passed two "]);
        assert_eq!(words(&spec.step(&[]).unwrap()), ["end  "]);
    }

    #[test]
    fn a_spec_loads_filters_and_sends_requests() {
        let mut spec = load(
            "local f = filter { file = 'f.lua', config = { a = 1 }, allow = { 'os' } }
             test('sent', function()
               local answer = f:send {
                 method = 'POST', path = '/a', headers = { ['x-a'] = { '1', '2' } }, body = { 'ab', '\\0c' },
                 endpoint = function(request)
                   return { status = 201, headers = { ['x-path'] = request.path }, body = request.body }
                 end,
               }
               equal(answer.status, 201)
               equal(answer.headers['X-PATH'], '/a')
               equal(answer.headers['x-none'], nil)
               equal(answer.forwarded.headers['x-a'], '1,2')
               equal(answer.forwarded.fields[2], { 'x-a', '2' })
               equal(answer.notes.lua.user, { name = 'alice' })
               equal(answer.logs[1], 'a record')
             end)",
        );
        let said = spec.step(&[]).unwrap();
        assert_eq!(words(&said), ["filter  ", "file  f.lua", "config  {\"a\":1}", "allow  os"]);
        let said = spec.step(&[SpecPart::new("made", "7", "")]).unwrap();
        let sent =
            ["send 7 ", "method  POST", "path  /a", "field x-a 1", "field x-a 2", "piece  ab", "piece  \0c"];
        assert_eq!(words(&said), sent);
        let asked = [("ask", "", ""), ("path", "", "/a"), ("piece", "", "ab")];
        let said = spec.step(&asked.map(|(what, name, value)| SpecPart::new(what, name, value))).unwrap();
        assert_eq!(words(&said), ["reply  ", "status  201", "field x-path /a", "piece  ab"]);
        let result = [
            ("result", "", ""),
            ("status", "", "201"),
            ("field", "x-path", "/a"),
            ("log", "info", "a record"),
            ("note", "lua\0user", "{\"name\":\"alice\"}"),
            ("forwarded", "", ""),
            ("field", "x-a", "1"),
            ("field", "x-a", "2"),
        ];
        let said = spec.step(&result.map(|(what, name, value)| SpecPart::new(what, name, value))).unwrap();
        assert_eq!(words(&said), ["passed sent "]);
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let refused = |text: &str| LuaSpec::load("a_spec.lua", text.as_bytes()).unwrap_err().to_string();
        assert!(refused("test(").contains("a_spec.lua:1: unexpected symbol"));
        let first = |text: &str| words(&load(text).step(&[]).unwrap()).concat();
        assert_eq!(first("\nerror('no')"), "broken  a_spec.lua:2: no");
        assert_eq!(first("\nfilter {}"), "broken  a_spec.lua:2: a filter needs a `file` or a `source`");
        let said = first("filter { flie = 'a' }");
        assert!(said.starts_with("broken  a_spec.lua:1: `flie` is not allowed here"), "{said}");
        let mut spec = load("\n\nlocal f = filter { file = 'f.lua' }");
        spec.step(&[]).unwrap();
        let said = spec.step(&[SpecPart::new("error", "f.lua:3: no", "")]).unwrap();
        assert_eq!(words(&said), ["broken  a_spec.lua:3: f.lua:3: no"]);
    }
}

//! `string.find`, `string.match`, `string.gmatch` and the part of `string.gsub` that calls nothing back.

use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::slice;

use memchr::{memchr, memmem};
use mlua_sys::{self as ffi, lua_CFunction, lua_Integer, lua_State};

use super::{Captured, MatchAbort, Matcher};
use crate::lua::vm::budget;

/// Functions that implement the script's string library, by name.
pub(in crate::lua::vm) const FUNCTIONS: &[(&CStr, lua_CFunction)] = &[
    (c"find", find),
    (c"find_text", find_text),
    (c"match", first_match),
    (c"next_match", next_match),
    (c"replace", replace),
];

/// `find(text, pattern, from)`: start and end of the first match, and its captures.
///
/// # Safety
/// To be called by Lua, like the other functions here.
unsafe extern "C-unwind" fn find(state: *mut lua_State) -> c_int {
    search(&LuaNativeCall(state), PatternResultKind::Positions)
}

/// `match(text, pattern, from)`: the captures of the first match, or all of it.
unsafe extern "C-unwind" fn first_match(state: *mut lua_State) -> c_int {
    search(&LuaNativeCall(state), PatternResultKind::Captures)
}

/// `next_match(text, pattern, from)`: like `find`, but `^` is not special.
unsafe extern "C-unwind" fn next_match(state: *mut lua_State) -> c_int {
    search(&LuaNativeCall(state), PatternResultKind::Next)
}

/// `replace(text, pattern, with, count_max, bytes_max)`: the text with matches replaced by a text, and their number.
unsafe extern "C-unwind" fn replace(state: *mut lua_State) -> c_int {
    let call = LuaNativeCall(state);
    let (subject, pattern, with) = (call.text(1), call.text(2), call.text(3));
    let count_max = call.integer(4).max(0).unsigned_abs();
    let bytes_max = usize::try_from(call.integer(5)).unwrap_or(usize::MAX);
    let replaced = SCRATCH.with_borrow_mut(|scratch| {
        scratch.clear();
        scratch.shrink_to(SCRATCH_BYTES_MAX);
        let count = replace_all(subject, pattern, with, count_max, bytes_max, scratch)?;
        Ok((count, scratch.as_ptr(), scratch.len()))
    });
    // The scratch buffer is not borrowed any more when an error is raised.
    match replaced {
        Ok((count, text, len)) => {
            // SAFETY: the scratch buffer does not change until this thread replaces again, which is after this.
            call.push_text(unsafe { slice::from_raw_parts(text, len) });
            call.push_integer(count);
            2
        }
        Err(trouble) => call.raise(trouble),
    }
}

/// `find_text(text, part, from)`: position of the first occurrence of a part.
unsafe extern "C-unwind" fn find_text(state: *mut lua_State) -> c_int {
    let call = LuaNativeCall(state);
    let (subject, part) = (call.text(1), call.text(2));
    let start = start(call.optional_integer(3), subject.len());
    match start.map_or(Ok(None), |start| find_part(subject, part, start)) {
        Ok(Some(found)) => {
            call.push_place(found, found + part.len());
            2
        }
        Ok(None) => {
            call.push_nil();
            1
        }
        Err(trouble) => call.raise(trouble),
    }
}

/// Searches in windows that overlap by the length of the part, and checks the CPU time between them.
fn find_part(subject: &[u8], part: &[u8], start: usize) -> Result<Option<usize>, MatchAbort> {
    let finder = memmem::Finder::new(part);
    let step = part.len().max(WINDOW_BYTES_MIN);
    for from in (start..=subject.len()).step_by(step) {
        let window = &subject[from..subject.len().min(from + step + part.len())];
        if let Some(found) = finder.find(window) {
            return Ok(Some(from + found));
        }
        if budget::is_over() {
            return Err(MatchAbort::Over);
        }
    }
    Ok(None)
}

thread_local! {
    /// Buffer for replaced texts: no frame that an error may cross owns an allocation.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternResultKind {
    Positions,
    Captures,
    Next,
}

fn search(call: &LuaNativeCall, answer: PatternResultKind) -> c_int {
    let (subject, pattern) = (call.text(1), call.text(2));
    let Some(from) = start(call.optional_integer(3), subject.len()) else {
        call.push_nil();
        return 1;
    };
    let anchored = if answer == PatternResultKind::Next { None } else { pattern.strip_prefix(b"^") };
    let mut matcher = Matcher::new(subject, anchored.unwrap_or(pattern), budget::is_over);
    let found = match anchored {
        Some(_) => matcher.match_at(from).map(|end| end.map(|end| (from, end))),
        None => matcher.search(from),
    };
    match found.and_then(|found| found.map_or(Ok(0), |(start, end)| call.push(&matcher, answer, start, end)))
    {
        Ok(0) => {
            call.push_nil();
            1
        }
        Ok(count) => count,
        Err(trouble) => call.raise(trouble),
    }
}

fn replace_all(
    subject: &[u8],
    pattern: &[u8],
    with: &[u8],
    count_max: u64,
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> Result<lua_Integer, MatchAbort> {
    let anchored = pattern.strip_prefix(b"^");
    let mut matcher = Matcher::new(subject, anchored.unwrap_or(pattern), budget::is_over);
    let (mut at, mut count) = (0, 0);
    while count < count_max {
        let end = matcher.match_at(at)?;
        if let Some(end) = end {
            count += 1;
            add(&mut matcher, with, &subject[at..end], bytes_max, out)?;
        }
        match end {
            Some(end) if end > at => at = end,
            _ if at == subject.len() => break,
            _ => {
                out.push(subject[at]);
                at += 1;
            }
        }
        if out.len() > bytes_max {
            return Err(TOO_LARGE);
        }
        if anchored.is_some() {
            break;
        }
    }
    out.extend_from_slice(subject.get(at..).unwrap_or_default());
    if out.len() > bytes_max { Err(TOO_LARGE) } else { Ok(lua_Integer::try_from(count).unwrap_or(0)) }
}

/// Appends the replacement of a match, in which `%0` to `%9` are the match and its captures.
fn add(
    matcher: &mut Matcher<'_>,
    with: &[u8],
    whole: &[u8],
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> Result<(), MatchAbort> {
    let mut rest = with;
    while let Some(at) = memchr(b'%', rest) {
        matcher.count(at / 16 + 4)?;
        out.extend_from_slice(&rest[..at]);
        match rest.get(at + 1) {
            Some(b'0') => out.extend_from_slice(whole),
            Some(b'1') if matcher.captures_len() == 0 => out.extend_from_slice(whole),
            Some(digit @ b'1'..=b'9') => match matcher.capture(usize::from(digit - b'1'))? {
                Captured::Text(text) => out.extend_from_slice(text),
                Captured::Position(at) => out.extend_from_slice((at + 1).to_string().as_bytes()),
            },
            Some(other) => out.push(*other),
            None => return Err(MatchAbort::Pattern("the replacement ends with '%'")),
        }
        if out.len() > bytes_max {
            return Err(TOO_LARGE);
        }
        rest = &rest[at + 2..];
    }
    matcher.count(rest.len() / 16)?;
    out.extend_from_slice(rest);
    Ok(())
}

/// Converts a start position as in Lua: from 1, or from the end if negative. Returns `None` if it is after the end.
fn start(from: lua_Integer, len: usize) -> Option<usize> {
    let distance = usize::try_from(from.unsigned_abs()).unwrap_or(usize::MAX);
    match from {
        1.. => Some(distance - 1).filter(|start| *start <= len),
        0 => Some(0),
        _ => Some(len.saturating_sub(distance)),
    }
}

/// Call from Lua. Nothing on the frames of its users has a destructor, as errors cross them.
struct LuaNativeCall(*mut lua_State);

impl LuaNativeCall {
    /// Returns an argument that must be a text. It stays on the stack as long as the call lasts.
    fn text<'t>(&self, index: c_int) -> &'t [u8] {
        let mut len = 0;
        // SAFETY: a wrong argument raises an error.
        let text = unsafe { ffi::luaL_checklstring(self.0, index, &raw mut len) };
        // SAFETY: the string is an argument, so it is neither moved nor freed before the call ends.
        unsafe { slice::from_raw_parts(text.cast(), len) }
    }

    fn integer(&self, index: c_int) -> lua_Integer {
        // SAFETY: a wrong argument raises an error.
        unsafe { ffi::luaL_checkinteger(self.0, index) }
    }

    fn optional_integer(&self, index: c_int) -> lua_Integer {
        // SAFETY: a wrong argument raises an error.
        unsafe { ffi::luaL_optinteger(self.0, index, 1) }
    }

    /// Pushes the requested results of a match; returns their number.
    fn push(
        &self,
        matcher: &Matcher<'_>,
        answer: PatternResultKind,
        start: usize,
        end: usize,
    ) -> Result<c_int, MatchAbort> {
        // SAFETY: the call only reserves room, and raises an error if there is none.
        unsafe { ffi::luaL_checkstack(self.0, STACK_MAX, c"too many captures".as_ptr()) };
        let mut count = 0;
        if answer != PatternResultKind::Captures {
            self.push_place(start, end);
            count += 2;
        }
        if matcher.captures_len() == 0 && answer == PatternResultKind::Captures {
            self.push_text(&self.text(1)[start..end]);
            return Ok(1);
        }
        for index in 0..matcher.captures_len() {
            match matcher.capture(index)? {
                Captured::Text(text) => self.push_text(text),
                Captured::Position(at) => self.push_integer(lua_Integer::try_from(at + 1).unwrap_or(0)),
            }
            count += 1;
        }
        Ok(count)
    }

    /// Pushes a position in a text as in Lua: the first and the last byte, counted from 1.
    fn push_place(&self, start: usize, end: usize) {
        self.push_integer(lua_Integer::try_from(start + 1).unwrap_or(0));
        self.push_integer(lua_Integer::try_from(end).unwrap_or(0));
    }

    fn push_nil(&self) {
        // SAFETY: a C function has room for 20 values.
        unsafe { ffi::lua_pushnil(self.0) };
    }

    fn push_integer(&self, value: lua_Integer) {
        // SAFETY: `push` made room, or a C function has it.
        unsafe { ffi::lua_pushinteger(self.0, value) };
    }

    fn push_text(&self, text: &[u8]) {
        // SAFETY: as above, and the text has the given length.
        unsafe { ffi::lua_pushlstring_(self.0, text.as_ptr().cast(), text.len()) };
    }

    fn raise(&self, trouble: MatchAbort) -> ! {
        match trouble {
            // The hook would raise the same at the next instruction.
            MatchAbort::Over => self.push_nil(),
            MatchAbort::Pattern(why) => {
                // SAFETY: there is room; adds the position of the call.
                unsafe { ffi::luaL_where(self.0, 1) };
                self.push_text(why.as_bytes());
                // SAFETY: there are two strings on top of the stack.
                unsafe { ffi::lua_concat(self.0, 2) };
            }
        }
        // SAFETY: the error is on top of the stack, and no frame between here and Lua has a destructor.
        unsafe { ffi::lua_error(self.0) }
    }
}

const TOO_LARGE: MatchAbort = MatchAbort::Pattern("the result exceeds the maximum length of a string");
const STACK_MAX: c_int = 40;
/// Size of the scratch buffer that a thread keeps for the next replacement.
const SCRATCH_BYTES_MAX: usize = 64 << 10;
/// Minimum window of a text search.
const WINDOW_BYTES_MIN: usize = 64 << 10;

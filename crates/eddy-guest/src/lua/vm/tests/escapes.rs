//! Attempts of a script to escape the sandbox, all of which must fail.

use mlua_sys as ffi;

use super::support::{run, vm};

/// Scripts that return what they found: `nil` or `false` if the attempt failed.
const ATTEMPTS: &[&str] = &[
    // Libraries.
    "return os",
    "return io",
    "return ffi",
    "return jit",
    "return debug",
    "return package",
    "return module",
    "return dofile or loadfile",
    "return print",
    "return newproxy",
    "return gcinfo",
    "return getfenv or setfenv",
    "return string.dump",
    "return table.new or table.clear",
    "return _G.os or _G._G.io or _G.package",
    "return rawget(_G, 'debug') or rawget(_G, 'ffi')",
    "for name, value in pairs(_G) do if name == 'ffi' or name == 'jit' or name == 'os' then return name end end",
    "return getmetatable(_G)",
    "return pcall(require, 'ffi') or pcall(require, 'jit') or pcall(require, 'debug') or pcall(require, 'jit.util')",
    // Compiled chunks.
    "return load('\\27LJ\\2\\0')",
    "return loadstring('\\27LJ\\2\\0')",
    "return load('\\27Lua', 'x', 'b')",
    "return load('\\27Lua', 'x', 'bt')",
    "local once = { '\\27', 'LJ\\2' } return load(function() return table.remove(once, 1) end)",
    "return pcall(string.dump, function() end)",
    // Globals of the host, through chunks, coroutines and functions.
    "return load('return os or io or ffi or jit or debug or package')()",
    "return load('return os or io or ffi', 'x', 't', nil)()",
    "return loadstring('return os or io or ffi or jit')()",
    "return coroutine.wrap(function() return os or io or ffi or jit end)()",
    "return coroutine.wrap(load('return os or io or ffi or jit'))()",
    "return load('return _G.os', 'x', 't', _G)()",
    "return load('return load')() ~= load",
    "return load('return _G')() ~= _G",
    "return pcall(function() return string.format.os end)",
    "return xpcall(error, function() return os or io end) or nil",
    "local found table.foreach(_G, function(name, value) if name == 'io' then found = value end end) return found",
    // Metatable shared by all strings.
    "return getmetatable('') ~= 'string'",
    "return pcall(setmetatable, '', {})",
    "return type(getmetatable('').__index) == 'table'",
    "string.find = nil return ('x'):rep(2) ~= 'xx'",
    "return ('').dump",
    "return ('').os or (''):len() ~= 0",
    // Limits.
    "return collectgarbage('stop') ~= 0",
    "return collectgarbage('setpause', 1e9) ~= 0",
    "return collectgarbage('collect') ~= 0",
    "return type(collectgarbage('count')) ~= 'number'",
    "return pcall(load, 'return 1', 'x', 't', 5)",
    "return setmetatable({}, { __gc = function() end }).__gc",
    "return debug and debug.sethook",
    // Memory, where a check could be missing.
    "return pcall(string.char, 256)",
    "return pcall(string.format, '%s', nil, nil) and pcall(string.format, '%n', 1)",
    "return pcall(string.rep, 'x', 2 ^ 53)",
    "return pcall(string.rep, 'x', -1) and #('x'):rep(-1) ~= 0",
    "return pcall(unpack, {}, 0, 2 ^ 31 - 1)",
    "return pcall(unpack, {}, -2 ^ 31, 2 ^ 31 - 1)",
    "return ('x'):byte(-9, 9) ~= 120",
    "return #('x'):sub(-9, 9) ~= 1",
    "return pcall(string.gsub, 'x', 'x', '%9')",
    "return pcall(string.find, 'x', ('('):rep(40))",
    "return pcall(string.find, 'x', '%f')",
    "return pcall(string.match, 'x', '[')",
    "return pcall(table.concat, { {} })",
    "return pcall(table.concat, {}, '', 1, 2 ^ 40)",
    "return pcall(coroutine.resume, 5)",
    "return pcall(table.sort, { 1, 'x', {} })",
    "return pcall(setmetatable, 5, {})",
    "return pcall(next, {}, 'no such key')",
];

#[test]
fn no_sandbox_escape_succeeds() {
    let mut vm = vm();
    for attempt in ATTEMPTS {
        let script = format!("return tostring((function() {attempt} end)() or nil)");
        assert_eq!(run(&mut vm, &script).as_deref(), Ok("nil"), "{attempt}");
    }
    assert!(ATTEMPTS.len() >= 40);
    assert_eq!(run(&mut vm, "return 7").as_deref(), Ok("7"));
}

#[test]
fn bytecode_is_not_accepted_as_a_script() {
    let fault = vm().load(c"=script", b"\x1bLJ\x02\x00").expect_err("it is refused");
    assert!(fault.to_string().contains("attempt to load a binary chunk"), "{fault}");
}

#[test]
fn a_chunk_that_the_host_compiled_is_not_loaded_either() {
    let mut vm = vm();
    let script =
        "local text = string.dump(function() return 1 end) return getfenv(0).load(text) or 'refused'";
    vm.load_host(c"=host", script).expect("it is valid");
    let state = vm.state();
    assert_eq!(vm.call(0, 1), Ok(()));
    // SAFETY: there is one value.
    assert_eq!(unsafe { ffi::lua_type(state, -1) }, ffi::LUA_TSTRING);
}

#[test]
fn machines_share_nothing() {
    let (mut one, mut other) = (vm(), vm());
    assert_eq!(run(&mut one, "x = 1 string.len = nil math.pi = 3 return x").as_deref(), Ok("1"));
    assert_eq!(run(&mut other, "return tostring(x)").as_deref(), Ok("nil"));
    assert_eq!(
        run(&mut other, "return #'abc' + ('abc'):len() + math.floor(math.pi * 100)").as_deref(),
        Ok("320")
    );
}

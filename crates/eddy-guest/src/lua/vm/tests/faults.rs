//! Scripts that never end or grow without limit; the VM survives them or is replaced.

use std::time::Duration;

use super::support::{run, run_coroutine, vm};
use crate::lua::vm::alarm::cpu_time;
use crate::lua::vm::{Vm, VmFault, VmLimits};

/// Name and text of a script that must be aborted.
type Bomb = (&'static str, &'static str);

const BOMBS: &[Bomb] = &[
    ("a compiled loop", "while true do end"),
    ("a compiled loop with work", "local x = 0 for i = 1, 1e18 do x = (x + i) % 1001 end"),
    ("an interpreted loop", "while true do local f = function() end end"),
    ("a goto", "::again:: goto again"),
    ("tail calls", "local function f() return f() end f()"),
    (
        "two that call each other",
        "local a, b function a(n) return b(n + 1) end function b(n) return a(n) end a(1)",
    ),
    ("string.rep", "while true do local s = ('x'):rep(1e6) end"),
    ("string.rep of pieces", "local t = {} for i = 1, 1e9 do t[i % 4] = ('xyz'):rep(3e5 + i) end"),
    ("gsub that doubles", "local s = 'x' while true do s = s:gsub('x', 'xx') end"),
    ("gsub with a function", "while true do (('x'):rep(1e5)):gsub('x', function(c) return c .. c end) end"),
    ("a pattern that tries everything", "(('a'):rep(1e5)):find(('a*'):rep(20) .. 'b')"),
    ("a pattern that tries everything, lazily", "return (('a'):rep(1e6)):match('.-.-.-b')"),
    ("a short text and many repeats", "while true do (('a'):rep(20)):find(('a*'):rep(8) .. 'b') end"),
    ("a short text and many lazy repeats", "while true do (('a'):rep(20)):match(('a-'):rep(8) .. 'b') end"),
    ("a short text and many options", "while true do (('a'):rep(24)):find(('a?'):rep(24) .. 'b') end"),
    ("gsub of a short text", "while true do (('a'):rep(20)):gsub(('a*'):rep(8) .. 'b', 'x') end"),
    (
        "gmatch of a short text",
        "while true do for _ in (('a'):rep(20)):gmatch(('a*'):rep(8) .. 'b') do end end",
    ),
    ("all bytes, many times", "while true do (('a'):rep(20)):match('^' .. ('.*'):rep(8) .. 'b$') end"),
    (
        "what the library may match, for ever",
        "local n = 0 while true do n = n + 1; (('a'):rep(n % 400)):match('a*a*b'); (('a'):rep(n % 400)):match('a+(.+)$'); (('('):rep(n % 200)):find('%b()') end",
    ),
    ("gmatch", "for _ in (('a'):rep(1e6)):gmatch('.-b') do end"),
    (
        "a plain search",
        "local s = ('a'):rep(1e6) s = s .. s while true do s:find(('a'):rep(1e5) .. 'b', 1, true) end",
    ),
    ("coroutines", "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end"),
    ("coroutines in coroutines", "local function f() coroutine.wrap(f)() end while true do pcall(f) end"),
    (
        "a coroutine that yields",
        "local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end",
    ),
    (
        "coroutines that catch",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    ),
    ("deep recursion", "local function f() return 1 + f() end while true do pcall(f) end"),
    ("pcall in a loop", "while true do pcall(error, {}) end"),
    ("pcall of an endless loop, for ever", "while true do pcall(function() while true do end end) end"),
    ("pcall of itself", "local function f() pcall(f) return f() end f()"),
    ("pcall of pcall", "local function f() while true do pcall(pcall, pcall, f) end end f()"),
    ("a table that grows", "local t = {} for i = 1, 1e9 do t[i] = i end"),
    ("a table of tables", "local t = {} while true do t = { t, {}, {} } end"),
    ("names", "local t = {} for i = 1, 1e9 do t['n' .. i] = true end"),
    ("a string that grows", "local s = 'x' while true do s = s .. s end"),
    (
        "__index",
        "local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) while true do pcall(function() return t[1] end) end",
    ),
    (
        "__newindex",
        "local t t = setmetatable({}, { __newindex = function(t, k, v) t[k + 1] = v end }) while true do pcall(function() t[1] = 1 end) end",
    ),
    (
        "__concat",
        "local t t = setmetatable({}, { __concat = function(a, b) return a .. b end }) while true do pcall(function() return t .. t end) end",
    ),
    (
        "__tostring",
        "local t t = setmetatable({}, { __tostring = function(t) return tostring(t) end }) while true do pcall(tostring, t) end",
    ),
    ("a comparator that loops", "table.sort({ 3, 2, 1 }, function() while true do end end)"),
    (
        "a comparator that sorts",
        "local function f(a, b) table.sort({ 3, 2, 1 }, f) return a < b end while true do pcall(f, 1, 2) end",
    ),
    (
        "a long list sorted",
        "local t = {} for i = 1, 1e5 do t[i] = i * 7919 % 100003 end while true do table.sort(t) table.sort(t, function(a, b) return a > b end) end",
    ),
    ("a long list joined", "local t = {} for i = 1, 1e5 do t[i] = 'x' end while true do table.concat(t) end"),
    ("a handler that loops", "xpcall(function() while true do end end, function() while true do end end)"),
    (
        "a handler that loops after a pattern",
        "xpcall(function() (('a'):rep(1e5)):find(('a*'):rep(20) .. 'b') end, function() while true do end end)",
    ),
    ("a handler that fails", "while true do xpcall(error, function(e) error(e) end) end"),
    ("table.insert at the front", "local t = {} for i = 1, 1e9 do table.insert(t, 1, i) end"),
    ("unpack", "local t = {} while true do pcall(unpack, t, 1, 1e8) select('#', unpack(t, 1, 7000)) end"),
    ("formats", "while true do pcall(string.format, ('%99.99f'):rep(200), 1e308) end"),
    (
        "a list of formats",
        "local t = {} for i = 1, 200 do t[i] = 1e308 end while true do (('%.99f'):rep(200)):format(unpack(t)) end",
    ),
    ("load", "while true do load(('a = 1 '):rep(1300)) end"),
    ("load of a long condition", "while true do load('return ' .. ('a or '):rep(1600) .. 'a') end"),
    ("load of parentheses", "while true do load('return ' .. ('('):rep(8000)) end"),
    (
        "load of a function",
        "load(function() return 'a = 1 ' end) while true do load(function() return ' ' end) end",
    ),
    (
        "upper, lower, reverse",
        "local s = ('x'):rep(1e6) s = s .. s while true do s:upper() s:lower() s:reverse() end",
    ),
    (
        "an error without end",
        "local function f(n) error(('x'):rep(1e6) .. n) end local n = 0 while true do n = n + 1 pcall(f, n) end",
    ),
    ("many weak tables", "local t = {} while true do t[#t + 1] = setmetatable({}, { __mode = 'k' }) end"),
];

/// Runs each script `times` times in a coroutine, as scripts are run.
fn run_all(times: usize) {
    let (mut usual, mut short) = (vm(), short_vm());
    for (name, script) in BOMBS {
        let mut late = Vec::with_capacity(times);
        for round in 0..times {
            // Most runs have a shorter limit, so that there can be more of them.
            let is_usual = round % 10 == 0;
            let vm = if is_usual { &mut usual } else { &mut short };
            let limit = if is_usual { VmLimits::default().cpu } else { SHORT };
            let before = cpu_time();
            let outcome = run_coroutine(vm, script);
            late.push((cpu_time() - before).saturating_sub(limit));
            let fault = outcome.expect_err(name);
            assert!(matches!(fault, VmFault::Cpu(_) | VmFault::Memory { .. }), "{name}: {fault}");
            if vm.is_exhausted() {
                *vm = if is_usual { super::support::vm() } else { short_vm() };
            }
            assert_eq!(run(vm, "return 7"), Ok("7".to_owned()), "{name}");
        }
        late.sort();
        println!("{name}: late by {:?}, at most {:?}", late[times / 2], late[times - 1]);
        // Some runs may be delayed by other load on the machine.
        assert!(late[times * 3 / 4] < LATE_MAX, "{name}: {late:?}");
        assert!(late[times - 1] < SLOW_MAX, "{name}: {late:?}");
    }
}

fn short_vm() -> Vm {
    Vm::new(&VmLimits { cpu: SHORT, ..VmLimits::default() }).expect("a machine")
}

#[test]
fn endless_scripts_are_stopped() {
    let is_long = std::env::var_os("EDDY_SOAK").is_some();
    run_all(if is_long { 1_000 } else { 50 });
}

const SHORT: Duration = Duration::from_millis(2);
/// Maximum delay after which an entry must be aborted.
const LATE_MAX: Duration = Duration::from_millis(5);
/// Maximum delay on a busy machine.
const SLOW_MAX: Duration = Duration::from_millis(150);

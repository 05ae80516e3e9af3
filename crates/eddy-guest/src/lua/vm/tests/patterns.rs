//! Tests that the replaced string functions give the same results as the library's own.

use mlua_sys as ffi;

use super::support::{run, vm};
use crate::lua::vm::{Vm, VmFault, VmLimits};

/// Compares thousands of calls, and returns their number; `string` has the library's functions, the methods of a string are the replaced ones.
const COMPARE: &str = r##"
local seed = 7
local function draw(list)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return list[1 + math.floor(seed / 65536) % #list]
end
local items = { "a", "b", ".", "%a", "%s", "%d", "%W", "[ab]", "[^a]", "[%w_]", "[]x]", "[a-c]", "(", ")", "()",
  "%b()", "%f[%w]", "%1", "%2", "%.", "x", " ", "1", "%", "[", "[^", "é", "%z", "%S", "%x" }
local ends = { "", "", "", "*", "+", "-", "?", "$" }
local bits = { "a", "b", "ab", " ", "1", "x", "(", ")", "aa", "_", "]", ".", "é" }
local function make(from, ends, most)
  local parts = {}
  for i = 1, draw({ 0, 1, 2, 3, 4, most }) do parts[i] = draw(from) .. draw(ends) end
  return table.concat(parts)
end
local function show(ok, ...)
  local parts = { tostring(ok) }
  for i = 1, select("#", ...) do parts[i + 1] = tostring((select(i, ...))) end
  -- Of an error only that it is one: the places differ.
  return ok and table.concat(parts, "|") or "error"
end
local function all(gmatch, text, pattern)
  local parts = {}
  for a, b in gmatch(text, pattern) do parts[#parts + 1] = tostring(a) .. "," .. tostring(b) end
  return table.concat(parts, ";")
end
local calls = 0
local function compare(name, ...)
  local own, other = show(pcall(string[name], ...)), show(pcall(("")[name], ...))
  if own ~= other then error(name .. " " .. show(true, ...) .. ": " .. own .. " / " .. other, 0) end
  calls = calls + 1
end
for _ = 1, 6000 do
  local pattern, text = make(items, ends, 6), make(bits, { "" }, 9)
  if draw({ 1, 2, 3, 4 }) == 1 then pattern = "^" .. pattern end
  local from = draw({ 1, 1, 2, 3, -1, -2, 0, 9 })
  compare("find", text, pattern, from)
  compare("find", text, pattern, from, true)
  compare("match", text, pattern, from)
  compare("gsub", text, draw({ "a*$", "b+$", "%s*$", "%a+$", "%.+$", "%]*$", "%b*$", "%1+$", "1-$" }), draw({ "", "-", "%0" }))
  compare("gsub", text, pattern, draw({ "<%0>", "%1", "", "-", "%%", "%2%1" }))
  compare("gsub", text, pattern, { a = "A", b = 1, [1] = "one", ab = false })
  compare("gsub", text, pattern, function(a, b) return b and "+" or a ~= "b" and "." end, draw({ 1, 2, 9 }))
  local own = show(pcall(all, string.gmatch, text, pattern))
  local other = show(pcall(all, ("").gmatch, text, pattern))
  if own ~= other then error("gmatch " .. text .. " " .. pattern .. ": " .. own .. " / " .. other, 0) end
end
return tostring(calls)
"##;

#[test]
fn patterns_match_as_in_the_standard_library() {
    // Without steps for the library, every pattern that is not plain text is matched here.
    for pattern_steps in [0, VmLimits::default().pattern_steps] {
        let limits =
            VmLimits { cpu: std::time::Duration::from_mins(1), pattern_steps, ..VmLimits::default() };
        let mut vm = Vm::new(&limits).expect("a machine");
        vm.load_host(c"=compare", COMPARE).expect("it is valid");
        let state = vm.state();
        assert_eq!(vm.call(0, 1), Ok(()));
        // SAFETY: there is one value.
        assert_eq!(unsafe { ffi::lua_tonumber(state, -1) }, 42_000.0);
    }
}

#[test]
fn long_lists_are_sorted_and_joined_like_short_ones() {
    let script = "
        local list, sum = {}, 0
        for i = 1, 10000 do list[i] = i * 7919 % 10007 end
        table.sort(list)
        for i = 2, #list do assert(list[i - 1] < list[i]) end
        table.sort(list, function(a, b) return a > b end)
        for i = 2, #list do assert(list[i - 1] > list[i]) end
        local text = table.concat(list, ',')
        local again = {}
        for number in text:gmatch('%d+') do again[#again + 1] = number end
        assert(#again == 10000 and again[1] == tostring(list[1]) and again[10000] == tostring(list[10000]))
        assert(#table.concat(list, '', 5000, 9999) < #table.concat(list))
        return table.concat({'a', 'b', 'c'}, '-', 2)";
    let limits = VmLimits { cpu: std::time::Duration::from_mins(1), ..VmLimits::default() };
    assert_eq!(run(&mut Vm::new(&limits).expect("a machine"), script), Ok("b-c".to_owned()));
}

#[test]
fn too_large_results_are_script_errors() {
    let mut vm = vm();
    for (script, expected) in [
        ("local _ = ('x'):rep(1e9)", "script:1: string.rep: the result is longer than 1048576 bytes"),
        (
            "local _ = ('x'):rep(1000, ('y'):rep(1e5))",
            "script:1: string.rep: the result is longer than 1048576 bytes",
        ),
        (
            "local _ = ('x'):rep(1e5):gsub('x', ('y'):rep(1e5))",
            "script:1: the result exceeds the maximum length of a string",
        ),
        (
            "local _ = string.format((' '):rep(2e4))",
            "script:1: string.format: the format is longer than 16384 bytes",
        ),
    ] {
        assert_eq!(run(&mut vm, script), Err(VmFault::Script(expected.to_owned())), "{script}");
    }
    assert!(!vm.is_exhausted());
}

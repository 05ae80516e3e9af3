//! Lua scripts that never end or allocate without limit.

/// Names of the scripts, and the statements that must be interrupted.
pub const SCRIPTS: [(&str, &str); 12] = [
    ("a compiled loop", "while true do end"),
    ("an interpreted loop", "while true do local f = function() end end"),
    (
        "two functions that call each other",
        "local a, b function a() return b() end function b() return a() end a()",
    ),
    ("a pattern that tries everything", "(('a'):rep(1e5)):find(('a*'):rep(20) .. 'b')"),
    ("long strings", "local t = {} for i = 1, 1e9 do t[i] = ('xyz'):rep(3e5 + i) end"),
    ("gsub that doubles", "local s = 'x' while true do s = s:gsub('x', 'xx') end"),
    ("coroutines", "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end"),
    ("recursion inside pcall", "local function f() return 1 + f() end while true do pcall(f) end"),
    ("loops inside pcall", "while true do pcall(function() while true do end end) end"),
    ("a table that grows", "local t = {} for i = 1, 1e9 do t[i] = { i } end"),
    ("a comparator that loops", "table.sort({ 3, 2, 1 }, function() while true do end end)"),
    (
        "a metamethod that calls itself",
        "local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) while true do pcall(function() return t[1] end) end",
    ),
];

/// Returns a script that runs these statements when a request has `x-evil`, and that adds `x-script` to responses.
pub fn script(evil: &str) -> String {
    format!(
        "function envoy_on_request(h)\n  if h:headers():get('x-evil') then\n    {evil}\n  end\nend\n\
         function envoy_on_response(h) h:headers():replace('x-script', 'ok') end\n"
    )
}

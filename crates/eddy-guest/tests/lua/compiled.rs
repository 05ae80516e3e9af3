//! JIT compilation of the interface: compiled code reads fields in place.

use eddy_guest::LuaLimits;

use crate::support::{ScriptHarness, continues_with};

/// Counts traces and aborts while `statement` runs often in a hook.
const WATCH: &str = "
local jit = require('jit')
local aborted, compiled = {}, 0
jit.attach(function(what, number, func, pc, code, reason)
  if what == 'stop' then compiled = compiled + 1 end
  -- 8: the recording began in a function that returned before the loop came round; the next one succeeds.
  if what == 'abort' and code ~= 8 then aborted[#aborted + 1] = tostring(code) end
end, 'trace')
local function often(handle)
  local h = handle:headers()
  local found = 0
  for i = 1, 10000 do STATEMENT end
  return found
end
function envoy_on_request(handle)
  handle:logInfo(often(handle))
  handle:logInfo((compiled > 0 and 'compiled' or 'interpreted') .. ' ' .. table.concat(aborted, ' '))
end";

fn watched(statement: &str) -> Vec<String> {
    let limits =
        LuaLimits { allows_package: true, cpu: std::time::Duration::from_secs(5), ..LuaLimits::default() };
    let play = ScriptHarness::with(&WATCH.replace("STATEMENT", statement), limits);
    let came = play.request();
    assert_eq!(came, continues_with(&[]));
    play.said()
}

#[test]
fn header_reads_are_jit_compiled() {
    for statement in [
        "if h:get('x-one') == '1' then found = found + 1 end",
        "if h:get('x-none') == nil then found = found + 1 end",
        "if handle:headers():get('host') == 'a.test' then found = found + 1 end",
        "if h:get(':path') == '/a?b=c' then found = found + 1 end",
        "if h:getNumValues('x-two') == 2 then found = found + 1 end",
    ] {
        assert_eq!(watched(statement), ["10000", "compiled "], "{statement}");
    }
}

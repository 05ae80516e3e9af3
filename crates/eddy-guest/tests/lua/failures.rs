//! Failing scripts and their effect on the VM.

use std::time::{Duration, Instant};

use eddy_filter::{Phase, Verdict};
use eddy_guest::{Guest, LuaLimits, ReclaimQueue};

use crate::support::{LuaTestPhase, ScriptHarness, continues_with, host, load, reason};

fn refused(text: &str) -> String {
    load(text, LuaLimits::default(), &host()).expect_err("it is refused").to_string()
}

#[test]
fn an_invalid_script_is_refused_with_its_position() {
    assert_eq!(
        refused("function envoy_on_request(\n end"),
        "test.lua:2: <name> or '...' expected near 'end'"
    );
    assert_eq!(refused("error('no')"), "test.lua:1: no");
    assert_eq!(refused("envoy_on_request = 5"), "`envoy_on_request` has to be a function");
    assert_eq!(refused("while true do end"), "it used more CPU time than `lua.cpu` allows (10ms)");
    assert!(refused("\x1bLJ\x02").contains("attempt to load"), "no compiled code");
}

#[test]
fn a_script_without_hooks_does_nothing() {
    let script = load("local a = 1", LuaLimits::default(), &host()).expect("it is loaded");
    let made = script.filter("", "{}", 1, &ReclaimQueue::new(|| ())).expect("it is created");
    assert!(!script.has_hooks() && Phase::ALL.iter().all(|phase| !made.info.interest.has(*phase)));
    assert!(ScriptHarness::new("function envoy_on_response() end").script.has_hooks());
}

#[test]
fn a_failed_hook_reverts_its_changes_and_the_vm_continues() {
    let play = ScriptHarness::new(
        "count = 0
         function envoy_on_request(h)
           count = count + 1
           h:headers():add('x', '1')
           if count == 2 then error({}) end
           if count == 3 then local a = nil + 1 end
           if count == 4 then coroutine.yield() end
           if count == 5 then error('plain', 0) end
         end",
    );
    let fine = continues_with(&["add x=1"]);
    assert_eq!(play.request(), fine);
    assert_eq!(reason(&play.request()), "an error that is not a string: a table");
    assert_eq!(reason(&play.request()), "test.lua:6: attempt to perform arithmetic on a nil value");
    assert_eq!(reason(&play.request()), "script performed an unexpected yield");
    assert_eq!(reason(&play.request()), "plain");
    assert_eq!(play.request(), fine);
}

#[test]
fn an_endless_hook_is_stopped() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           if h:headers():get('x-loop') then while true do pcall(function() while true do end end) end end
           h:headers():add('x', '1')
         end",
    );
    let begin = Instant::now();
    let mut exchange = play.exchange();
    exchange.request = "GET / HTTP/1.1\r\nHost: a\r\nx-loop: 1\r\n\r\n".to_owned();
    let came = exchange.request_head(true);
    assert_eq!(reason(&came), "it used more CPU time than `lua.cpu` allows (10ms)");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(play.request(), continues_with(&["add x=1"]));
}

#[test]
fn a_hook_that_takes_too_much_memory_loses_its_vm_and_the_hooks_waiting_in_it() {
    let limits = LuaLimits { memory_bytes: 4 << 20, cpu: Duration::from_secs(5), ..LuaLimits::default() };
    let play = ScriptHarness::with(
        "count = 0
         function envoy_on_request(h)
           count = count + 1
           if h:headers():get('x-eat') then local t = {} for i = 1, 1e9 do t[i] = 'text ' .. i end end
           if h:headers():get('x-wait') then h:body() end
           h:headers():add('x', count)
         end",
        limits,
    );
    let mut waits = play.exchange();
    waits.request = "GET / HTTP/1.1\r\nHost: a\r\nx-wait: 1\r\n\r\n".to_owned();
    assert_eq!(waits.request_head(false).verdict, Verdict::Buffer);
    let mut eats = play.exchange();
    eats.request = "GET / HTTP/1.1\r\nHost: a\r\nx-eat: 1\r\n\r\n".to_owned();
    assert_eq!(
        reason(&eats.request_head(true)),
        "it needs more memory than `lua.memory` allows (4MiB, 256KiB of it for one value)"
    );
    // The new VM starts from the beginning.
    assert_eq!(play.request(), continues_with(&["add x=1"]));
    let whole = LuaTestPhase { body: "x", is_end: true, is_buffered: true, trailers: "" };
    let came = waits.enter(Phase::RequestBody, whole);
    assert!(reason(&came).contains("its Lua VM was replaced while it waited"), "{came:?}");
}

#[test]
fn a_hook_waits_only_in_its_own_coroutine() {
    for statement in ["h:body()", "h:respond({[':status'] = 200})", "h:bodyChunks()()", "h:trailers()"] {
        let play = ScriptHarness::new(&format!(
            "function envoy_on_request(h)
               local co = coroutine.create(function() {statement} end)
               local is_fine, why = coroutine.resume(co)
               h:logInfo(tostring(is_fine) .. ' ' .. tostring(why))
             end"
        ));
        assert_eq!(play.exchange().request_head(false), continues_with(&[]));
        assert_eq!(
            play.said(),
            ["false test.lua:2: a hook can only wait in its own coroutine"],
            "{statement}"
        );
    }
}

#[test]
fn workers_share_no_globals() {
    let play = ScriptHarness::new(
        "count = 0 function envoy_on_request(h) count = count + 1 h:headers():add('x', count) end",
    );
    play.request();
    assert_eq!(play.request(), continues_with(&["add x=2"]));
    let mut other = play.exchange();
    other.worker = 1;
    assert_eq!(other.request_head(true), continues_with(&["add x=1"]));
    let mut none = play.exchange();
    none.worker = 2;
    assert_eq!(reason(&none.request_head(true)), "this worker cannot enter the script now");
}

#[test]
fn a_script_reaches_only_the_provided_api() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local seen = {}
           for _, name in ipairs({'os', 'io', 'ffi', 'jit', 'debug', 'package', 'loadfile', 'dofile', 'newproxy', 'getfenv'}) do
             if _G[name] ~= nil then seen[#seen + 1] = name end
           end
           local headers = h:headers()
           for _, object in ipairs({h, headers, h:streamInfo(), h:connection(), eddy.shared('a')}) do
             if getmetatable(object) ~= false then seen[#seen + 1] = 'metatable' end
             for key, value in next, object do if type(value) ~= 'number' and value ~= 'a\\0' then seen[#seen + 1] = type(value) end end
           end
           h:logInfo(table.concat(seen, ' '))
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), [""]);
}

#[test]
fn libraries_can_be_allowed() {
    let limits = LuaLimits { allows_os: true, allows_ffi: true, ..LuaLimits::default() };
    let play = ScriptHarness::with(
        "local ffi = require('ffi')
         function envoy_on_request(h) h:logInfo(type(os.time()) .. ffi.sizeof('int')) end",
        limits,
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["number4"]);
}

/// Returns the CPU time of this thread so far.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn endlessly_nested_protected_calls_are_aborted_soon_at_load_time() {
    for script in [
        "local function f() pcall(f) return f() end f()",
        "local function f() while true do pcall(pcall, pcall, f) end end f()",
    ] {
        let mut took: Vec<Duration> = (0..5)
            .map(|_| {
                let before = cpu_time();
                let error = load(script, LuaLimits::default(), &host()).unwrap_err().to_string();
                assert!(error.contains("more CPU time") || error.contains("more memory"), "{error}");
                cpu_time() - before
            })
            .collect();
        took.sort();
        println!("{took:?}");
        // One or two of the runs include the creation of the VM.
        assert!(took[1] < LuaLimits::default().cpu + Duration::from_millis(15), "{script}: {took:?}");
    }
}

#[test]
fn a_script_cannot_yield_while_it_is_loaded() {
    let error = load("coroutine.yield()", LuaLimits::default(), &host()).unwrap_err().to_string();
    assert_eq!(error, "a script cannot yield before its hooks run");
}

//! Cost of scripts: allocations are asserted, times are printed.

use std::time::{Duration, Instant};

use eddy_filter::{Phase, Verdict};
use eddy_guest::LuaLimits;

use crate::support::{LuaTestPhase, ScriptHarness};

/// Returns the time per call of `count` calls, the minimum of several rounds.
fn least(count: u32, mut call: impl FnMut()) -> Duration {
    let round = |call: &mut dyn FnMut()| {
        let begin = Instant::now();
        (0..count).for_each(|_| call());
        begin.elapsed() / count
    };
    (0..20).map(|_| round(&mut call)).min().unwrap_or_default()
}

fn patient() -> LuaLimits {
    LuaLimits { cpu: Duration::from_secs(5), ..LuaLimits::default() }
}

/// Request with twenty headers, as a browser sends it.
fn request() -> String {
    let fields: String = (0..18).map(|index| format!("X-Field-{index}: value {index}\r\n")).collect();
    format!(
        "GET /a?b=c HTTP/1.1\r\nHost: a.test\r\n{fields}Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n\r\n"
    )
}

#[test]
fn a_hook_that_only_reads_allocates_nothing() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h) if h:headers():get('authorization') ~= 'Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk' then error('no') end end",
    );
    let mut exchange = play.exchange();
    exchange.request = request();
    let at = LuaTestPhase { is_end: true, ..LuaTestPhase::default() };
    exchange.repeat(Phase::RequestHead, at, |run| {
        (0..1000).for_each(|_| assert_eq!(run(), Verdict::Continue));
        let used =
            allocation_counter::measure(|| (0..1000).for_each(|_| assert_eq!(run(), Verdict::Continue)));
        assert_eq!(used.count_total, 0);
    });
}

#[test]
fn the_cost_of_a_crossing_is_measured() {
    for (what, script) in [
        ("an empty hook", "function envoy_on_request(h) end"),
        (
            "a hook that reads a field",
            "function envoy_on_request(h) local a = h:headers():get('authorization') end",
        ),
        (
            "a hook that reads and sets a field",
            "function envoy_on_request(h) local headers = h:headers() headers:get('host') headers:replace('x-set', 'host2') end",
        ),
    ] {
        let play = ScriptHarness::with(script, patient());
        let mut exchange = play.exchange();
        exchange.request = request();
        let at = LuaTestPhase { is_end: true, ..LuaTestPhase::default() };
        exchange.repeat(Phase::RequestHead, at, |run| {
            let time = least(2000, || assert_eq!(run(), Verdict::Continue));
            println!("{what}: {time:?}");
            assert!(time < Duration::from_micros(200), "{what}: {time:?}");
        });
    }
}

/// Script that decodes and compares credentials with string functions alone, as in the benchmark.
const PLAIN: &str = include_str!("../../../../bench/peers/lua/basic-auth.lua");

#[test]
fn the_cost_of_plain_string_functions_is_measured() {
    let play = ScriptHarness::with(PLAIN, patient());
    let mut exchange = play.exchange();
    exchange.request = request();
    let at = LuaTestPhase { is_end: true, ..LuaTestPhase::default() };
    exchange.repeat(Phase::RequestHead, at, |run| {
        let time = least(2000, || assert_eq!(run(), Verdict::Continue));
        println!("credentials decoded by string functions: {time:?}");
        assert!(time < Duration::from_millis(2), "{time:?}");
    });
}

#[test]
fn the_cost_of_string_functions_is_measured() {
    for (what, statement) in [
        ("find of a plain text", "value:find('basic', 1, true)"),
        ("find of a pattern", "value:find('^%a+ ')"),
        ("match of one capture", "value:match('^Basic%s+(.+)$')"),
        ("match of two captures", "('user:password'):match('^(.-):(.*)$')"),
        ("gmatch, three matches", "local n = 0 for w in ('a, b, c'):gmatch('[^, ]+') do n = n + 1 end"),
        ("gsub with a text", "value:gsub('=*$', '')"),
        ("gsub with a table", "('a=1'):gsub('%w', { a = 'b' })"),
        ("gsub with a function", "('a%20b'):gsub('%%(%x%x)', unescape)"),
        ("format", "local s = string.format('%s-%d', value, 7)"),
        ("rep", "local s = ('ab'):rep(3)"),
    ] {
        let play = ScriptHarness::with(
            &format!(
                "local function unescape(hex) return string.char(tonumber(hex, 16)) end
                 function envoy_on_request(handle)
                   local value = handle:headers():get('authorization')
                   for i = 1, 1000 do {statement} end
                 end"
            ),
            patient(),
        );
        let mut exchange = play.exchange();
        exchange.request = request();
        let at = LuaTestPhase { is_end: true, ..LuaTestPhase::default() };
        exchange.repeat(Phase::RequestHead, at, |run| {
            let time = least(20, || assert_eq!(run(), Verdict::Continue));
            println!("{what}: {} ns", time.as_nanos() / 1000);
            assert!(time < Duration::from_millis(50), "{what}: {time:?}");
        });
    }
}

#[test]
fn the_cost_of_a_header_read_is_measured() {
    for (what, expression) in [
        ("get of the first field", "get('host')"),
        ("get of the last of twenty", "get('authorization')"),
        ("get of none", "get('x-none')"),
        ("get of the path", "get(':path')"),
        ("number of values", "getNumValues('host')"),
    ] {
        let play = ScriptHarness::with(
            &format!(
                "function envoy_on_request(handle)
                   local h, found = handle:headers(), 0
                   for i = 1, 10000 do if h:{expression} ~= 'a' then found = found + 1 end end
                   if found ~= 10000 then error('no') end
                 end"
            ),
            patient(),
        );
        let mut exchange = play.exchange();
        exchange.request = request();
        let at = LuaTestPhase { is_end: true, ..LuaTestPhase::default() };
        exchange.repeat(Phase::RequestHead, at, |run| {
            let time = least(5, || assert_eq!(run(), Verdict::Continue)) / 10;
            println!("{what}: {} ps", time.as_nanos());
            assert!(time < Duration::from_millis(20), "{what}: {time:?}");
        });
    }
}

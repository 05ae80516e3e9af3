//! Other functions of the stream handle.

use eddy_filter::FilterLogLevel;

use crate::support::{ScriptHarness, continues_with, reason};

#[test]
fn log_entries_have_their_level() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           h:logTrace('t') h:logDebug('d') h:logInfo('i') h:logWarn('w') h:logErr('e') h:logCritical('c')
           h:log(0, 5) h:log(5, 'five')
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    let said = play.host.said.lock().unwrap().clone();
    let levels = [
        (FilterLogLevel::Trace, "t"),
        (FilterLogLevel::Debug, "d"),
        (FilterLogLevel::Info, "i"),
        (FilterLogLevel::Warn, "w"),
        (FilterLogLevel::Error, "e"),
        (FilterLogLevel::Error, "c"),
        (FilterLogLevel::Trace, "5"),
        (FilterLogLevel::Error, "five"),
    ];
    assert_eq!(said, levels.map(|(level, text)| (level, text.to_owned())));
}

#[test]
fn the_endpoint_and_route_of_a_request_can_be_changed() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           h:setUpstreamOverrideHost('127.0.0.1:1', true) h:setUpstreamOverrideHost('127.0.0.1:2') h:clearRouteCache()
         end
         function envoy_on_response(h) h:setUpstreamOverrideHost('127.0.0.1:1') end",
    );
    assert_eq!(
        play.request(),
        continues_with(&["endpoint 127.0.0.1:1 true", "endpoint 127.0.0.1:2 false", "clear route"])
    );
    assert_eq!(
        reason(&play.response()),
        "test.lua:4: setUpstreamOverrideHost() is only valid before the request is forwarded"
    );
}

#[test]
fn times_and_base64() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           h:logInfo(h:base64Escape('a\\0b?'))
           local ms, again = h:timestamp(), h:timestamp(EnvoyTimestampResolution.MILLISECOND)
           h:logInfo(tostring(ms > 1.6e12 and again >= ms))
           h:logInfo(#h:timestampString() .. ' ' .. #h:timestampString(EnvoyTimestampResolution.MICROSECOND))
         end
         function envoy_on_response(h) h:timestamp(7) end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["YQBiPw==", "true", "13 16"]);
    assert_eq!(reason(&play.response()), "test.lua:7: timestamp format must be MILLISECOND.");
}

//! Other functions of the stream handle.

use eddy_filter::{FilterLogLevel, HostApi, METRICS_MAX, MetricKind, Phase};

use crate::support::{LuaTestPhase, ScriptHarness, continues_with, reason};

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
           for c in h:bodyChunks() do h:setUpstreamOverrideHost('127.0.0.1:3') h:clearRouteCache() end
         end
         function envoy_on_response(h) h:setUpstreamOverrideHost('127.0.0.1:4', true) h:clearRouteCache() end",
    );
    let mut exchange = play.exchange();
    assert_eq!(
        exchange.request_head(false),
        continues_with(&["endpoint 127.0.0.1:1 true", "endpoint 127.0.0.1:2 false", "clear route"])
    );
    let piece = LuaTestPhase { body: "x", ..LuaTestPhase::default() };
    assert_eq!(exchange.enter(Phase::RequestBody, piece), continues_with(&[]), "no effect once forwarded");
    assert_eq!(play.response(), continues_with(&[]), "no effect on a response");
}

#[test]
fn the_arguments_of_an_override_host_are_checked() {
    let came = |arguments: &str| {
        let call = format!("h:setUpstreamOverrideHost({arguments})");
        ScriptHarness::new(&format!("function envoy_on_request(h) {call} end")).request()
    };
    for address in ["192.0.2.1:80", "192.0.2.1", "[2001:db8::1]:80", "[2001:db8::1]", "2001:db8::1"] {
        for (strict, is_strict) in [("", false), (", nil", false), (", false", false), (", true", true)] {
            let edit = format!("endpoint {address} {is_strict}");
            assert_eq!(came(&format!("'{address}'{strict}")), continues_with(&[&edit]), "{address}{strict}");
        }
    }
    for (arguments, expected) in [
        ("", "string expected, got no value"),
        ("{}", "string expected, got table"),
        ("true", "string expected, got boolean"),
        ("''", "host is not a valid IP address"),
        ("'origin.test:80'", "host is not a valid IP address"),
        ("'192.0.2.256'", "host is not a valid IP address"),
        ("'192.0.2.1:'", "host is not a valid IP address"),
        ("'192.0.2.1:65536'", "host is not a valid IP address"),
        ("'[192.0.2.1:80'", "host is not a valid IP address"),
        ("127", "host is not a valid IP address"),
        (
            "'192.0.2.1:80', 'yes'",
            "bad argument #2 to 'setUpstreamOverrideHost' (boolean expected, got string)",
        ),
        ("'192.0.2.1:80', 1", "bad argument #2 to 'setUpstreamOverrideHost' (boolean expected, got number)"),
    ] {
        assert_eq!(reason(&came(arguments)), format!("test.lua:1: {expected}"), "{arguments}");
    }
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

/// Returns the metrics of a script's host: name, kind and values.
fn metrics(play: &ScriptHarness) -> Vec<(String, MetricKind, Vec<u64>)> {
    let views = play.host.metrics().views();
    views.into_iter().map(|view| (view.name.to_string(), view.kind, view.values)).collect()
}

#[test]
fn a_script_counts_and_measures() {
    let play = ScriptHarness::new(
        "local hits
         function envoy_on_request(h)
           local stats = h:stats()
           hits = hits or stats:counter('my.hits')
           h:logInfo(hits:value()) hits:inc() hits:add(5) hits:add('2') hits:add(1.9) h:logInfo(hits:value())
           local open = stats:gauge('open')
           open:set(100) open:inc() open:dec() open:add(10) open:sub(5) h:logInfo(open:value())
           local times = stats:histogram('times', 'ms')
           for _, unit in ipairs({'milliseconds', 'microseconds', 'bytes', 'unspecified'}) do
             assert(stats:histogram('times', unit) == times)
           end
           times:recordValue(3) stats:histogram('times'):recordValue(2 ^ 40)
         end
         function envoy_on_response(h)
           hits:inc() h:stats():gauge('open'):set(7) h:logInfo(h:stats():counter('my_hits'):value())
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["0", "9", "105"]);
    // Another worker, whose VM has objects of its own.
    let mut other = play.exchange();
    other.worker = 1;
    assert_eq!(other.request_head(true), continues_with(&[]));
    assert_eq!(other.response_head(true), continues_with(&[]));
    assert_eq!(play.said()[3..], ["9", "18", "105", "19"]);
    let all = metrics(&play);
    assert_eq!(all[0], ("my_hits".to_owned(), MetricKind::Counter, vec![19]));
    assert_eq!(all[1], ("open".to_owned(), MetricKind::Gauge, vec![7]), "one value of all workers");
    let (name, kind, values) = &all[2];
    assert_eq!((name.as_str(), *kind), ("times", MetricKind::Histogram));
    assert_eq!(values[..4], [0, 0, 2, 0], "values of at most 5");
    assert_eq!(values[20..], [2, 2 * (3 + (1 << 40))], "larger values, and the sum");
    assert_eq!(all.len(), 3);
}

#[test]
fn invalid_metric_values_are_errors() {
    for (call, expected) in [
        ("counter('a'):add(-1)", "counter add amount must be non-negative"),
        ("counter('a'):add(0/0)", "counter add amount must be non-negative"),
        ("counter('a'):add()", "number expected, got no value"),
        ("counter('a'):add({})", "number expected, got table"),
        ("gauge('a'):set(-1)", "gauge set value must be non-negative"),
        ("gauge('a'):add(-1)", "gauge add amount must be non-negative"),
        ("gauge('a'):sub(-1)", "gauge sub amount must be non-negative"),
        ("histogram('a'):recordValue(-1)", "histogram value must be non-negative"),
        (
            "histogram('a', 's')",
            "invalid histogram unit 's', expected 'ms', 'milliseconds', 'microseconds', 'bytes', or 'unspecified'",
        ),
        ("counter({})", "string expected, got table"),
    ] {
        let play = ScriptHarness::new(&format!("function envoy_on_request(h) h:stats():{call} end"));
        assert_eq!(reason(&play.request()), format!("test.lua:1: {expected}"), "{call}");
    }
}

#[test]
fn metrics_beyond_the_limits_are_not_recorded() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           for i = 1, 1100 do h:stats():counter('c.' .. i):inc() end
           local long = h:stats():gauge(('x'):rep(1025))
           long:set(5) h:logInfo(long:value())
           h:stats():histogram(''):recordValue(1)
           h:stats():gauge('c.1'):set(9) h:logInfo(h:stats():counter('c.1'):value())
         end",
    );
    assert_eq!(play.request(), continues_with(&[]), "the request is not affected");
    let all = metrics(&play);
    assert_eq!(all.len(), METRICS_MAX);
    assert!(all.iter().all(|(name, _, values)| name.starts_with("c_") && values == &[1]), "{all:?}");
    let said = play.said();
    assert_eq!(said.len(), 3, "the log tells of one of them: {said:?}");
    let why = "the metric \"c.1025\" of a script is not recorded: a filter can define at most 1024 metrics, where each combination of labels counts";
    assert_eq!(said, [why, "0", "1"]);
}

#[test]
fn every_object_has_the_log_methods() {
    let play = ScriptHarness::new(
        "local counter
         function envoy_on_request(h)
           counter = h:stats():counter('n')
           local info = h:streamInfo()
           local key = h:importPublicKey('', 0)
           local objects = { h, h:headers(), info, info:dynamicMetadata(), info:filterState(), h:connection(),
             h:connectionStreamInfo(), h:metadata(), h:route(), h:virtualHost(), h:stats(), h:body(true), key, counter,
             h:stats():gauge('g'), h:stats():histogram('h') }
           for index, object in ipairs(objects) do
             object:logTrace('t') object:logDebug('d') object:logInfo('i') object:logWarn('w') object:logErr('e')
             object:logCritical(index)
           end
         end
         function envoy_on_response(h)
           counter:logInfo('kept')
           for name in pairs(h:headers()) do h:downstreamRequestHeaders():logInfo(name) end
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    let said = play.said();
    assert_eq!(said.len(), 16 * 6);
    assert_eq!(said[90..], ["t", "d", "i", "w", "e", "16"]);
    assert_eq!(play.response(), continues_with(&[]));
    assert_eq!(play.said()[96..], ["kept", ":status", "server", "content-type"]);
}

#[test]
fn a_response_hook_reads_the_request_headers() {
    let script = |before: &str| {
        format!(
            "function envoy_on_response(h)
               {before}
               local r = h:downstreamRequestHeaders()
               h:logInfo(r:get('x-two') .. ' ' .. r:getNumValues('x-two') .. ' ' .. r:get(':path') .. r:get(':method'))
               local names = {{}}
               for name in pairs(r) do names[#names + 1] = name end
               h:logInfo(table.concat(names, ' '))
               h:logInfo(h:headers():get(':status') .. tostring(h:headers():get('x-two')) .. tostring(r:get(':status')))
               r:add('x-three', '3')
             end
             function envoy_on_request(h) h:downstreamRequestHeaders() end"
        )
    };
    let expected =
        ["2,22 2 /a?b=cGET", ":authority :path :method :scheme host x-one x-two x-two", "200nilnil"];
    let play = ScriptHarness::new(&script(""));
    assert_eq!(reason(&play.response()), "test.lua:9: header map can no longer be modified");
    assert_eq!(play.said(), expected);
    assert_eq!(
        reason(&play.request()),
        "test.lua:11: downstreamRequestHeaders() is only available in envoy_on_response"
    );
    let call = "h:httpCall('c', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}, nil, 100)";
    let waiting = ScriptHarness::new(&script(call));
    let mut exchange = waiting.exchange();
    exchange.response_head(true);
    waiting.answer(waiting.last_sent().1, 200, "", "");
    assert_eq!(waiting.said(), expected, "also after a wait");
}

#[test]
fn base64_is_decoded() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           for _, text in ipairs({'YQBiPw==', 'YQBiPw', ' YQ\\nBi\\tPw== ', '', 'a', 'YQ=', 'YQ=a', 'Y*==', 'é'}) do
             local decoded = h:base64Decode(text)
             h:logInfo(decoded and #decoded .. decoded:gsub('%z', '.') or 'nil')
           end
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["4a.b?", "4a.b?", "4a.b?", "0", "nil", "nil", "nil", "nil", "nil"]);
}

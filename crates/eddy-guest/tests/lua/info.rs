//! Stream info, metadata, configuration values and shared stores.

use eddy_guest::{Guest, ReclaimQueue};

use crate::support::{ScriptHarness, continues_with, reason};

/// Returns what `h:logInfo` logs for these expressions in `envoy_on_request`.
fn said(expressions: &str) -> Vec<String> {
    let play = ScriptHarness::new(&format!(
        "function envoy_on_request(h) local s = h:streamInfo()
           for _, value in ipairs({{ {expressions} }}) do h:logInfo(tostring(value)) end
         end"
    ));
    assert_eq!(play.request(), continues_with(&[]), "{:?}", play.said());
    play.said()
}

#[test]
fn stream_and_connection_info() {
    let seen = said(
        "s:protocol(), s:routeName(), s:virtualClusterName(), s:downstreamLocalAddress(), s:downstreamDirectLocalAddress(), \
         s:downstreamRemoteAddress(), s:downstreamDirectRemoteAddress(), s:requestedServerName(), \
         s:downstreamSslConnection() == nil, h:connection():ssl() == nil, \
         h:connectionStreamInfo():dynamicTypedMetadata('x') == nil",
    );
    assert_eq!(
        seen,
        [
            "HTTP/1.1",
            "site/1",
            "",
            "192.0.2.2:80",
            "192.0.2.2:80",
            "192.0.2.1:5000",
            "192.0.2.1:5000",
            "",
            "true",
            "true",
            "true"
        ]
    );
}

#[test]
fn metadata_is_read_and_written() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local m = h:streamInfo():dynamicMetadata()
           h:logInfo(m:get('auth').user .. tostring(m:get('none')) .. tostring(m:get('auth').list[2]))
           m:set('mine', 'a', {1, 'two', {three = true}})
           m:set('mine', 'b', 'quote \" and \\\\ and \\n')
           m:set('auth', 'user', nil)
           h:logInfo(m:get('mine').a[3].three and m:get('mine').b)
           local all = {}
           for name, values in pairs(m) do all[#all + 1] = name end
           h:logInfo(table.concat(all, ' '))
           local state = h:streamInfo():filterState()
           state:set('key', 'envoy.string', 'value')
           h:logInfo(state:get('key') .. tostring(state:get('none')))
           h:logInfo(h:streamInfo():dynamicTypedMetadata('auth').list[1])
         end",
    );
    let mut exchange = play.exchange();
    exchange.metadata.set(b"auth", b"user", b"\"al\\u00e9x\"").unwrap();
    exchange.metadata.set(b"auth", b"list", b"[1, 2.5]").unwrap();
    let came = exchange.request_head(true);
    assert_eq!(
        came,
        continues_with(&[
            "note mine.a=[1,\"two\",{\"three\":true}]",
            "note mine.b=\"quote \\u0022 and \\u005c and \\u000a\"",
            "note auth.user=",
            "note filter_state.key=\"value\"",
        ])
    );
    assert_eq!(play.said(), ["aléxnil2.5", "quote \" and \\ and \n", "auth mine", "valuenil", "1"]);
}

#[test]
fn invalid_metadata_is_an_error() {
    for (value, expected) in [
        ("function() end", "test.lua:1: JSON cannot represent a function"),
        ("0/0", "test.lua:1: JSON cannot represent this number"),
        (
            "string.rep('x', 70000)",
            "test.lua:1: the metadata of the exchange would be larger than 64 KiB or more than 256 values",
        ),
    ] {
        let play = ScriptHarness::new(&format!(
            "function envoy_on_request(h) h:streamInfo():dynamicMetadata():set('a', 'b', {value}) end"
        ));
        assert_eq!(reason(&play.request()), expected);
    }
    let deep = ScriptHarness::new(
        "function envoy_on_request(h) local t = {} t.t = t h:streamInfo():dynamicMetadata():set('a', 'b', t) end",
    );
    assert_eq!(reason(&deep.request()), "test.lua:1: a value is nested too deeply for JSON");
}

#[test]
fn the_configuration_is_the_context() {
    let mut play = ScriptHarness::new(
        "function envoy_on_request(h)
           local c = h:filterContext()
           h:logInfo(tostring(c.own) .. tostring(c.rule) .. tostring(h:metadata():get('own')) .. tostring(h:route():metadata():get('rule')))
           for key, value in pairs(h:metadata()) do h:logInfo(key .. '=' .. value) end
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    let owner = play.made.owner.clone();
    let reclaim_queue = ReclaimQueue::new(|| ());
    let (config, held) =
        play.script.rule_config(play.made.number, &owner, "{\"rule\": 2}", &reclaim_queue).unwrap();
    play.config = config;
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["1nil1nil", "own=1", "nil2nil2", "rule=2"]);
    drop(held);
    reclaim_queue.drain();
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said()[4..], ["nilnilnilnil"], "a configuration that is gone is empty");
}

#[test]
fn workers_share_a_store() {
    let play = ScriptHarness::new(
        "local s = eddy.shared('hits')
         function envoy_on_request(h)
           h:logInfo(tostring(s:incr('n', 1)))
           h:logInfo(s:incr('n', 1, 10) .. ' ' .. tostring(s:add('n', 5)))
           s:set('text', 'value', 60) s:set('yes', true) s:set('no', false)
           h:logInfo(s:get('text') .. tostring(s:get('yes')) .. tostring(s:get('no')) .. tostring(s:get('none')))
         end
         function envoy_on_response(h)
           h:logInfo(s:get('n') .. s:get('text') .. tostring(eddy.shared('other'):get('n')))
           h:logInfo(tostring(s:delete('n')) .. tostring(s:delete('n')))
           h:logInfo(select(2, s:incr('text', 1)))
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["nil", "11 false", "valuetruefalsenil"]);
    let mut other = play.exchange();
    other.worker = 1;
    assert_eq!(other.response_head(true), continues_with(&[]));
    assert_eq!(play.said()[3..], ["11valuenil", "truefalse", "not a number"]);
}

//! Outbound requests of scripts, and local replies.

use eddy_filter::{Phase, Verdict};

use crate::support::{LuaPhaseResult, LuaTestPhase, ScriptHarness, continues_with, reason};

const ASK: &str = "function envoy_on_request(h)
  h:headers():add('x-before', '1')
  local headers, body = h:httpCall('auth', {[':method'] = 'POST', [':path'] = '/check', [':authority'] = 'auth',
    ['x-list'] = {'a', 'b'}, ['content-length'] = '3'}, 'abc', 500)
  h:headers():add('x-status', headers[':status'])
  h:headers():add('x-key', tostring(headers['key']))
  h:headers():add('x-body', tostring(body))
  h:headers():add('x-one', h:headers():get('x-one') .. h:headers():get('x-before'))
end";

#[test]
fn a_hook_waits_for_its_http_call() {
    let play = ScriptHarness::new(ASK);
    let mut exchange = play.exchange();
    let came = exchange.request_head(true);
    assert_eq!(came, LuaPhaseResult { verdict: Verdict::Pause, edits: vec!["add x-before=1".to_owned()] });
    let (sent, token) = play.last_sent();
    assert_eq!(sent, "auth POST /check auth 500ms x-list=a x-list=b [abc]");
    let resumed = play.answer(token, 200, "Key: 1\r\nKEY: 2\r\n", "yes");
    let edits = ["add x-status=200", "add x-key=2", "add x-body=yes", "add x-one=11"].map(str::to_owned);
    assert_eq!(resumed, [(Verdict::Continue, edits.to_vec())]);
    // No hook waits for a second response.
    assert_eq!(play.answer(token, 200, "", ""), []);
}

#[test]
fn a_request_that_fails_is_answered_with_an_error() {
    let play = ScriptHarness::new(ASK);
    for (why, status, body) in
        [("connect", "503", "upstream failure"), ("timeout", "504", "upstream request timeout")]
    {
        play.exchange().request_head(true);
        let resumed = play.fail(play.last_sent().1, why);
        assert_eq!(resumed[0].1[0], format!("add x-status={status}"));
        assert_eq!(resumed[0].1[2], format!("add x-body={body}"));
    }
}

#[test]
fn several_sequential_calls_keep_all_changes() {
    let play = ScriptHarness::new(
        "local head = {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}
         function envoy_on_request(h)
           for i = 1, 3 do
             local answer = h:httpCall('auth', head, nil, 100)
             h:headers():add('x-' .. i, answer[':status'])
             h:headers():replace(':path', '/' .. i)
           end
           h:headers():add('x-end', h:headers():get('x-1') .. h:headers():get('x-2') .. h:headers():get(':path'))
           local body = h:body()
           h:headers():add('x-size', body:length())
         end",
    );
    let mut exchange = play.exchange();
    assert_eq!(exchange.request_head(false).verdict, Verdict::Pause);
    assert_eq!(play.answer(play.last_sent().1, 201, "", ""), []);
    assert_eq!(play.answer(play.last_sent().1, 202, "", ""), []);
    let resumed = play.answer(play.last_sent().1, 203, "", "");
    let edits = [
        "add x-1=201",
        "target /1",
        "add x-2=202",
        "target /2",
        "add x-3=203",
        "target /3",
        "add x-end=201202/3",
    ];
    assert_eq!(resumed, [(Verdict::Buffer, edits.map(str::to_owned).to_vec())]);
    let whole = LuaTestPhase { body: "hello", is_end: true, is_buffered: true, trailers: "" };
    assert_eq!(exchange.enter(Phase::RequestBody, whole), continues_with(&["add x-size=5"]));
}

#[test]
fn a_body_is_still_available_after_a_call() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local body = h:body()
           h:httpCall('auth', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}, body:getBytes(0, 2), 0)
           body:setBytes(body:getBytes(0, body:length()) .. '!')
         end",
    );
    let mut exchange = play.exchange();
    exchange.request_head(false);
    let whole = LuaTestPhase { body: "hello", is_end: true, is_buffered: true, trailers: "" };
    assert_eq!(exchange.enter(Phase::RequestBody, whole).verdict, Verdict::Pause);
    assert_eq!(play.last_sent().0, "auth GET / a 3600000ms [he]");
    let resumed = play.answer(play.last_sent().1, 200, "", "");
    assert_eq!(resumed, [(Verdict::Continue, vec!["body hello!".to_owned()])]);
}

#[test]
fn an_asynchronous_call_does_not_pause_the_hook() {
    let play = ScriptHarness::new(
        "local head = {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}
         function envoy_on_request(h)
           h:logInfo(tostring(h:httpCall('log', head, 'x', 100, true)))
           h:logInfo(tostring(h:httpCall('log', head, 'y', {asynchronous = true, send_xff = false, trace_sampled = true})))
         end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["nil", "nil"]);
    assert_eq!(play.last_sent().0, "log GET / a 3600000ms alone [y]");
    assert_eq!(play.answer(play.last_sent().1, 200, "", ""), []);
}

#[test]
fn repeated_headers_are_returned_if_requested() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local answer = h:httpCall('auth', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}, '',
             {timeout_ms = 5, return_duplicate_headers = true})
           h:headers():add('x', table.concat(answer.key, '+') .. answer.one)
         end",
    );
    play.exchange().request_head(true);
    let resumed = play.answer(play.last_sent().1, 200, "Key: 1\r\nkey: 2\r\nkey: 3\r\none: 1\r\n", "");
    assert_eq!(resumed, [(Verdict::Continue, vec!["add x=1+2+31".to_owned()])]);
}

#[test]
fn an_invalid_call_is_an_error_with_its_line() {
    let head = "{[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}";
    for (arguments, expected) in [
        ("'nowhere', HEAD, '', 1", "test.lua:1: http call cluster invalid. Must be configured"),
        ("'a', {}, '', 1", "test.lua:1: http call headers must include ':path', ':method', and ':authority'"),
        ("'a', HEAD, '', -1", "test.lua:1: http call timeout must be >= 0"),
        (
            "'a', HEAD, ''",
            "test.lua:1: http call timeout must be a number of milliseconds, or a table of options",
        ),
        ("'a', HEAD, '', {nothing = 1}", "test.lua:1: \"nothing\" is not a valid option of httpCall"),
        (
            "'a', HEAD, '', {timeout_ms = 'x'}",
            "test.lua:1: the option \"timeout_ms\" of httpCall has to be a number",
        ),
        ("'a', {x = true}, '', 1", "test.lua:1: the value of header \"x\" has to be a string"),
        ("'a', nil, '', 1", "test.lua:1: a table of headers is expected"),
    ] {
        let arguments = arguments.replace("HEAD", head);
        let play = ScriptHarness::new(&format!("function envoy_on_request(h) h:httpCall({arguments}) end"));
        assert_eq!(reason(&play.request()), expected, "{arguments}");
    }
}

#[test]
fn a_script_that_responds_is_not_resumed() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           h:headers():add('x', '1')
           h:respond({[':status'] = '403', ['x-why'] = {'a', 'b'}, ['content-length'] = '9'}, 'no')
           h:logInfo('never')
         end
         function envoy_on_response(h) h:respond({[':status'] = 418}) end",
    );
    let edits = ["add x=1", "reply 403 lua_response [no]", "reply x-why=a", "reply x-why=b"];
    assert_eq!(
        play.request(),
        LuaPhaseResult { verdict: Verdict::Reply, edits: edits.map(str::to_owned).to_vec() }
    );
    assert_eq!(
        play.response(),
        LuaPhaseResult { verdict: Verdict::Reply, edits: vec!["reply 418 lua_response []".to_owned()] }
    );
    assert_eq!(play.said(), [] as [&str; 0]);
    for status in ["nil", "'100'", "600", "'x'"] {
        let play = ScriptHarness::new(&format!(
            "function envoy_on_request(h) h:respond({{[':status'] = {status}}}) end"
        ));
        assert_eq!(reason(&play.request()), "test.lua:1: :status must be between 200-599");
    }
}

#[test]
fn a_script_can_respond_after_a_call() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local answer = h:httpCall('auth', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}, nil, 5)
           if answer[':status'] ~= '200' then h:respond({[':status'] = answer[':status']}, 'denied') end
         end",
    );
    play.exchange().request_head(true);
    let resumed = play.answer(play.last_sent().1, 401, "", "");
    assert_eq!(resumed, [(Verdict::Reply, vec!["reply 401 lua_response [denied]".to_owned()])]);
}

#[test]
fn a_waiting_hook_is_dropped_with_its_exchange() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local kept = setmetatable({}, {__gc = 1})
           h:httpCall('auth', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}, nil, 5)
           h:logInfo('never')
         end",
    );
    let mut exchange = play.exchange();
    exchange.request_head(true);
    play.tell(&[exchange.ended()]);
    assert_eq!(play.fail(play.last_sent().1, "exchange_over"), []);
    assert_eq!(play.said(), [] as [&str; 0]);
    // The slot is free for the next exchange.
    let mut next = play.exchange();
    next.request_head(true);
    assert_eq!(next.ended().state, exchange.ended().state);
}

//! Bodies, whole and in pieces, and trailers.

use eddy_filter::{Phase, Verdict};

use crate::support::{LuaPhaseResult, LuaTestPhase, ScriptHarness, continues_with, reason};

const WHOLE: LuaTestPhase<'_> = LuaTestPhase { body: "hello", is_end: true, is_buffered: true, trailers: "" };

fn piece(body: &str) -> LuaTestPhase<'_> {
    LuaTestPhase { body, ..LuaTestPhase::default() }
}

fn last(body: &str) -> LuaTestPhase<'_> {
    LuaTestPhase { body, is_end: true, ..LuaTestPhase::default() }
}

#[test]
fn a_hook_waits_for_the_whole_body_and_may_change_the_head() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           h:headers():add('x-before', '1')
           local body = h:body()
           h:headers():add('x-size', body:length())
           h:logInfo(body:getBytes(1, 3))
           h:logInfo(body:setBytes('good bye'))
           h:logInfo(h:body():getBytes(0, 8))
         end",
    );
    let mut exchange = play.exchange();
    let came = exchange.request_head(false);
    assert_eq!(came, LuaPhaseResult { verdict: Verdict::Buffer, edits: vec!["add x-before=1".to_owned()] });
    assert!(exchange.has_state());
    assert_eq!(exchange.enter(Phase::RequestBody, WHOLE), continues_with(&["add x-size=5", "body good bye"]));
    assert!(!exchange.has_state());
    assert_eq!(play.said(), ["ell", "8", "good bye"]);
}

#[test]
fn a_message_without_a_body_has_none() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h) h:logInfo(tostring(h:body())) h:logInfo(h:body(true):length()) end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(play.said(), ["nil", "0"]);
    let set = ScriptHarness::new("function envoy_on_request(h) h:body(true):setBytes('x') end");
    assert_eq!(reason(&set.request()), "test.lua:1: there is no body to set");
    let mut exchange = set.exchange();
    assert_eq!(exchange.request_head(false).verdict, Verdict::Buffer);
    let empty = LuaTestPhase { body: "", ..WHOLE };
    assert_eq!(exchange.enter(Phase::RequestBody, empty), continues_with(&["body x"]));
}

#[test]
fn chunks_arrive_one_by_one_and_the_last_can_be_set_after_the_loop() {
    let play = ScriptHarness::new(
        "function envoy_on_response(h)
           local last
           for chunk in h:bodyChunks() do
             h:logInfo(chunk:length())
             chunk:setBytes('')
             last = chunk
           end
           last:setBytes('all')
         end",
    );
    let mut exchange = play.exchange();
    assert_eq!(exchange.response_head(false), continues_with(&[]));
    assert_eq!(exchange.enter(Phase::ResponseBody, piece("abc")), continues_with(&["body "]));
    assert_eq!(exchange.enter(Phase::ResponseBody, last("de")), continues_with(&["body ", "body all"]));
    assert!(!exchange.has_state());
    assert_eq!(play.said(), ["3", "2"]);
}

#[test]
fn forwarded_headers_and_bodies_cannot_be_changed() {
    for (statement, expected) in [
        ("h:headers():add('x', '1')", "test.lua:1: header map can no longer be modified"),
        (
            "h:respond({[':status'] = '200'})",
            "test.lua:1: respond() cannot be called if headers have been continued",
        ),
        ("h:body()", "test.lua:1: cannot call body() after body streaming has started"),
        ("h:bodyChunks()", "test.lua:1: cannot call bodyChunks after body processing has begun"),
        ("kept = kept or c kept:length() kept = c c = nil", ""),
    ] {
        let play = ScriptHarness::new(&format!(
            "function envoy_on_request(h) for c in h:bodyChunks() do {statement} end end"
        ));
        let mut exchange = play.exchange();
        assert_eq!(exchange.request_head(false), continues_with(&[]));
        let came = exchange.enter(Phase::RequestBody, piece("abc"));
        if expected.is_empty() {
            assert_eq!(came, continues_with(&[]));
            let came = exchange.enter(Phase::RequestBody, piece("def"));
            assert_eq!(reason(&came), "test.lua:1: object used outside of proper scope");
        } else {
            assert_eq!(reason(&came), expected, "{statement}");
        }
        assert!(!exchange.has_state());
    }
}

#[test]
fn bytes_outside_of_a_body_are_an_error() {
    let play = ScriptHarness::new("function envoy_on_request(h) h:body():getBytes(3, 3) end");
    let mut exchange = play.exchange();
    exchange.request_head(false);
    let came = exchange.enter(Phase::RequestBody, WHOLE);
    assert!(reason(&came).starts_with("test.lua:1: index/length must be >= 0"), "{came:?}");
}

#[test]
fn hooks_wait_for_trailers() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           for c in h:bodyChunks() do end
           local t = h:trailers()
           h:logInfo(t and t:get('X-Sum') or 'none')
           if t then t:replace('x-sum', '0') h:logInfo(t:get('x-sum')) end
         end",
    );
    let mut exchange = play.exchange();
    assert_eq!(exchange.request_head(false), continues_with(&[]));
    assert_eq!(exchange.enter(Phase::RequestBody, piece("abc")), continues_with(&[]));
    let trailers = LuaTestPhase { trailers: "x-sum: 7\r\n", is_end: true, ..LuaTestPhase::default() };
    assert_eq!(exchange.enter(Phase::RequestTrailers, trailers), continues_with(&["set x-sum=0"]));
    assert_eq!(play.said(), ["7", "0"]);

    let mut without = play.exchange();
    without.request_head(false);
    without.enter(Phase::RequestBody, last("abc"));
    assert!(!without.has_state());
    assert_eq!(play.said().last().map(String::as_str), Some("none"));
}

#[test]
fn a_finished_hook_gets_no_more_chunks() {
    let play =
        ScriptHarness::new("function envoy_on_request(h) if false then h:body() end h:logInfo('once') end");
    let mut exchange = play.exchange();
    assert_eq!(exchange.request_head(false), continues_with(&[]));
    assert_eq!(exchange.enter(Phase::RequestBody, piece("abc")), continues_with(&[]));
    assert_eq!(play.said(), ["once"]);
}

#[test]
fn only_scripts_that_use_bodies_get_them() {
    let interest = |text: &str| {
        let made = ScriptHarness::new(text).made;
        (Phase::ALL.map(|phase| made.info.interest.has(phase)), made.info.keeps_length)
    };
    let head = [true, false, false, false, false, false, false, false];
    assert_eq!(interest("function envoy_on_request() end"), (head, true));
    let both = [false, false, false, true, true, true, false, false];
    assert_eq!(interest("function envoy_on_response(h) h:body() end"), (both, true));
    assert!(!interest("function envoy_on_response(h) h:body():setBytes('') end").1);
    let hidden = ScriptHarness::new("function envoy_on_request(h) h['bo' .. 'dy'](h) end");
    let came = hidden.exchange().request_head(false);
    assert!(reason(&came).contains("bodies are available only to scripts that contain the word"), "{came:?}");
}

#[test]
fn fields_are_removed_at_their_offsets() {
    let play = ScriptHarness::new(
        "function envoy_on_request(h)
           local body = h:body(true)
           for _, key in ipairs({'text', 'number', 'list', 'flag', 'beyond', 'broken', 'none'}) do
             local value, index, length = body:field(key)
             h:logInfo(key .. ' ' .. tostring(value) .. ' ' .. tostring(index) .. ' ' .. tostring(length))
           end
           for _, place in ipairs(body:places('list')) do h:logInfo(place[1] .. '+' .. place[2]) end
         end",
    );
    let notes = [
        ("text", "\"cut off\"", "[[1,3]]"),
        ("number", "42", "[[4,0]]"),
        ("list", "[\"h\",\"lo\"]", "[[0,1],[3,2]]"),
        ("flag", "[true,false]", "[[1,0],[2,0]]"),
        ("beyond", "\"x\"", "[[4,2]]"),
        ("broken", "\"x\"", "[[4"),
    ];
    let mut exchange = play.exchange();
    assert_eq!(exchange.request_head(false).verdict, Verdict::Buffer);
    for (key, value, places) in notes {
        exchange.metadata.set(b"message_fields", key.as_bytes(), value.as_bytes()).unwrap();
        exchange.metadata.set(b"message_fields", format!("{key}_at").as_bytes(), places.as_bytes()).unwrap();
    }
    assert_eq!(exchange.enter(Phase::RequestBody, WHOLE), continues_with(&[]));
    let said = ["text ell 1 3", "number 42 4 0", "list lo 3 2", "flag false 2 0", "beyond nil nil nil"];
    let rest = ["broken nil nil nil", "none nil nil nil", "0+1", "3+2"];
    assert_eq!(play.said(), [said.as_slice(), &rest].concat());
    // There are no fields without a body, and none in pieces.
    assert_eq!(play.request(), continues_with(&[]));
    let pieces = ScriptHarness::new(
        "function envoy_on_request(h) for chunk in h:bodyChunks() do chunk:field('x') end end",
    );
    let mut exchange = pieces.exchange();
    exchange.request_head(false);
    let why = "test.lua:1: message fields need the whole body: call body() instead of bodyChunks()";
    assert_eq!(reason(&exchange.enter(Phase::RequestBody, piece("a"))), why);
}

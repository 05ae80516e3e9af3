//! Headers: reading, changing, iterating.

use eddy_filter::Verdict;

use crate::support::{ScriptHarness, continues_with, reason};

/// Returns what `h:logInfo` logs for these expressions in `envoy_on_request`.
fn said(expressions: &str) -> Vec<String> {
    let play = ScriptHarness::new(&format!(
        "function envoy_on_request(handle) local h = handle:headers()\n\
         for _, value in ipairs({{ {expressions} }}) do handle:logInfo(tostring(value)) end end"
    ));
    assert_eq!(play.request(), continues_with(&[]));
    play.said()
}

/// Returns the result of a request whose headers are changed by these statements.
fn changed(statements: &str) -> crate::support::LuaPhaseResult {
    ScriptHarness::new(&format!(
        "function envoy_on_request(handle) local h = handle:headers() {statements} end"
    ))
    .request()
}

#[test]
fn values_are_found_in_any_case_and_joined() {
    let seen = said(
        "h:get('x-one'), h:get('X-ONE'), h:get('x-two'), h:get('x-none') == nil, h:get('host'), h:getAtIndex('x-two', 1), \
         h:getAtIndex('x-two', 2) == nil, h:getAtIndex('x-two', -1) == nil, h:getNumValues('x-two'), h:getNumValues('x'), \
         h:get('') == nil",
    );
    assert_eq!(seen, ["1", "1", "2,22", "true", "a.test", "22", "true", "true", "2", "0", "true"]);
}

#[test]
fn the_start_line_is_read_as_pseudo_headers() {
    let seen = said(
        "h:get(':method'), h:get(':path'), h:get(':authority'), h:get(':scheme'), h:get(':status') == nil, \
         h:getNumValues(':path'), h:getAtIndex(':path', 0)",
    );
    assert_eq!(seen, ["GET", "/a?b=c", "a.test", "http", "true", "1", "/a?b=c"]);
    let play = ScriptHarness::new(
        "function envoy_on_response(h) h:logInfo(h:headers():get(':status')) h:logInfo(tostring(h:headers():get(':path'))) end",
    );
    assert_eq!(play.response(), continues_with(&[]));
    assert_eq!(play.said(), ["200", "nil"]);
}

#[test]
fn changes_are_recorded_and_visible_immediately() {
    let play = ScriptHarness::new(
        "function envoy_on_request(handle) local h = handle:headers()
           h:add('x-new', 'a') h:add('x-new', 5) h:replace('x-one', 'one') h:remove('X-TWO')
           h:replace(':path', '/new') h:replace(':method', 'POST') h:replace('Host', 'b.test:81')
           local all = {}
           for name, value in pairs(h) do all[#all + 1] = name .. '=' .. value end
           handle:logInfo(table.concat(all, ' '))
           handle:logInfo(h:get('x-new') .. ' ' .. h:get('host'))
         end",
    );
    let came = play.request();
    assert_eq!(
        came,
        continues_with(&[
            "add x-new=a",
            "add x-new=5",
            "set x-one=one",
            "remove X-TWO",
            "target /new",
            "method POST",
            "authority b.test:81"
        ])
    );
    assert_eq!(
        play.said(),
        [
            ":authority=b.test:81 :path=/new :method=POST :scheme=http host=b.test:81 x-one=one x-new=a x-new=5",
            "a,5 b.test:81"
        ]
    );
    // The next exchange does not see the changes.
    assert_eq!(play.request(), came);
}

#[test]
fn the_status_of_a_response_can_be_replaced() {
    let play = ScriptHarness::new(
        "function envoy_on_response(handle) local h = handle:headers()
           h:replace(':status', '404') h:setHttp1ReasonPhrase('Gone') handle:logInfo(h:get(':status'))
           for name, value in pairs(h) do handle:logInfo(name .. '=' .. value) end
         end",
    );
    assert_eq!(play.response(), continues_with(&["status 404"]));
    assert_eq!(play.said(), ["404", ":status=404", "server=origin", "content-type=text/plain"]);
}

#[test]
fn an_invalid_change_is_an_error_with_its_line() {
    for (statement, expected) in [
        (
            "h:add('a b', '1')",
            "test.lua:1: \"a b\" is not a header name: use letters, digits and any of !#$%&'*+-.^_`|~",
        ),
        (
            "h:add('x', 'a\\nb')",
            "test.lua:1: the value of \"x\" has a control byte such as a line end or NUL",
        ),
        (
            "h:add('connection', 'x')",
            "test.lua:1: eddy writes \"connection\" itself, and a rule cannot change it",
        ),
        ("h:add('x')", "test.lua:1: string expected, got no value"),
        ("h:get({})", "test.lua:1: string expected, got table"),
        ("h:replace(':status', '200')", "test.lua:1: :status does not exist in this message"),
        (
            "h:setHttp1ReasonPhrase('x')",
            "test.lua:1: setHttp1ReasonPhrase is only valid in the response flow",
        ),
        (
            "for k in pairs(h) do h:remove('x-one') end",
            "test.lua:1: header map cannot be modified while iterating",
        ),
        ("h:getAtIndex('a', 'b')", "test.lua:1: number expected"),
        ("h.get({}, 'a')", "test.lua:1: object used outside of proper scope"),
    ] {
        assert_eq!(reason(&changed(statement)), expected, "{statement}");
    }
}

#[test]
fn framing_headers_cannot_be_changed() {
    assert_eq!(
        changed("h:replace('content-length', '1') h:remove('Transfer-Encoding') h:add('x', '1')"),
        continues_with(&["add x=1"])
    );
    // Without the header the body may have any length.
    assert_eq!(
        changed("h:remove('content-length') h:add('x', '1')"),
        continues_with(&["remove content-length", "add x=1"])
    );
}

#[test]
fn an_iteration_can_be_broken_off_at_any_time() {
    let came = changed("for k in pairs(h) do break end h:add('x', '1') for k in pairs(h) do break end");
    assert_eq!(came, continues_with(&["add x=1"]));
}

#[test]
fn an_object_is_valid_until_its_hook_ends() {
    let play = ScriptHarness::new(
        "local kept
         function envoy_on_request(handle)
           if kept then kept:get('x') end
           kept = handle:headers()
         end
         function envoy_on_response(handle) kept:remove('x') end",
    );
    assert_eq!(play.request(), continues_with(&[]));
    assert_eq!(reason(&play.response()), "test.lua:6: object used outside of proper scope");
    assert_eq!(reason(&play.request()), "test.lua:3: object used outside of proper scope");
    let own = ScriptHarness::new("local h function envoy_on_request(handle) h = h or handle h:headers() end");
    assert_eq!(own.request().verdict, Verdict::Continue);
    assert_eq!(reason(&own.request()), "test.lua:1: object used outside of proper scope");
}

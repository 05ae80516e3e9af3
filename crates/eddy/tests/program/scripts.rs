//! The user's own Lua filters: a project, its specs, and the messages for mistakes.

use std::fs;
use std::path::Path;

use crate::projects::{ProjectFolder, blocks};
use crate::support::{get, get_with};

fn config(place: &ProjectFolder, folder: &str) -> String {
    let file = place.directory.join(folder).join("filter.lua").display().to_string();
    format!(
        "\
workers: 1
drain_timeout: 1s
filters:
  it:
    lua: {{file: '{file}'}}
    config: {{greeting: hello, tokens: {{letmein: alice}}}}
listeners:
  - {{address: '127.0.0.1:0', routes: site, filters: [it]}}
routes:
  site:
    - {{match: {{path: {{prefix: /}}}}, respond: {{status: 200, body: ok}}}}
"
    )
}

#[test]
fn a_lua_project_is_created_tested_checked_and_run() {
    let place = ProjectFolder::new();
    let said = place.eddy(&["filter", "new", "--lang", "lua", "my-hello"], ".").all(0);
    assert!(said.contains("cd my-hello\n  eddy filter test\n  eddy run eddy.yaml\n"), "{said}");
    assert!(!place.directory.join("cache").exists(), "a script needs no kit");
    let said = place.eddy(&["filter", "test"], "my-hello").all(0);
    let expected = "\
specs: filter_spec.lua
ok      the service and the client are greeted
ok      the unfriendly are refused
2 passed, 0 failed
";
    assert_eq!(said, expected);
    let said = place.eddy(&["filter", "test", "my-hello", "--", "unfriendly"], ".").all(0);
    assert_eq!(said, "specs: filter_spec.lua\nok      the unfriendly are refused\n1 passed, 0 failed\n");
    assert!(place.eddy(&["check", "eddy.yaml"], "my-hello").all(0).contains("ok: 2 listeners"));
    let mut eddy = place.launch(&config(&place, "my-hello"));
    assert!(get(eddy.address(), "/").text.contains("x-greeting: hello\r\n"));
    assert_eq!(get_with(eddy.address(), "x-unfriendly: yes").status, 403);
    // Saving the file is enough.
    place.replace("my-hello/filter.lua", "greeting)\nend\n\n--", "greeting .. \"!\")\nend\n\n--");
    place.replace("my-hello/filter.lua", "greeting)\nend\n", "greeting .. \"?\")\nend\n");
    eddy.record("configuration reloaded");
    assert!(get(eddy.address(), "/").text.contains("x-greeting: hello?\r\n"));
    eddy.stop();
    let said = place.eddy(&["filter", "test", "my-hello"], ".").all(1);
    let place_of = "        filter_spec.lua:8: greeting of the service: expected \"hello\", got \"hello!\"\n";
    assert!(
        said.starts_with(&format!(
            "specs: filter_spec.lua\nFAILED  the service and the client are greeted\n{place_of}"
        )),
        "{said}"
    );
    assert!(said.ends_with("1 passed, 1 failed\n"), "{said}");
}

#[test]
fn the_guide_to_lua_filters_works_as_written() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/lua-filters.md");
    let page = fs::read_to_string(page).unwrap();
    let (lua, sh) = (blocks(&page, "lua"), blocks(&page, "sh"));
    assert!(
        sh[0].starts_with("eddy filter new --lang lua auth\ncd auth\neddy filter test\neddy run eddy.yaml\n")
    );
    let place = ProjectFolder::new();
    place.eddy(&["filter", "new", "--lang", "lua", "auth"], ".").all(0);
    place.write("auth/filter.lua", &lua[0]);
    place.write("auth/filter_spec.lua", &lua[1]);
    let said = place.eddy(&["filter", "test", "auth"], ".").all(0);
    assert!(said.ends_with("3 passed, 0 failed\n"), "{said}");
    let eddy = place.launch(&config(&place, "auth"));
    assert_eq!(get(eddy.address(), "/").status, 401);
    assert_eq!(get_with(eddy.address(), "x-token: letmein").status, 200);
    eddy.stop();
}

#[test]
fn a_script_without_hooks_is_a_warning() {
    let place = ProjectFolder::new();
    let config = config(&place, "idle");
    place.write("idle/filter.lua", "local function envoy_on_request(h) h:headers():add('x-idle', '1') end\n");
    place.write("eddy.yaml", &config);
    let said = place.eddy(&["check", "eddy.yaml"], ".").all(0);
    let file = place.directory.join("idle/filter.lua").display().to_string();
    let message = "the script defines neither `envoy_on_request` nor `envoy_on_response`, so it does nothing";
    assert!(said.contains(&format!("warning: filter \"it\": {message}\n--> {file}\n")), "{said}");
    assert!(said.contains("hint: define one of them as a global function, without `local`"), "{said}");
    assert!(said.contains("ok: 1 listener, 1 rule"), "{said}");
    let inline = config.replace(&format!("file: '{file}'"), "source: 'local a = 1'");
    place.write("eddy.yaml", &inline);
    let said = place.eddy(&["check", "eddy.yaml"], ".").all(0);
    assert!(said.contains(&format!("filter \"it\": {message}")) && said.contains("eddy.yaml:4:3"), "{said}");
    let eddy = place.launch(&config);
    let log = eddy.log();
    assert!(log.contains(message) && log.contains(&file), "{log}");
    assert_eq!(get(eddy.address(), "/").status, 200);
    eddy.stop();
}

/// Returns the output for a spec with one test of this body, of a filter with this source.
fn outcome(source: &str, test: &str, code: i32) -> String {
    let place = ProjectFolder::new();
    let spec = format!(
        "local it = filter {{ source = [[\n{source}\n]] }}\n\ntest(\"one\", function()\n{test}\nend)\n"
    );
    place.write("a_spec.lua", &spec);
    place.eddy(&["filter", "test"], ".").all(code)
}

#[test]
fn a_spec_sees_bodies_calls_metadata_and_failures() {
    let source = "\
function envoy_on_request(h)
  local what = h:headers():get(':path')
  if what == '/fail' then error('it broke') end
  if what == '/both' then
    h:httpCall('audit', {[':method'] = 'GET', [':path'] = '/log', [':authority'] = 'a'}, nil, 100, true)
    local headers, body = h:httpCall('auth', {[':method'] = 'POST', [':path'] = '/ask', [':authority'] = 'a'}, 'who?', 100)
    h:headers():add('x-user', headers[':status'] .. ' ' .. tostring(body) .. ' ' .. tostring(headers['x-role']))
    h:streamInfo():dynamicMetadata():set('lua', 'user', {name = body})
    h:logInfo('asked')
  end
  if what == '/whole' then
    local body = h:body()
    h:headers():add('x-size', body:length())
    body:setBytes(body:getBytes(0, 2) .. '!')
  end
  if what == '/pieces' then
    for piece in h:bodyChunks() do piece:setBytes(piece:getBytes(0, piece:length()):upper()) end
    h:trailers():add('x-more', '1')
  end
end
function envoy_on_response(h)
  h:headers():add('x-own', tostring(h:headers():get(':status')) .. tostring(h:body() and h:body():length()))
  if h:headers():get('x-refuse') then h:respond({[':status'] = '502'}, 'refused') end
end";
    let test = "\
  local asked = {}
  local function auth(request) asked[#asked + 1] = request.method .. request.path .. request.body return { status = 201, headers = { ['x-role'] = 'a' }, body = 'bo' } end
  local answer = it:send { path = '/both', clusters = { auth = auth, audit = auth } }
  equal(asked, { 'GET/log', 'POST/askwho?' })
  equal(answer.forwarded.headers['X-User'], '201 bo a')
  equal(answer.notes.lua.user.name, 'bo')
  equal(answer.logs, { 'asked' })
  answer = it:send { path = '/both', clusters = { auth = function() return 'timeout' end, audit = {} } }
  equal(answer.forwarded.headers['x-user'], '504 upstream request timeout nil')
  answer = it:send { path = '/both' }
  equal(answer.status, 500)
  assert(answer.failure:find('http call cluster invalid', 1, true), answer.failure)
  answer = it:send { method = 'POST', path = '/whole', body = { 'he', 'llo' } }
  equal(answer.forwarded.headers['x-size'], '5')
  equal(answer.forwarded.body, 'he!')
  answer = it:send { method = 'POST', path = '/pieces', body = { 'a\\0', 'c' }, trailers = { ['x-sum'] = '2' } }
  equal(answer.forwarded.body, 'A\\0C')
  equal(answer.forwarded.trailers['x-sum'] .. answer.forwarded.trailers['x-more'], '21')
  answer = it:send { path = '/fail' }
  equal(answer.failure, 'script:3: it broke')
  equal(answer.forwarded, nil)
  answer = it:send { endpoint = { status = 404, headers = { ['x-refuse'] = '1' }, body = 'no' } }
  equal(answer.status .. answer.body, '502refused')
  equal(answer.forwarded.path, '/')
  answer = it:send { endpoint = function(request) return { body = request.authority } end, authority = 'b.test' }
  equal(answer.body, 'b.test')
  equal(answer.headers['x-own'], '2006')";
    assert_eq!(outcome(source, test, 0), "specs: a_spec.lua\nok      one\n1 passed, 0 failed\n");
}

#[test]
fn errors_in_specs_are_reported_with_their_line() {
    let source = "function envoy_on_request(h) end";
    for (test, why) in [
        ("it:send { boddy = 'x' }", "a_spec.lua:6: `boddy` is not allowed here; a request has: method path"),
        ("it:send { path = 'no path' }", "a_spec.lua:6: the request is invalid: "),
        ("it:send { headers = { a = 'b\\r\\nc' } }", "a_spec.lua:6: the header \"a\" contains a line break"),
        ("it:send { endpoint = { status = 99 } }", "a_spec.lua:6: a status must be 200 to 599"),
        ("it:send { endpoint = function() error('mine') end }", "a_spec.lua:6: mine"),
        (
            "it:send { endpoint = function() it:send {} end }",
            "a_spec.lua:6: another request is already in progress",
        ),
        ("filter { file = 'none.lua' }", "a_spec.lua:6: cannot read \""),
        ("filter { source = 'x(', allow = { 'os' } }", "a_spec.lua:6: script:1: "),
        (
            "filter { source = '', name = 'a' }",
            "a_spec.lua:6: `name` selects a filter of a library or module",
        ),
        ("filter { file = 'none.so' }", "a_spec.lua:6: cannot use the library \""),
        ("filter { file = 'none.wasm' }", "a_spec.lua:6: cannot use the module \""),
        ("filter { source = '', allow = { 'all' } }", "a_spec.lua:6: unknown `allow` entry \"all\""),
        ("while true do end", "it used more CPU time than a spec is allowed (2s)"),
    ] {
        let said = outcome(source, test, 1);
        assert!(said.contains(why), "{test}: {said}");
    }
    let place = ProjectFolder::new();
    place.write("a_spec.lua", "test('one', function()\n");
    let said = place.eddy(&["filter", "test"], ".").all(1);
    assert!(
        said.starts_with("specs: a_spec.lua\nBROKEN  a_spec.lua\n        a_spec.lua:2: 'end' expected"),
        "{said}"
    );
    place.write("a_spec.lua", "-- nothing");
    assert!(place.eddy(&["filter", "test"], ".").all(1).contains("there are no tests to run"));
    place.write("a_spec.lua", "test('one', function() end)");
    assert!(place.eddy(&["filter", "test", "--", "two"], ".").all(1).contains("there are no tests to run"));
}

//! Lua filters in the running gateway.

use std::time::Instant;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{TestGateway, sum_of_series};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place::TempDir;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::DEADLINE;
use rustix::process::Signal;

/// Returns the key `filters` with one Lua filter: this script, further keys of `lua`, and further keys of the filter.
fn lua(name: &str, script: &str, keys: &str, beside: &str) -> String {
    let mut text = format!("  {name}:\n    lua:\n      source: |\n");
    for line in script.lines() {
        text += &format!("        {line}\n");
    }
    for line in keys.lines() {
        text += &format!("      {line}\n");
    }
    for line in beside.lines() {
        text += &format!("    {line}\n");
    }
    text
}

/// Returns a site whose requests all pass one script.
fn site(script: &str) -> GatewayConfigBuilder {
    with_keys(script, "", "")
}

fn with_keys(script: &str, keys: &str, beside: &str) -> GatewayConfigBuilder {
    GatewayConfigBuilder::new()
        .top(&format!("filters:\n{}", lua("script", script, keys, beside)))
        .listener("filters: [script]")
}

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nx-one: 2\r\n\r\n")
}

fn post(body: &str) -> String {
    format!("POST /post HTTP/1.1\r\nHost: a.test\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

const CHUNKED: &str = "POST /chunks HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n\
                       3\r\nabc\r\n2\r\nde\r\n0\r\nx-sum: 5\r\n\r\n";

#[tokio::test]
async fn headers_are_read_and_changed_both_ways() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = site(
        "function envoy_on_request(handle)
           local h = handle:headers()
           h:add('x-seen', h:get('x-one') .. ' ' .. h:getAtIndex('x-one', 1) .. ' ' .. h:getNumValues('x-one'))
           h:remove('x-one')
           h:replace(':path', h:get(':path') .. '&c')
           h:replace(':authority', 'b.test')
           h:replace(':method', 'PUT')
           local names = {}
           for name, value in pairs(h) do names[#names + 1] = name end
           h:add('x-names', table.concat(names, ' '))
         end
         function envoy_on_response(handle)
           local h = handle:headers()
           h:add('x-was', h:get(':status'))
           h:replace(':status', '404')
           h:setHttp1ReasonPhrase('Nothing here')
           handle:logInfo('answered ' .. h:get('content-length'))
         end",
    )
    .before(&origin)
    .await?;
    let answer = gateway.exchange(&get("/a?b")).await?;
    ensure!(answer.status == 404 && answer.fields.text("x-was") == "200", "{answer:?}");
    ensure!(answer.body == b"PUT /a?b&c\n", "{answer:?}");
    let seen = origin.log().until_requests(1).await?;
    let fields = &seen[0].fields;
    ensure!(fields.text("host") == "b.test" && fields.count("x-one") == 0, "{seen:?}");
    // The host that the client named, whatever a filter makes of it.
    ensure!(fields.text("x-forwarded-host") == "a.test", "{seen:?}");
    ensure!(fields.text("x-seen") == "1,2 2 2", "{seen:?}");
    ensure!(fields.text("x-names") == ":authority :path :method :scheme host x-seen", "{seen:?}");
    gateway.lines().until("answered 11", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn bodies_are_collected_streamed_and_replaced() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = site(
        "function envoy_on_request(h)
           if h:headers():get(':path') == '/post' then
             local body = h:body()
             h:headers():add('x-size', body:length())
             body:setBytes(body:getBytes(0, 2) .. '!')
             return
           end
           local size = 0
           for chunk in h:bodyChunks() do
             size = size + chunk:length()
             chunk:setBytes(chunk:getBytes(0, chunk:length()):upper())
           end
           local trailers = h:trailers()
           h:logInfo('chunks of ' .. size .. ' ' .. tostring(trailers and trailers:get('x-sum')))
           if trailers then trailers:add('x-more', '1') end
         end
         function envoy_on_response(h)
           h:headers():add('x-empty', tostring(h:body(true):length() == 0))
         end",
    )
    .before(&origin)
    .await?;
    let answer = gateway.exchange(&post("hello")).await?;
    ensure!(answer.status == 200 && answer.body == b"POST /post\nhe!", "{answer:?}");
    let answer = gateway.exchange(CHUNKED).await?;
    ensure!(answer.body == b"POST /chunks\nABCDE" && answer.fields.text("x-empty") == "false", "{answer:?}");
    gateway.lines().until("chunks of 5 5", 1).await?;
    let seen = origin.log().until_requests(2).await?;
    ensure!(seen[0].fields.text("x-size") == "5", "{seen:?}");
    ensure!(seen[1].trailers.text("x-sum") == "5" && seen[1].trailers.text("x-more") == "1", "{seen:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_script_calls_another_cluster_before_it_admits_a_request() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let auth = TapOrigin::with(|asked| {
        let user = asked.request.fields.text("x-token");
        let (status, body) = if user == "good" { (200, "alice") } else { (403, "who?") };
        OriginScript::send(response(status, "X-Role: a\r\nX-Role: b\r\n", body))
    })
    .await?;
    let gateway = site(
        "function envoy_on_request(h)
           local token = h:headers():get('x-token')
           if not token then h:respond({[':status'] = '401', ['www-authenticate'] = 'Token'}, 'no token') end
           local headers, body = h:httpCall('auth', {[':method'] = 'POST', [':path'] = '/check',
             [':authority'] = 'auth.test', ['x-token'] = token}, 'question',
             {timeout_ms = 3000, return_duplicate_headers = true})
           if headers[':status'] ~= '200' then h:respond({[':status'] = headers[':status']}, body) end
           h:headers():add('x-user', body .. ' ' .. table.concat(headers['x-role'], '+'))
           h:httpCall('auth', {[':method'] = 'GET', [':path'] = '/audit', [':authority'] = 'auth.test'}, nil, 100, true)
           local size = h:body() and h:body():length() or 0
           h:headers():add('x-size', size)
         end",
    )
    .another_cluster("auth: {endpoints: [AUTH]}")
    .with("AUTH", auth.address())
    .before(&origin)
    .await?;
    let with = |token: &str| format!("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n{token}\r\nabc");
    let answer = gateway.exchange(with("")).await?;
    ensure!(answer.status == 401 && answer.body == b"no token", "{answer:?}");
    ensure!(answer.fields.text("www-authenticate") == "Token", "{answer:?}");
    let answer = gateway.exchange(with("x-token: bad\r\n")).await?;
    ensure!(answer.status == 403 && answer.body == b"who?", "{answer:?}");
    ensure!(origin.log().requests().is_empty());
    let answer = gateway.exchange(with("x-token: good\r\n")).await?;
    ensure!(answer.status == 200 && answer.body == b"POST /x\nabc", "{answer:?}");
    let seen = origin.log().until_requests(1).await?;
    ensure!(seen[0].fields.text("x-user") == "alice a+b" && seen[0].fields.text("x-size") == "3", "{seen:?}");
    let asked = auth.log().until_requests(3).await?;
    ensure!(asked[0].target == b"/check" && asked[0].body == b"question", "{asked:?}");
    ensure!(asked[2].target == b"/audit", "{asked:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_cluster_that_does_not_respond_is_a_script_error() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = site(
        "function envoy_on_request(h)
           local headers, body = h:httpCall('gone', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'x'}, nil, 1000)
           h:headers():add('x-got', headers[':status'] .. ' ' .. body)
         end",
    )
    .another_cluster("gone: {endpoints: [GONE]}")
    .with("GONE", eddy_e2e::place::closed_address())
    .before(&origin)
    .await?;
    ensure!(gateway.exchange(&get("/")).await?.status == 200);
    let seen = origin.log().until_requests(1).await?;
    ensure!(seen[0].fields.text("x-got") == "503 upstream failure", "{seen:?}");
    gateway.stop().await
}

#[tokio::test]
async fn asynchronous_calls_are_bounded_by_exchange_and_by_filter() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gate = Gate::default();
    let script = OriginScript::steps([
        ScriptStep::AwaitGate(gate.clone()),
        ScriptStep::Send(response(200, "", "noted")),
    ]);
    let audit = TapOrigin::with(move |_| script.clone()).await?;
    let gateway = with_keys(
        "function envoy_on_request(h)
           local head = {[':method'] = 'GET', [':path'] = '/audit', [':authority'] = 'audit'}
           local sent, why = 0, ''
           for i = 1, 1000 do
             local ok, err = pcall(function() h:httpCall('audit', head, nil, 60000, true) end)
             if ok then sent = sent + 1 else why = err end
           end
           h:headers():add('x-sent', sent)
           h:headers():add('x-why', why)
         end",
        "cpu: 2s",
        "calls_per_exchange: 3\nbackground_calls: 7",
    )
    .another_cluster("audit: {endpoints: [AUDIT]}")
    .with("AUDIT", audit.address())
    .before(&origin)
    .await?;
    for _ in 0..25 {
        ensure!(gateway.exchange(&get("/")).await?.status == 200);
    }
    let seen = origin.log().until_requests(25).await?;
    let sent: Vec<_> = seen.iter().map(|request| request.fields.text("x-sent")).collect();
    ensure!(sent[..4] == ["3", "3", "1", "0"] && sent[4..].iter().all(|sent| *sent == "0"), "{sent:?}");
    let why = seen[0].fields.text("x-why");
    ensure!(why.contains("http call refused") && why.contains("`calls_per_exchange`"), "{why}");
    ensure!(audit.log().until_requests(7).await?.len() == 7);
    let refused = "eddy_filter_calls_refused_total{filter=\"script\"}";
    gateway.until_metric(refused, f64::from(25 * 1000 - 7)).await?;
    gateway
        .lines()
        .until("a filter's call to a cluster is refused: its exchange has 3 calls in progress", 1)
        .await?;
    gateway.lines().until("it has 7 background calls in progress (`background_calls`)", 1).await?;
    // Once the calls are answered, new ones are allowed again.
    gate.open();
    let deadline = Instant::now() + DEADLINE;
    loop {
        ensure!(gateway.exchange(&get("/")).await?.status == 200);
        let last = origin.log().requests();
        if last.last().is_some_and(|request| request.fields.text("x-sent") == "3") {
            return gateway.stop().await;
        }
        ensure!(Instant::now() < deadline, "{last:?}");
        next_look().await;
    }
}

#[tokio::test]
async fn stream_info_metadata_and_contexts() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_keys(
        "function envoy_on_request(h)
           local s = h:streamInfo()
           local function mark(name, value) h:headers():add('x-' .. name, tostring(value)) end
           mark('protocol', s:protocol())
           mark('rule', s:routeName())
           mark('local', s:downstreamLocalAddress() == s:downstreamDirectLocalAddress())
           mark('remote', s:downstreamRemoteAddress() == s:downstreamDirectRemoteAddress() and s:downstreamRemoteAddress():match('^127%.'))
           mark('tls', tostring(s:downstreamSslConnection()) .. tostring(h:connection():ssl()) .. s:requestedServerName() .. s:virtualClusterName())
           mark('context', tostring(h:filterContext().role) .. tostring(h:metadata():get('role')) .. tostring(h:route():metadata():get('role')) .. tostring(h:virtualHost():metadata():get('x')))
           s:dynamicMetadata():set('lua', 'user', {name = 'alice'})
           s:filterState():set('seen', 'envoy.string', 'yes')
           mark('noted', s:dynamicMetadata():get('lua').user.name .. s:filterState():get('seen'))
           mark('base64', h:base64Escape('abc'))
           mark('time', h:timestamp() > 1e12 and #h:timestampString(EnvoyTimestampResolution.MICROSECOND))
           h:logTrace('trace') h:logDebug('debug') h:logWarn('a warning') h:logErr('an error') h:logCritical('critical') h:log(2, 'plain')
         end
         function envoy_on_response(h)
           local info = h:streamInfo():dynamicMetadata()
           h:headers():add('x-user', info:get('lua').user.name .. tostring(h:connectionStreamInfo():dynamicMetadata():get('none')))
           for name in pairs(info) do h:headers():add('x-space', name) end
         end",
        "",
        "config: {role: guest}",
    )
    .rule("{name: admin, match: {path: /admin}, cluster: origin, filters: {script: {config: {role: admin}}}}")
    .before(&origin)
    .await?;
    let answer = gateway.exchange(&get("/")).await?;
    ensure!(answer.fields.text("x-user") == "alicenil", "{answer:?}");
    let spaces: Vec<_> = answer.fields.all("x-space").collect();
    ensure!(spaces == [&b"lua"[..], b"filter_state"], "{answer:?}");
    gateway.exchange(&get("/admin")).await?;
    let seen = origin.log().until_requests(2).await?;
    let fields = &seen[0].fields;
    for (name, expected) in [
        ("protocol", "HTTP/1.1"),
        ("rule", "site/2"),
        ("local", "true"),
        ("remote", "127."),
        ("tls", "nilnil"),
        ("context", "guestguestguestnil"),
        ("noted", "aliceyes"),
        ("base64", "YWJj"),
        ("time", "16"),
    ] {
        ensure!(fields.text(&format!("x-{name}")) == expected, "{name}: {seen:?}");
    }
    ensure!(seen[1].fields.text("x-context") == "adminadminadminnil", "{seen:?}");
    ensure!(seen[1].fields.text("x-rule") == "admin", "{seen:?}");
    for record in ["a warning", "an error", "critical", "plain"] {
        gateway.lines().until(record, 2).await?;
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_script_selects_the_upstream() -> Result<()> {
    let (origin, other, third) =
        (TapOrigin::start().await?, TapOrigin::start().await?, TapOrigin::start().await?);
    let gateway = site(
        "function envoy_on_request(h)
           local where = h:headers():get('x-where')
           if where == 'rule' then
             h:headers():replace(':path', '/other') h:clearRouteCache()
           elseif where then
             h:setUpstreamOverrideHost(where, true)
           end
         end",
    )
    .rule("{match: {path: /other}, cluster: other}")
    .rule("{match: {path: /both}, cluster: both}")
    .another_cluster("other: {endpoints: [OTHER]}")
    .another_cluster("both: {endpoints: [OTHER, THIRD]}")
    .with("OTHER", other.address())
    .with("THIRD", third.address())
    .before(&origin)
    .await?;
    let to =
        |target: &str, r#where: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\nx-where: {where}\r\n\r\n");
    ensure!(gateway.exchange(to("/", "rule")).await?.body == b"GET /other\n");
    ensure!(other.log().requests().len() == 1 && origin.log().requests().is_empty());
    for _ in 0..3 {
        ensure!(gateway.exchange(to("/both", &third.address().to_string())).await?.status == 200);
    }
    ensure!(third.log().requests().len() == 3 && other.log().requests().len() == 1);
    ensure!(gateway.exchange(to("/both", "127.0.0.1:1")).await?.status == 503);
    gateway.stop().await
}

#[tokio::test]
async fn an_override_host_is_preferred_or_required() -> Result<()> {
    let (origin, other) = (TapOrigin::start().await?, TapOrigin::start().await?);
    let gateway = site(
        "function envoy_on_request(h)
           local get = h:headers()
           h:setUpstreamOverrideHost(get:get('x-host'), get:get('x-strict') == 'yes')
         end",
    )
    .rule("{match: {path: /both}, cluster: both}")
    .another_cluster("both: {endpoints: [ORIGIN, OTHER]}")
    .with("OTHER", other.address())
    .before(&origin)
    .await?;
    let to = |host: &str, strict: &str| {
        format!("GET /both HTTP/1.1\r\nHost: a\r\nx-host: {host}\r\nx-strict: {strict}\r\n\r\n")
    };
    let known = other.address().to_string();
    for strict in ["no", "yes"] {
        for _ in 0..3 {
            ensure!(gateway.exchange(to(&known, strict)).await?.status == 200);
        }
    }
    ensure!(other.log().requests().len() == 6 && origin.log().requests().is_empty());
    // An address that is no endpoint, and one without a port.
    for unknown in ["192.0.2.1:80", "127.0.0.1"] {
        ensure!(gateway.exchange(to(unknown, "no")).await?.status == 200, "{unknown}");
        ensure!(gateway.exchange(to(unknown, "yes")).await?.status == 503, "{unknown}");
    }
    ensure!(gateway.exchange(to("origin.test", "no")).await?.status == 500);
    gateway.lines().until("script:3: host is not a valid IP address", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn metrics_of_scripts_are_shown_and_survive_a_reload() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let folder = TempDir::new("lua")?;
    let write = |remark: &str| -> Result<()> {
        let script = format!(
            "function envoy_on_request(h) -- {remark}
               local stats = h:stats()
               stats:counter('requests.seen'):inc()
               stats:gauge('level'):set(7)
               stats:histogram('size', 'bytes'):recordValue(30)
             end"
        );
        std::fs::write(folder.join("next"), script)?;
        Ok(std::fs::rename(folder.join("next"), folder.join("count.lua"))?)
    };
    write("first")?;
    let gateway = GatewayConfigBuilder::new()
        .top("filters: {count: {lua: {file: FOLDER/count.lua}}}")
        .top("workers: 2")
        .listener("filters: [count]")
        .with("FOLDER", folder.path().display())
        .before(&origin)
        .await?;
    for round in 1..=2 {
        for _ in 0..10 {
            // Each request uses its own connection, which either worker may accept.
            ensure!(gateway.exchange(&get("/")).await?.status == 200);
        }
        let count = f64::from(10 * round);
        gateway.until_metric("eddy_filter_requests_seen{filter=\"count\"}", count).await?;
        gateway.until_metric("eddy_filter_size_count{filter=\"count\"}", count).await?;
        gateway.until_metric("eddy_filter_size_sum{filter=\"count\"}", 30.0 * count).await?;
        gateway.until_metric("eddy_filter_size_bucket{filter=\"count\",le=\"20\"}", 0.0).await?;
        gateway.until_metric("eddy_filter_level{filter=\"count\"}", 7.0).await?;
        if round == 1 {
            write("second")?;
            gateway.lines().until("configuration reloaded", 1).await?;
        }
    }
    gateway.stop().await
}

#[tokio::test]
async fn rules_select_scripts() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_keys(
        "function envoy_on_request(h) h:headers():add('x-script', 'own') end",
        "scripts: {strict: {source: \"function envoy_on_request(h) h:headers():add('x-script', 'strict ' .. tostring(h:filterContext().a)) end\"}}",
        "config: {a: 1}",
    )
    .rule("{match: {path: /strict}, cluster: origin, filters: {script: {lua: {script: strict}, config: {a: 2}}}}")
    .rule("{match: {path: /named}, cluster: origin, filters: {script: {lua: {script: strict}}}}")
    .rule("{match: {path: /inline}, cluster: origin, filters: {script: {lua: {source: \"function envoy_on_response(h) h:headers():add('x-inline', '1') end\"}}}}")
    .rule("{match: {path: /none}, cluster: origin, filters: {script: {disabled: true}}}")
    .before(&origin)
    .await?;
    for target in ["/", "/strict", "/named", "/inline", "/none"] {
        let answer = gateway.exchange(&get(target)).await?;
        ensure!((answer.fields.text("x-inline") == "1") == (target == "/inline"), "{answer:?}");
    }
    let seen = origin.log().until_requests(5).await?;
    let scripts: Vec<_> = seen.iter().map(|request| request.fields.text("x-script")).collect();
    ensure!(scripts == ["own", "strict 2", "strict 1", "", ""], "{scripts:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_script_failure_is_counted_and_logged_with_its_line() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let script = "function envoy_on_request(h)
  local what = h:headers():get('x-do')
  if what == 'loop' then while true do end end
  if what == 'eat' then local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end end
  if what == 'fail' then error('it broke') end
end";
    let filters = format!(
        "filters:\n{}{}",
        lua("script", script, "memory: 4MiB\ncpu: 20ms", ""),
        lua(
            "open",
            "function envoy_on_request(h) if h:headers():get('x-do') == 'open' then error('open') end end",
            "",
            "on_failure: open"
        )
    );
    let gateway =
        GatewayConfigBuilder::new().top(&filters).listener("filters: [script, open]").before(&origin).await?;
    let ask = |what: &str| format!("GET / HTTP/1.1\r\nHost: a\r\nx-do: {what}\r\n\r\n");
    for what in ["fail", "loop", "eat", "fail"] {
        ensure!(gateway.exchange(ask(what)).await?.status == 500, "{what}");
        ensure!(gateway.exchange(ask("nothing")).await?.status == 200, "{what}");
    }
    ensure!(gateway.exchange(ask("open")).await?.status == 200);
    let text = gateway.lines().text();
    ensure!(text.contains("script:5: it broke"), "{text}");
    // A failure of another kind in the same second does not hide which limit was exceeded.
    let told = [
        (" cause=cpu ", "it used more CPU time than `lua.cpu` allows (20ms)"),
        (
            " cause=memory ",
            "it needs more memory than `lua.memory` allows (4MiB, 256KiB of it for one value)",
        ),
    ];
    for (cause, why) in told {
        let line = text.lines().find(|line| line.contains(why));
        let is_whole = |line: &&str| line.contains(cause) && line.contains(" filter=script ");
        ensure!(line.is_some_and(|line| is_whole(&line)), "{text}");
    }
    let metrics = gateway.admin("/metrics").await?.text();
    ensure!(sum_of_series(&metrics, "eddy_filter_faults_total") >= 5.0, "{metrics}");
    gateway.stop().await
}

#[tokio::test]
async fn workers_count_together() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_keys(
        "local hits = eddy.shared('hits')
         function envoy_on_request(h)
           local count = hits:incr('all', 1, 0)
           if count > 10 then h:respond({[':status'] = '429'}, tostring(count)) end
           hits:set('last', h:headers():get(':path'), 60)
         end
         function envoy_on_response(h) h:headers():add('x-last', hits:get('last')) end",
        "shared: {entries: 10, bytes: 10KiB}",
        "",
    )
    .top("workers: 2")
    .before(&origin)
    .await?;
    let mut statuses = Vec::new();
    for _ in 0..20 {
        // Each request uses its own connection, which either worker may accept.
        let answer = gateway.exchange(&get("/a")).await?;
        ensure!(answer.fields.text("x-last") == "/a", "{answer:?}");
        statuses.push(answer.status);
    }
    ensure!(statuses[..10] == [200; 10] && statuses[10..] == [429; 10], "{statuses:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_changed_script_is_reloaded_automatically() -> Result<()> {
    let origin = TapOrigin::start().await?;
    // The directory holds no configuration: only the change of a script makes the gateway read it again.
    let folder = TempDir::new("lua")?;
    let script =
        |mark: &str| format!("function envoy_on_response(h)\n  h:headers():add('x-mark', '{mark}')\nend\n");
    // Atomically, as editors do.
    let write = |name: &str, text: &str| -> Result<()> {
        std::fs::write(folder.join("next"), text)?;
        Ok(std::fs::rename(folder.join("next"), folder.join(name))?)
    };
    write("mark.lua", &script("first"))?;
    write("rule.lua", &script("first of the rule"))?;
    let gateway = GatewayConfigBuilder::new()
        .top("filters: {mark: {lua: {file: FOLDER/mark.lua, scripts: {other: {file: FOLDER/rule.lua}}}}}")
        .listener("filters: [mark]")
        .rule("{match: {path: /rule}, cluster: origin, filters: {mark: {lua: {script: other}}}}")
        .with("FOLDER", folder.path().display())
        .before(&origin)
        .await?;
    let children = gateway.children()?;
    let mark = async |target: &str| anyhow::Ok(gateway.exchange(&get(target)).await?.fields.text("x-mark"));
    ensure!(mark("/").await? == "first" && mark("/rule").await? == "first of the rule");

    write("mark.lua", &script("second"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    ensure!(mark("/").await? == "second" && mark("/rule").await? == "first of the rule");
    write("rule.lua", &script("second of the rule"))?;
    gateway.lines().until("configuration reloaded", 2).await?;
    ensure!(mark("/").await? == "second" && mark("/rule").await? == "second of the rule");
    ensure!(gateway.children()? == children, "a script needs no new process");

    write("mark.lua", "function envoy_on_response(h)\n  h:headers(:add()\nend\n")?;
    gateway.lines().until("configuration rejected", 1).await?;
    ensure!(mark("/").await? == "second");
    let said = gateway.lines().text();
    ensure!(said.contains("unexpected symbol near ':'") && said.contains("line=2 path="), "{said}");
    ensure!(said.contains("mark.lua"), "{said}");
    // A corrected script is loaded, also on a signal.
    write("mark.lua", &script("third"))?;
    gateway.lines().until("configuration reloaded", 3).await?;
    ensure!(mark("/").await? == "third");
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration reloaded", 4).await?;
    ensure!(mark("/").await? == "third");
    gateway.stop().await
}

#[tokio::test]
async fn a_script_closes_the_connection_after_a_response() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        let field = if asked.request.target == b"/response" { "X-End: 1\r\n" } else { "" };
        OriginScript::send(response(200, field, "x"))
    })
    .await?;
    let gateway = site(
        "function envoy_on_request(h)
           local path = h:headers():get(':path')
           if path == '/request' or path == '/own' then h:streamInfo():drainConnectionUponCompletion() end
           if path == '/own' then h:respond({[':status'] = '403'}, 'no') end
         end
         function envoy_on_response(h)
           if h:headers():get('x-end') then h:headers():replace('connection', 'Close') end
         end",
    )
    .before(&origin)
    .await?;
    let mut client = gateway.client().await?;
    for target in ["/one", "/two"] {
        client.send(get(target)).await?;
        let answer = client.read_get_response().await?;
        ensure!(answer.status == 200 && answer.fields.count("connection") == 0, "{answer:?}");
    }
    for (target, status) in [("/request", 200), ("/response", 200), ("/own", 403)] {
        let mut client = gateway.client().await?;
        client.send(get(target)).await?;
        let answer = client.read_get_response().await?;
        ensure!(answer.status == status && answer.fields.text("connection") == "close", "{answer:?}");
        client.end().await?;
    }
    // The link to the endpoint is not closed with the client's connection.
    let seen = origin.log().requests();
    ensure!(seen.iter().all(|request| request.fields.text("connection") != "close"), "{seen:?}");
    gateway.stop().await
}

#[tokio::test]
async fn the_examples_work_as_documented() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        let text =
            if asked.request.target_text().ends_with("/none") { "nothing" } else { "colour and colour" };
        OriginScript::send(response(200, "Content-Type: text/plain\r\n", text))
    })
    .await?;
    let auth = TapOrigin::with(|asked| {
        let is_known = asked.request.fields.text("authorization") == "Token 1";
        OriginScript::send(if is_known {
            response(200, "X-User: alice\r\n", "")
        } else {
            response(403, "", "not you")
        })
    })
    .await?;
    let examples = eddy_e2e::place::tree().join("examples/filters");
    let text = std::fs::read_to_string(examples.join("lua.yaml"))?
        .replace("127.0.0.1:8080", "LISTEN")
        .replace("127.0.0.1:9001", &origin.address().to_string())
        .replace("127.0.0.1:9002", &auth.address().to_string())
        .replace("file: lua/", &format!("file: {}/lua/", examples.display()));
    let gateway = TestGateway::start(&format!("{text}admin: {{address: ADMIN}}\nworkers: 1\n"), &[]).await?;
    let with = |target: &str, field: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\n{field}\r\n");
    let right = "Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n";
    for target in ["/", "/quick/"] {
        for field in ["", "Authorization: Basic Zm9vbmFtZTp3cm9uZw==\r\n", "Authorization: Bearer x\r\n"] {
            let answer = gateway.exchange(with(target, field)).await?;
            ensure!(answer.status == 401 && answer.body == b"who are you?\n", "{answer:?}");
            ensure!(answer.fields.text("www-authenticate").starts_with("Basic realm="), "{answer:?}");
        }
        let answer = gateway.exchange(with(target, right)).await?;
        ensure!(answer.status == 200 && answer.body == b"color and color", "{answer:?}");
        ensure!(answer.fields.text("x-rewritten") == "2", "{answer:?}");
        let answer = gateway.exchange(with(&format!("{target}none"), right)).await?;
        ensure!(answer.body == b"nothing" && answer.fields.count("x-rewritten") == 0, "{answer:?}");
    }
    let answer = gateway.exchange(with("/asked/", "Authorization: Token 2\r\n")).await?;
    ensure!(answer.status == 403 && answer.body == b"not you", "{answer:?}");
    let answer = gateway.exchange(with("/asked/", "Authorization: Token 1\r\nX-User: root\r\n")).await?;
    ensure!(answer.status == 200, "{answer:?}");
    let seen = origin.log().until_requests(5).await?;
    let users: Vec<_> = seen.iter().map(|request| request.fields.text("x-user")).collect();
    ensure!(users == ["fooname", "fooname", "", "", "alice"], "{users:?}");
    ensure!(auth.log().requests()[0].fields.text("x-original-path") == "/asked/");
    gateway.stop().await
}

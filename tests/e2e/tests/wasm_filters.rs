//! Wasm filters in the running gateway.

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wasm;
use eddy_e2e::wire::{get, within};

const ISOLATIONS: [&str; 2] = ["worker", "stream"];

async fn before(
    origin: &TapOrigin,
    parts: &str,
    isolation: &str,
    keys: &str,
) -> Result<(TestGateway, TempDir)> {
    let (site, folder) = wasm::site(parts, &format!(", isolation: {isolation}"), keys)?;
    Ok((site.before(origin).await?, folder))
}

#[tokio::test]
async fn heads_are_read_and_changed() -> Result<()> {
    let parts = r#"
      (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
        (drop (call $get (i32.const 0) `x-in` (i32.const 0) (i32.const 4)))
        (drop (call $replace (i32.const 0) `x-out` (i32.load (i32.const 0)) (i32.load (i32.const 4))))
        (drop (call $add (i32.const 0) `x-two` `1`))
        (drop (call $add (i32.const 0) `x-two` `2`))
        (drop (call $get (i32.const 0) `x-two` (i32.const 0) (i32.const 4)))
        (drop (call $replace (i32.const 0) `x-joined` (i32.load (i32.const 0)) (i32.load (i32.const 4))))
        (drop (call $remove (i32.const 0) `x-gone`))
        (drop (call $replace (i32.const 0) `:path` `/other?q`))
        (drop (call $replace (i32.const 0) `:method` `PURGE`))
        (drop (call $replace (i32.const 0) `host` `b.test`))
        (if (call $remove (i32.const 0) `content-length`) (then (unreachable)))
        (if (call $replace (i32.const 0) `connection` `close`) (then (unreachable)))
        (i32.const 0))
      (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
        (drop (call $get (i32.const 2) `:status` (i32.const 0) (i32.const 4)))
        (drop (call $replace (i32.const 2) `x-was` (i32.load (i32.const 0)) (i32.load (i32.const 4))))
        (drop (call $replace (i32.const 2) `:status` `203`))
        (drop (call $remove (i32.const 2) `SERVER`))
        (i32.const 0))"#;
    for isolation in ISOLATIONS {
        let origin = TapOrigin::with(|_| OriginScript::send(response(200, "Server: o\r\n", "hello"))).await?;
        let (gateway, _folder) = before(&origin, parts, isolation, "").await?;
        for _ in 0..3 {
            let answer = gateway.exchange(&get("/", "X-In: seen\r\nX-Gone: 1\r\n")).await?;
            ensure!(answer.status == 203 && answer.text() == "hello", "{isolation}: {answer:?}");
            ensure!(answer.fields.text("x-was") == "200", "{answer:?}");
            ensure!(answer.fields.text("server").is_empty(), "{answer:?}");
        }
        for request in origin.log().until_requests(3).await? {
            ensure!(
                request.method == b"PURGE".as_slice() && request.target_text() == "/other?q",
                "{request:?}"
            );
            ensure!(request.fields.text("host") == "b.test", "{request:?}");
            ensure!(request.fields.text("x-out") == "seen" && request.fields.text("x-joined") == "1,2");
            ensure!(request.fields.count("x-two") == 2 && request.fields.count("x-gone") == 0, "{request:?}");
        }
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_module_sends_a_local_reply() -> Result<()> {
    let fields = wasm::pairs(&[("x-why", "because"), ("content-length", "3")]);
    let parts = format!(
        r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
             (drop (call $reply (i32.const 418) `tea` `no coffee` `{fields}` (i32.const -1)))
             (i32.const 1))
           (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
             (drop (call $replace (i32.const 2) `x-local` `1`))
             (i32.const 0))"#
    );
    for isolation in ISOLATIONS {
        let origin = TapOrigin::start().await?;
        let (gateway, _folder) = before(&origin, &parts, isolation, "").await?;
        let answer = gateway.exchange(&get("/", "")).await?;
        ensure!(answer.status == 418 && answer.text() == "no coffee", "{isolation}: {answer:?}");
        ensure!(
            answer.fields.text("x-why") == "because" && answer.fields.text("x-local") == "1",
            "{answer:?}"
        );
        ensure!(answer.fields.text("content-length") == "9", "{answer:?}");
        ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_rust_examples_work_as_documented() -> Result<()> {
    let Some(modules) = wasm::examples()? else { return Ok(()) };
    let origin = TapOrigin::with(|asked| {
        let target = asked.request.target_text();
        match target.as_str() {
            "/may/yes" => OriginScript::send(response(200, "X-User: alice\r\n", "")),
            "/may/no" => OriginScript::send(response(403, "", "not you")),
            // The replaced text spans two chunks.
            _ => OriginScript::send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n\
                 8\r\nit is ba\r\nb\r\nd, very bad\r\n0\r\n\r\n",
            ),
        }
    })
    .await?;
    let module = |name: &str| modules.join(name).display().to_string();
    let filters = format!(
        "filters: {{login: {{wasm: {{module: '{}'}}, config: {{username: fooname, password: validpassword}}}}, \
         rewrite: {{wasm: {{module: '{}'}}, config: {{from: bad, to: good}}}}, \
         ask: {{wasm: {{module: '{}'}}, config: {{cluster: origin, path: /may}}}}}}",
        module("basic_auth.wasm"),
        module("body_rewrite.wasm"),
        module("external_auth.wasm")
    );
    let gateway = GatewayConfigBuilder::new()
        .top(&filters)
        .listener("filters: [login, rewrite, ask]")
        .rule("{match: {path: /open/}, cluster: origin, filters: {login: {disabled: true}, ask: {disabled: true}}}")
        .before(&origin)
        .await?;
    let refused = gateway.exchange(&get("/yes", "")).await?;
    ensure!(refused.status == 401, "{refused:?}");
    ensure!(refused.fields.text("www-authenticate").starts_with("Basic realm=\"restricted\""), "{refused:?}");
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());

    let login = "Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n";
    let welcome = gateway.exchange(&get("/yes", login)).await?;
    ensure!(welcome.status == 200 && welcome.text() == "it is good, very good", "{welcome:?}");
    let requests = origin.log().until_requests(2).await?;
    ensure!(requests[0].target_text() == "/may/yes" && requests[0].fields.text("x-original-method") == "GET");
    ensure!(
        requests[1].target_text() == "/yes" && requests[1].fields.text("x-user") == "alice",
        "{requests:?}"
    );

    let forbidden = gateway.exchange(&get("/no", login)).await?;
    ensure!(forbidden.status == 403 && forbidden.text() == "not you", "{forbidden:?}");
    let open = gateway.exchange(&get("/open/", "")).await?;
    ensure!(open.status == 200 && open.text() == "it is good, very good", "{open:?}");
    gateway.stop().await
}

#[tokio::test]
async fn the_c_examples_work_as_documented() -> Result<()> {
    let folder = TempDir::new("wasm-c")?;
    let Some(modules) = wasm::examples_in_c(&folder)? else { return Ok(()) };
    let long = "a colour, ".repeat(30_000);
    let body = long.clone();
    let origin = TapOrigin::with(move |asked| {
        OriginScript::send(match asked.request.target_text().as_str() {
            "/long" => response(200, "Content-Type: text/plain\r\n", &body),
            "/image" => response(200, "Content-Type: image/x\r\n", "colour"),
            // The replaced text spans two chunks.
            _ => "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n\
                  5\r\na col\r\n9\r\nour, cold\r\n0\r\n\r\n"
                .into(),
        })
    })
    .await?;
    let text = std::fs::read_to_string(place::tree().join("examples/filters/wasm-c/eddy.yaml"))?
        .replace("127.0.0.1:8080", "LISTEN")
        .replace("127.0.0.1:9001", "ORIGIN")
        .replace("module: build/", &format!("module: {}/", modules.display()))
        .replace("http://internal.example=https://example.com", "colour=color");
    let text = format!("{text}admin: {{address: ADMIN}}\nworkers: 1\n");
    let gateway = TestGateway::start(&text, &[("ORIGIN", &origin.address())]).await?;
    for credentials in
        ["", "Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jl\r\n", "Authorization: Basic\r\n"]
    {
        let refused = gateway.exchange(&get("/", credentials)).await?;
        ensure!(refused.status == 401, "{refused:?}");
        ensure!(refused.fields.text("www-authenticate") == "Basic realm=\"restricted\"", "{refused:?}");
    }
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    let login = "Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n";
    let rewritten = long.replace("colour", "color");
    for (target, expected) in [("/", "a color, cold"), ("/long", &*rewritten), ("/image", "colour")] {
        for _ in 0..3 {
            let answer = gateway.exchange(&get(target, login)).await?;
            ensure!(answer.status == 200 && answer.text() == expected, "{target}: {:?}", answer.fields);
        }
    }
    let requests = origin.log().requests();
    ensure!(requests.len() == 9 && requests.iter().all(|request| request.fields.text("x-user") == "fooname"));
    // The module reports an invalid configuration.
    for (of, config, expected) in
        [("basic_auth", "nobody", "a user name, a colon"), ("body_rewrite", "=x", "what is looked for")]
    {
        let module = modules.join(format!("{of}.wasm"));
        let config = format!(
            "listeners: [{{address: '127.0.0.1:0', demo: true, filters: [f]}}]\nfilters: {{f: {{wasm: {{module: '{}'}}, config: '{config}'}}}}\n",
            module.display()
        );
        std::fs::write(folder.join("eddy.yaml"), config)?;
        let checked = std::process::Command::new(place::eddy_binary()?)
            .arg("check")
            .arg(folder.join("eddy.yaml"))
            .output()?;
        let said =
            String::from_utf8_lossy(&checked.stderr).into_owned() + &String::from_utf8_lossy(&checked.stdout);
        ensure!(!checked.status.success() && said.contains(expected), "{said}");
    }
    gateway.stop().await
}

/// Returns a module that calls the cluster `asked` for `/a` or `/b`, as the request demands, and forwards its
/// answer to the endpoint in a header.
fn asking() -> String {
    let call = |path: &str| {
        let fields = wasm::pairs(&[(":method", "GET"), (":path", path), (":authority", "x")]);
        format!("(drop (call $call `asked` `{fields}` `` `` (i32.const 9000) (i32.const 8)))")
    };
    format!(
        r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (if (i32.eqz (call $get (i32.const 0) `x-ask-a` (i32.const 0) (i32.const 4)))
            (then {} (return (i32.const 1))))
          (if (i32.eqz (call $get (i32.const 0) `x-ask-b` (i32.const 0) (i32.const 4)))
            (then {} (return (i32.const 1))))
          (i32.const 0))
        (func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
          (drop (call $get (i32.const 6) `x-for` (i32.const 0) (i32.const 4)))
          (drop (call $effective (i32.const 2)))
          (drop (call $replace (i32.const 0) `x-answer` (i32.load (i32.const 0)) (i32.load (i32.const 4))))
          (drop (call $continue (i32.const 0))))
        (func (export "proxy_on_log") (param i32))"#,
        call("/a"),
        call("/b")
    )
}

#[tokio::test]
async fn a_late_call_response_reaches_no_other_exchange() -> Result<()> {
    let [late, has_come, other] = [Gate::default(), Gate::default(), Gate::default()];
    let gates = [late.clone(), has_come.clone(), other.clone()];
    let asked = TapOrigin::with(move |asked| {
        let [late, has_come, other] = gates.clone();
        if asked.request.target_text() == "/a" {
            let steps = [
                ScriptStep::AwaitGate(late),
                ScriptStep::Send(response(200, "X-For: a\r\n", "")),
                ScriptStep::Open(has_come),
            ];
            return OriginScript::steps(steps);
        }
        OriginScript::steps([
            ScriptStep::AwaitGate(other),
            ScriptStep::Send(response(200, "X-For: b\r\n", "")),
        ])
    })
    .await?;
    let origin = TapOrigin::start().await?;
    let (site, _folder) = wasm::site(&asking(), ", isolation: stream", "")?;
    let site = site.another_cluster("asked: {endpoints: [ASKED]}").with("ASKED", asked.address());
    let gateway = site.before(&origin).await?;
    let mut gone = gateway.client().await?;
    gone.send(get("/gone", "X-Ask-A: 1\r\n")).await?;
    asked.log().until_requests(1).await?;
    gone.reset();
    gateway.until_metric("eddy_filter_paused", 0.0).await?;
    // The new owner of its slot waits for a response, too.
    let mut client = gateway.client().await?;
    client.send(get("/stays", "X-Ask-B: 1\r\n")).await?;
    asked.log().until_requests(2).await?;
    late.open();
    within("the late answer", has_come.opened()).await?;
    for _ in 0..3 {
        ensure!(gateway.exchange(&get("/meanwhile", "")).await?.status == 200);
    }
    other.open();
    ensure!(client.read_get_response().await?.status == 200);
    let requests = origin.log().requests();
    let stayed = requests.iter().find(|request| request.target_text() == "/stays");
    ensure!(stayed.is_some_and(|request| request.fields.text("x-answer") == "b"), "{requests:?}");
    gateway.stop().await
}

/// Adds its filter's configuration to the header `x-by` of requests and responses, and logs it when the filter or an
/// exchange ends.
const SIGNING: &str = r#"
    (func (export "proxy_on_context_create") (param i32 i32)
      (i32.store (i32.add (i32.const 2048) (i32.mul (local.get 0) (i32.const 4))) (local.get 1)))
    (func (export "proxy_on_configure") (param i32 i32) (result i32)
      (drop (call $body (i32.const 7) (i32.const 0) (i32.const 99) (i32.const 0) (i32.const 4)))
      (i32.store8 (i32.add (i32.const 4096) (local.get 0)) (i32.load8_u (i32.load (i32.const 0))))
      (i32.const 1))
    (func $own (param i32) (result i32)
      (i32.add (i32.const 4096) (i32.load (i32.add (i32.const 2048) (i32.mul (local.get 0) (i32.const 4))))))
    (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
      (drop (call $add (i32.const 0) `x-by` (call $own (local.get 0)) (i32.const 1)))
      (i32.const 0))
    (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
      (drop (call $add (i32.const 2) `x-by` (call $own (local.get 0)) (i32.const 1)))
      (i32.const 0))
    (func (export "proxy_on_done") (param i32) (result i32)
      (if (i32.eqz (i32.load (i32.add (i32.const 2048) (i32.mul (local.get 0) (i32.const 4)))))
        (then (drop (call $log (i32.const 2) `a plugin is done`)))
        (else (drop (call $log (i32.const 2) `a stream is done`))))
      (i32.const 1))
    (func (export "proxy_on_delete") (param i32)
      (if (i32.eqz (i32.load (i32.add (i32.const 2048) (i32.mul (local.get 0) (i32.const 4)))))
        (then (drop (call $log (i32.const 2) `a plugin is gone`)))))"#;

#[tokio::test]
async fn filters_of_one_module_coexist_and_get_their_end_callbacks() -> Result<()> {
    for isolation in ISOLATIONS {
        let folder = TempDir::new("wasm")?;
        let path = folder.join("f.wasm");
        std::fs::write(&path, wasm::module(SIGNING)?)?;
        let filter = |name: &str| {
            format!(
                "{name}: {{wasm: {{module: '{}', isolation: {isolation}}}, config: {name}}}",
                path.display()
            )
        };
        let filters = format!("filters: {{{}, {}, {}}}", filter("a"), filter("b"), filter("c"));
        let origin = TapOrigin::start().await?;
        let gateway = GatewayConfigBuilder::new()
            .top(&filters)
            .top("log: {level: info}")
            .listener("filters: [a, b, c]")
            .rule("{match: {path: /less}, cluster: origin, filters: {b: {disabled: true}, c: {config: d}}}")
            .before(&origin)
            .await?;
        for (target, forth, back) in
            [("/", "a,b,c", "c,b,a"), ("/less", "a,d", "d,a"), ("/", "a,b,c", "c,b,a")]
        {
            let answer = gateway.exchange(&get(target, "")).await?;
            let by = |fields: &eddy_e2e::wire::WireFields| {
                fields.all("x-by").map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
            };
            ensure!(by(&answer.fields) == back, "{isolation}, {target}: {:?}", answer.fields);
            let seen = origin.log().requests();
            let asked = seen.last().map(|request| by(&request.fields));
            ensure!(asked.as_deref() == Some(forth), "{isolation}, {target}: {asked:?}");
        }
        gateway.lines().until("a stream is done", 8).await?;
        if isolation == "stream" {
            gateway.lines().until("a plugin is done", 8).await?;
            gateway.lines().until("a plugin is gone", 8).await?;
        } else {
            ensure!(gateway.lines().count("a plugin is done") == 0, "{}", gateway.lines().text());
            // A replaced module: the worker's instance and the one in reserve, with four plugins each.
            std::fs::write(folder.join("next"), wasm::module(&format!("{SIGNING} (func)"))?)?;
            std::fs::rename(folder.join("next"), &path)?;
            gateway.lines().until("configuration reloaded", 1).await?;
            gateway.lines().until("a plugin is gone", 8).await.context(isolation)?;
        }
        let before = gateway.lines().count("a plugin is gone");
        ensure!(gateway.exchange(&get("/", "")).await?.status == 200);
        let lines = gateway.lines().clone();
        gateway.stop().await?;
        let ended = if isolation == "stream" { 3 } else { 8 };
        lines.until("a plugin is gone", before + ended).await.context(isolation)?;
    }
    Ok(())
}

/// Returns a module that marks responses with this text, and pauses in the request head until a tick when the request
/// demands it.
fn marking(mark: &str) -> String {
    format!(
        r#"(global $waiting (mut i32) (i32.const 0))
        (global $ticks (mut i32) (i32.const 0))
        (func (export "proxy_on_configure") (param i32 i32) (result i32)
          (drop (call $tick (i32.const 700))) (i32.const 1))
        (func (export "proxy_on_tick") (param i32)
          (global.set $ticks (i32.add (global.get $ticks) (i32.const 1)))
          (if (i32.and (i32.ne (global.get $waiting) (i32.const 0)) (i32.ge_u (global.get $ticks) (i32.const 3))) (then
            (drop (call $effective (global.get $waiting)))
            (drop (call $replace (i32.const 0) `x-late` `{mark}`))
            (drop (call $continue (i32.const 0)))
            (global.set $waiting (i32.const 0)))))
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (if (i32.eqz (call $get (i32.const 0) `x-wait` (i32.const 0) (i32.const 4)))
            (then (global.set $waiting (local.get 0)) (return (i32.const 1))))
          (i32.const 0))
        (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
          (drop (call $replace (i32.const 2) `x-mark` `{mark}`))
          (i32.const 0))"#
    )
}

#[tokio::test]
async fn a_tick_resumes_waiting_exchanges_and_a_changed_module_is_loaded() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let (gateway, folder) = before(&origin, &marking("old"), "worker", "").await?;
    let mark = async || anyhow::Ok(gateway.exchange(&get("/", "")).await?.fields.text("x-mark"));
    ensure!(mark().await? == "old");
    let mut waiting = gateway.client().await?;
    waiting.send(get("/waits", "X-Wait: 1\r\n")).await?;
    // The file is replaced atomically, without a signal.
    std::fs::write(folder.join("next"), wasm::module(&marking("new"))?)?;
    std::fs::rename(folder.join("next"), folder.join("f.wasm"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    ensure!(mark().await? == "new");
    let late = waiting.read_get_response().await?;
    ensure!(late.status == 200 && late.fields.text("x-mark") == "old", "{late:?}");
    let requests = origin.log().requests();
    let waited = requests.iter().find(|request| request.target_text() == "/waits");
    ensure!(waited.is_some_and(|request| request.fields.text("x-late") == "old"), "{requests:?}");
    // A file that is not a module changes nothing.
    std::fs::write(folder.join("next"), "no module")?;
    std::fs::rename(folder.join("next"), folder.join("f.wasm"))?;
    gateway.lines().until("configuration rejected", 1).await?;
    ensure!(mark().await? == "new");
    gateway.stop().await
}

#[tokio::test]
async fn an_unusable_module_is_a_configuration_problem() -> Result<()> {
    let refuses = r#"(func (export "proxy_on_configure") (param i32 i32) (result i32)
        (drop (call $log (i32.const 4) `no user is given`)) (i32.const 0))"#;
    let cases = [
        (wasm::module(r#"(func (export "proxy_on_tick") (param i64))"#)?, "`proxy_on_tick` as (i64)"),
        (wat::parse_str("(module)")?, "was not built for Proxy-Wasm"),
        (
            wat::parse_str(
                r#"(module (import "env" "odd" (func)) (func (export "proxy_abi_version_0_2_1")))"#,
            )?,
            "`env.odd`",
        ),
        (wasm::module(refuses)?, "it refuses its configuration; it logged: no user is given"),
        (
            wasm::module(
                r#"(func (export "proxy_on_vm_start") (param i32 i32) (result i32) (unreachable))"#,
            )?,
            "unreachable",
        ),
        (b"not one".to_vec(), "not a WebAssembly module"),
    ];
    for (module, expected) in cases {
        let folder = TempDir::new("wasm")?;
        std::fs::write(folder.join("f.wasm"), module)?;
        let config = "listeners:\n  - {address: '127.0.0.1:8080', routes: site, filters: [f]}\nfilters:\n  f:\n    wasm: {module: f.wasm}\nroutes: {site: [{respond: {status: 200}}]}\n";
        std::fs::write(folder.join("eddy.yaml"), config)?;
        let binary = place::eddy_binary()?;
        let output =
            tokio::process::Command::new(binary).arg("check").arg(folder.join("eddy.yaml")).output().await?;
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        ensure!(!output.status.success() && said.contains(expected), "{expected}: {said}");
        ensure!(said.contains("eddy.yaml:4:3") && said.contains("filter \"f\""), "{said}");
    }
    Ok(())
}

/// Changes of a module to response bodies, and where it declares that their length may change.
const LENGTHS: [(&str, &str, &str); 4] = [
    (
        "looks",
        "",
        "(drop (call $body (i32.const 1) (i32.const 0) (local.get 1) (i32.const 0) (i32.const 4)))",
    ),
    (
        "same",
        "",
        "(if (local.get 1) (then (drop (call $set_body (i32.const 1) (i32.const 0) (i32.const 1) `H`))))",
    ),
    ("free", "(drop (call $remove (i32.const 2) `content-length`))", APPEND),
    ("free, by another length", "(drop (call $replace (i32.const 2) `content-length` `1000`))", APPEND),
];

/// Appends to the last chunk.
const APPEND: &str =
    "(if (local.get 2) (then (drop (call $set_body (i32.const 1) (local.get 1) (i32.const 0) ` more`))))";

/// Returns a module with this code for response heads and bodies, and this return value for the head.
fn of_lengths(head: &str, body: &str, answer: u8) -> String {
    format!(
        r#"(func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32) {head} (i32.const {answer}))
           (func (export "proxy_on_response_body") (param i32 i32 i32) (result i32) {body} (i32.const 0))"#
    )
}

/// Starts an origin whose body is `hello` or, under `/large`, more than eddy reads at once.
async fn sized() -> Result<(TapOrigin, String)> {
    let large = "hello".repeat(40_000);
    let body = large.clone();
    let origin = TapOrigin::with(move |asked| {
        let is_large = asked.request.target_text() == "/large";
        OriginScript::send(response(200, "", if is_large { &body } else { "hello" }))
    })
    .await?;
    Ok((origin, large))
}

#[tokio::test]
async fn a_body_that_a_module_only_reads_keeps_its_length() -> Result<()> {
    for (name, head, body) in LENGTHS {
        let (origin, large) = sized().await?;
        let (gateway, _folder) = before(&origin, &of_lengths(head, body, 0), "worker", "").await?;
        for (target, sent) in [("/", "hello"), ("/large", &*large)] {
            let answer = gateway.exchange(&get(target, "")).await?;
            let length = answer.fields.text("content-length");
            if head.is_empty() {
                ensure!(length == sent.len().to_string(), "{name}: {:?}", answer.fields);
                ensure!(answer.text().len() == sent.len(), "{name}: {} bytes", answer.text().len());
                ensure!(answer.text().starts_with('H') == (name == "same"), "{name}");
                ensure!(name == "same" || answer.text() == sent, "{name}");
            } else {
                ensure!(length.is_empty(), "{name}: {:?}", answer.fields);
                ensure!(answer.fields.text("transfer-encoding") == "chunked", "{name}: {:?}", answer.fields);
                ensure!(answer.text() == format!("{sent} more"), "{name}: {} bytes", answer.text().len());
            }
        }
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_body_that_a_module_buffers_can_change_its_length() -> Result<()> {
    let (origin, large) = sized().await?;
    let parts =
        of_lengths("", "(drop (call $set_body (i32.const 1) (i32.const 0) (local.get 1) `other`))", 1);
    let (gateway, _folder) = before(&origin, &parts, "worker", "").await?;
    for target in ["/", "/large"] {
        let answer = gateway.exchange(&get(target, "")).await?;
        ensure!(answer.fields.text("content-length") == "5" && answer.text() == "other", "{answer:?}");
    }
    ensure!(large.len() > 5);
    gateway.stop().await
}

#[tokio::test]
async fn a_length_that_changes_after_its_head_is_a_filter_fault() -> Result<()> {
    let shorter = "(drop (call $set_body (i32.const 1) (i32.const 0) (i32.const 1) ``))";
    for (told, body, keys) in [
        ("it made the body longer", APPEND, ""),
        ("it made the body shorter", shorter, ""),
        ("it made the body shorter", shorter, ", on_failure: open"),
    ] {
        let (origin, large) = sized().await?;
        let (gateway, _folder) = before(&origin, &of_lengths("", body, 0), "worker", keys).await?;
        // Nothing has been sent yet, so the client gets an error status.
        let answer = gateway.exchange(&get("/", "")).await?;
        ensure!(answer.status == 500, "{told}: {answer:?}");
        // The head has been sent: the rest is cut, and never exceeds the announced length.
        let mut client = gateway.client().await?;
        client.send(get("/large", "")).await?;
        let (_, bytes) = client.end().await?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_default();
        ensure!(head.contains(&format!("Content-Length: {}", large.len())), "{told}: {head}");
        ensure!(rest.len() < large.len() && !rest.contains("more"), "{told}: {} bytes", rest.len());
        gateway.until_metric("eddy_filter_faults_total{filter=\"f\",kind=\"edit\"", 2.0).await?;
        gateway.lines().until(told, 1).await?;
        gateway.stop().await?;
    }
    Ok(())
}

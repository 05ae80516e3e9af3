//! The example filters of proxy-wasm's SDKs for Go and Rust, unchanged, in the running gateway.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::others::{BUILD_TIME_MAX, go_sdk_examples, rust_sdk_examples};
use eddy_e2e::place::build_folder;
use eddy_e2e::site::GatewayConfigBuilder;

/// A filter: its name, which is also its path; its module; more keys of the module; its configuration.
type SdkExampleFilter = (&'static str, &'static str, &'static str, &'static str);

/// Returns a folder that is the same in each run, so that compilers can reuse their build results.
fn folder(name: &str) -> Result<PathBuf> {
    Ok(build_folder(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"))?.join(name))
}

/// Returns a site with each filter only in the rule of its name, `/NAME`.
fn site(modules: &Path, filters: &[SdkExampleFilter]) -> GatewayConfigBuilder {
    let mut definitions = Vec::new();
    let mut site = GatewayConfigBuilder::new();
    for (name, module, keys, config) in filters {
        let module = modules.join(format!("{module}.wasm"));
        definitions.push(format!(
            "{name}: {{wasm: {{module: '{}', cpu: 1s{keys}}}, config: {config}}}",
            module.display()
        ));
        let others: Vec<_> = filters.iter().map(|(other, ..)| other).filter(|other| *other != name).collect();
        let disabled: Vec<_> = others.iter().map(|other| format!("{other}: {{disabled: true}}")).collect();
        let disabled = disabled.join(", ");
        site = site.rule(&format!("{{match: {{path: /{name}}}, cluster: origin, filters: {{{disabled}}}}}"));
    }
    let names: Vec<_> = filters.iter().map(|(name, ..)| *name).collect();
    site.top(&format!("filters: {{{}}}", definitions.join(", ")))
        .listener(&format!("filters: [{}]", names.join(", ")))
        .without_default_rule()
        .another_cluster("httpbin: {endpoints: [ORIGIN]}")
}

async fn start(site: GatewayConfigBuilder, origin: &TapOrigin) -> Result<TestGateway> {
    // Modules are compiled at the first start.
    let arguments = ["--handover-timeout", "600s"].map(Into::into).into();
    site.launch(origin, Launch { arguments, ready_within: Some(BUILD_TIME_MAX), ..Launch::default() }).await
}

fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n")
}

fn post(target: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {target} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {length}\r\n{fields}\r\n{body}")
}

const RUST_FILTERS: [SdkExampleFilter; 5] = [
    ("hello", "http_headers", "", "''"),
    ("body", "http_body", "", "''"),
    ("config", "http_config", "", "'from the configuration'"),
    ("random", "http_auth_random", "", "''"),
    ("world", "hello_world", "", "''"),
];

#[tokio::test]
async fn examples_of_the_rust_sdk_work_as_documented() -> Result<()> {
    for (version, contract) in [("0.1.4", "proxy_abi_version_0_1_0"), ("0.2.0", "proxy_abi_version_0_2_1")] {
        let Some(modules) = rust_sdk_examples(&folder("proxy-wasm-rust")?, version)? else { return Ok(()) };
        let module = std::fs::read(modules.join("http_headers.wasm"))?;
        let is_said = module.windows(contract.len()).any(|bytes| bytes == contract.as_bytes());
        ensure!(is_said, "modules of the SDK {version} are not by {contract}");
        rust_examples(&modules).await.with_context(|| format!("version {version}"))?;
    }
    Ok(())
}

async fn rust_examples(modules: &Path) -> Result<()> {
    let refuses = Arc::new(AtomicBool::new(false));
    let is_no = Arc::clone(&refuses);
    let origin = TapOrigin::with(move |asked| {
        OriginScript::send(match asked.request.target_text().as_str() {
            // An even number means yes, an odd one no.
            "/bytes/1" => response(200, "", [u8::from(is_no.load(Ordering::Relaxed))]),
            "/body" if asked.request.fields.count("x-plain") == 0 => {
                response(200, "", "a secret of 24 bytes yes")
            }
            _ => response(200, "", "hello"),
        })
    })
    .await?;
    let gateway = start(site(modules, &RUST_FILTERS).top("log: {level: trace}"), &origin).await?;

    let answer = gateway.exchange(&get("/hello", "X-In: seen\r\n")).await?;
    ensure!(answer.status == 200 && answer.text() == "Hello, World!\n", "{answer:?}");
    ensure!(answer.fields.text("hello") == "World" && answer.fields.text("powered-by") == "proxy-wasm");
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    gateway.lines().until("-> x-in: seen", 1).await?;
    gateway.lines().until("<- hello: World", 1).await?;
    gateway.lines().until(" completed.", 1).await?;

    let answer = gateway.exchange(&get("/body", "")).await?;
    ensure!(answer.text() == "Original message body (24 bytes) redacted.", "{answer:?}");
    let answer = gateway.exchange(&get("/body", "X-Plain: 1\r\n")).await?;
    ensure!(answer.text() == "hello", "{answer:?}");

    let answer = gateway.exchange(&get("/config", "")).await?;
    ensure!(answer.fields.text("custom-header") == "from the configuration", "{answer:?}");

    for _ in 0..2 {
        let granted = gateway.exchange(&get("/random", "")).await?;
        ensure!(granted.status == 200 && granted.text() == "hello", "{granted:?}");
        ensure!(granted.fields.text("powered-by") == "proxy-wasm", "{granted:?}");
        refuses.store(true, Ordering::Relaxed);
        let refused = gateway.exchange(&get("/random", "")).await?;
        refuses.store(false, Ordering::Relaxed);
        ensure!(refused.status == 403 && refused.text() == "Access forbidden.\n", "{refused:?}");
    }
    gateway.lines().until("Hello, World!", 1).await?;
    gateway.lines().until("your lucky number is ", 1).await?;
    gateway.stop().await
}

const GO_EXAMPLES: [&str; 13] = [
    "dispatch_call_on_tick",
    "foreign_call_on_tick",
    "helloworld",
    "http_auth_random",
    "http_body",
    "http_headers",
    "http_routing",
    "metrics",
    "postpone_requests",
    "shared_data",
    "shared_queue/receiver",
    "shared_queue/sender",
    "vm_plugin_configuration",
];

const GO_FILTERS: [SdkExampleFilter; 15] = [
    ("dispatch", "dispatch_call_on_tick", "", "''"),
    ("foreign", "foreign_call_on_tick", "", "''"),
    ("hello", "helloworld", "", "''"),
    ("random", "http_auth_random", "", "''"),
    ("body", "http_body", "", "''"),
    ("echo", "http_body", "", "echo"),
    ("headers", "http_headers", "", "''"),
    ("routing", "http_routing", "", "''"),
    ("metrics", "metrics", "", "''"),
    ("postpone", "postpone_requests", "", "''"),
    ("data", "shared_data", "", "''"),
    ("requests", "shared_queue_receiver", ", vm_id: receiver", "http_request_headers"),
    ("responses", "shared_queue_receiver", ", vm_id: receiver", "http_response_headers"),
    ("sender", "shared_queue_sender", ", vm_id: sender", "http"),
    ("told", "vm_plugin_configuration", ", vm_config: {a: 1}", "{b: 2}"),
];

#[tokio::test]
async fn examples_of_the_go_sdk_work_as_documented() -> Result<()> {
    let Some(modules) = go_sdk_examples(&folder("proxy-wasm-go")?, &GO_EXAMPLES)? else { return Ok(()) };
    let origin = TapOrigin::with(|asked| {
        let text = if asked.request.fields.count("x-odd") == 0 { "a" } else { "b" };
        OriginScript::send(response(200, "X-From: origin\r\n", text))
    })
    .await?;
    let site = site(&modules, &GO_FILTERS).another_cluster("web_service: {endpoints: [ORIGIN]}");
    let gateway = start(site, &origin).await?;
    go_heads_and_bodies(&gateway, &origin).await?;
    go_calls_and_ticks(&gateway, &origin).await?;
    go_shared(&gateway).await?;
    gateway.stop().await
}

async fn go_heads_and_bodies(gateway: &TestGateway, origin: &TapOrigin) -> Result<()> {
    let last = || origin.log().requests().into_iter().rfind(|request| request.target_text().len() > 5);
    let answer = gateway.exchange(&get("/headers", "Test: x\r\n")).await?;
    ensure!(answer.status == 200 && answer.text() == "a", "{answer:?}");
    ensure!(last().is_some_and(|request| request.fields.text("test") == "best"), "{:?}", origin.log());
    gateway.lines().until("request header --> test: best", 1).await?;
    gateway.lines().until("response header <-- x-from: origin", 1).await?;
    gateway.lines().until(" finished", 1).await?;

    for (operation, body) in [
        ("append", "sent[this is appended body]"),
        ("prepend", "[this is prepended body]sent"),
        ("replace", "[this is replaced body]"),
    ] {
        let answer =
            gateway.exchange(&post("/body", &format!("Buffer-Operation: {operation}\r\n"), "sent")).await?;
        ensure!(answer.status == 200, "{answer:?}");
        let requests = origin.log().requests();
        ensure!(requests.iter().any(|request| request.body == body.as_bytes()), "{operation}: {requests:?}");
    }
    let answer = gateway.exchange(&get("/body", "")).await?;
    ensure!(answer.status == 400 && answer.text() == "content must be provided", "{answer:?}");
    let in_pieces = "POST /echo HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n\
                     4\r\none,\r\n5\r\n two,\r\n6\r\n three\r\n0\r\n\r\n";
    let answer = gateway.exchange(in_pieces).await?;
    ensure!(answer.status == 200 && answer.text() == "one, two, three", "{answer:?}");

    // Each request is routed to one of the two at random.
    for _ in 0..64 {
        gateway.exchange(&get("/routing", "")).await?;
    }
    let hosts: Vec<_> = origin.log().requests().iter().map(|request| request.fields.text("host")).collect();
    let canaries = hosts.iter().filter(|host| *host == "a.test-canary").count();
    ensure!((1..64).contains(&canaries), "{canaries} of {hosts:?}");
    Ok(())
}

async fn go_calls_and_ticks(gateway: &TestGateway, origin: &TapOrigin) -> Result<()> {
    // The hash of `a` is even, that of `b` odd.
    for _ in 0..2 {
        let answer = gateway.exchange(&get("/random", "")).await?;
        ensure!(answer.status == 200 && answer.text() == "a", "{answer:?}");
        let answer = gateway.exchange(&get("/random", "X-Odd: 1\r\n")).await?;
        ensure!(answer.status == 403 && answer.text() == "access forbidden", "{answer:?}");
        ensure!(answer.fields.text("powered-by") == "proxy-wasm-go-sdk!!", "{answer:?}");
    }
    let answer = gateway.exchange(&get("/postpone", "")).await?;
    ensure!(answer.status == 200 && answer.text() == "a", "{answer:?}");
    gateway.lines().until("postpone request with contextID=", 1).await?;
    gateway.lines().until("resume request with contextID=", 1).await?;
    gateway.lines().until("OnTick called", 1).await?;
    gateway.lines().until("foreign function (compress) called: 2, result: 78", 1).await?;
    gateway.lines().until("called 3 for contextID=", 1).await?;
    let is_asked = |path| origin.log().requests().iter().any(|request| request.target_text() == path);
    ensure!(is_asked("/ok") || is_asked("/fail"), "{:?}", origin.log());
    Ok(())
}

async fn go_shared(gateway: &TestGateway) -> Result<()> {
    for path in ["/data", "/data", "/data", "/metrics", "/metrics", "/sender"] {
        let answer = gateway.exchange(&get(path, "X-In: seen\r\n")).await?;
        ensure!(answer.status == 200 && answer.text() == "a", "{path}: {answer:?}");
    }
    gateway.lines().until("shared value: 10000003", 1).await?;
    gateway.until_metric("eddy_filter_proxy_wasm_go_request_counter{filter=\"metrics\"}", 2.0).await?;
    gateway.lines().until("dequeued data from http_request_headers(queueID=", 1).await?;
    gateway.lines().until("dequeued data from http_response_headers(queueID=", 1).await?;
    gateway.lines().until("vm config: {\"a\":1}", 1).await?;
    gateway.lines().until("plugin config: {\"b\":2}", 1).await
}

//! HTTP filters in dynamic modules: the same library and the same configuration file in eddy and in the real Envoy.

mod upstream;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::peer::{Envoy, ParallelClient, Reply, bootstrap};
use eddy_e2e::place::{eddy_binary, tree};
use eddy_e2e::site::GatewayConfigBuilder;
use serde_json::{Value, json};
use test_peers::{FROM_REGISTRY, GO};
use upstream::BodyUpstream;

/// Builds the module of these tests with these flags, once for each name: a gateway may be reading the library.
fn module(name: &'static str, flags: &[&str]) -> Result<PathBuf> {
    static BUILT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    if built.contains(name) {
        return Ok(library);
    }
    // Another run of these tests may be using the library, so it is replaced as a whole.
    let fresh = library.with_extension(format!("{}.so", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/probe_module.c");
    let status = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-fPIC", "-shared", "-pthread"])
        .args(flags)
        .arg("-o")
        .arg(&fresh)
        .arg(source)
        .status()
        .context("eddy's tests need a C compiler by the name of cc")?;
    ensure!(status.success(), "the module does not compile");
    fs::rename(fresh, &library)?;
    built.insert(name);
    Ok(library)
}

fn get(target: &str, fields: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n").into_bytes()
}

fn post(target: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {target} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// A filter of the module, its configuration, and requests that pass it.
type ModuleCase = (&'static str, &'static str, Vec<Vec<u8>>);

/// Returns cases in which eddy and Envoy must agree.
fn cases() -> Vec<ModuleCase> {
    let deny = get("/a", "X-Deny: 1\r\n");
    vec![
        ("headers", "blue", vec![get("/p/q?r=1", "X-Remove: me\r\nX-Mixed: Case\r\n"), post("/p", "text")]),
        ("route", "of the filter", vec![get("/", ""), get("/own", "")]),
        ("reply", "", vec![get("/a", ""), deny, post("/a", "text")]),
        ("response-reply", "", vec![get("/", "")]),
        ("body", "", vec![get("/", ""), post("/", "some text"), post("/", "")]),
        ("callout", "aside", vec![get("/main", "")]),
        ("callout", "nowhere", vec![get("/main", "")]),
        ("scheduler", "", vec![get("/", "")]),
        ("state", "", vec![get("/?a=b", "")]),
        ("reset", "", vec![get("/", "")]),
        ("log", "", vec![get("/", "")]),
    ]
}

/// Returns the configuration of a filter, for both programs. For the filter `route`, the route `/own` has a
/// configuration of its own; the others refuse one.
fn configuration(library: &Path, filter: &str, config: &str) -> String {
    let module = |config: &str| {
        json!({
            "dynamic_module_config": {
                "module": {"local": {"filename": library.display().to_string()}}, "do_not_close": true
            },
            "filter_name": filter,
            "filter_config": {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": config}
        })
    };
    let typed = |kind: &str, mut message: Value| {
        message["@type"] = json!(format!("type.googleapis.com/envoy.extensions.filters.http.{kind}"));
        message
    };
    let filters = json!([
        {"name": "probe", "typed_config": typed("dynamic_modules.v3.DynamicModuleFilter", module(config))},
        {"name": "envoy.filters.http.router", "typed_config": typed("router.v3.Router", json!({}))}
    ]);
    let own = typed("dynamic_modules.v3.DynamicModuleFilterPerRoute", module("of the route"));
    let settings = if filter == "route" { json!({"probe": own}) } else { json!({}) };
    let routes = json!({"virtual_hosts": [{"name": "site", "domains": ["*"], "routes": [
        {"match": {"path": "/own"}, "route": {"cluster": "origin"}, "typed_per_filter_config": settings},
        {"match": {"prefix": "/"}, "route": {"cluster": "origin"}}
    ]}]});
    bootstrap(&routes, &json!({"http_filters": filters}), &["origin", "aside"])
}

/// Formats what of a response must be the same: all but the headers that each proxy writes in its own way.
fn shown(reply: &Reply) -> String {
    let own = ["date", "server", "connection", "content-length", "transfer-encoding"];
    let is_compared = |name: &str| !own.contains(&name) && !name.starts_with("x-envoy-");
    let fields = reply.fields.iter().filter(|(name, _)| is_compared(name));
    let mut fields: Vec<String> = fields.map(|(name, value)| format!("{name}: {value}")).collect();
    fields.sort();
    format!("{} {} | {}", reply.status, fields.join(", "), reply.body)
}

async fn eddy_replies(config: &str, upstream: &BodyUpstream, requests: &[Vec<u8>]) -> Result<Vec<String>> {
    let substitutes = vec![("ECHO".to_owned(), upstream.path().display().to_string())];
    // The SDK for Go passes pointers to Go memory that the runtime's check does not allow.
    let environment = vec![("GODEBUG".to_owned(), "cgocheck=0".to_owned())];
    let launch = Launch { substitutes, environment, file: Some("envoy.json"), ..Launch::default() };
    let gateway = TestGateway::launch(config, launch).await?;
    let socket = gateway.directory().join("site.sock");
    let replies = ask(&socket, requests).with_context(|| gateway.lines().text())?;
    gateway.stop().await?;
    Ok(replies)
}

/// Sends requests one after the other.
fn ask(socket: &Path, requests: &[Vec<u8>]) -> Result<Vec<String>> {
    let mut client = ParallelClient::to(socket);
    let mut replies = Vec::new();
    for request in requests {
        replies.extend(client.ask_all(std::slice::from_ref(request))?.iter().map(shown));
    }
    Ok(replies)
}

#[tokio::test]
async fn a_module_does_the_same_in_eddy_and_in_envoy() -> Result<()> {
    let library = module("eddy_probe", &[])?;
    let upstream = BodyUpstream::start()?;
    let program = Envoy::find_or_omit()?;
    for (filter, config, requests) in cases() {
        let text = configuration(&library, filter, config);
        let ours = eddy_replies(&text, &upstream, &requests).await.context(filter)?;
        for line in &ours {
            ensure!(!line.starts_with("0 "), "{filter}: {line}");
        }
        if let Some(program) = &program {
            let envoy = Envoy::start(program, &text, &upstream.path()).context(filter)?;
            let theirs = ask(&envoy.socket(), &requests).with_context(|| envoy.log())?;
            ensure!(ours == theirs, "{filter} {config}:\neddy  {ours:#?}\nEnvoy {theirs:#?}");
        }
    }
    Ok(())
}

/// Builds the module of the benchmark, which is written with Envoy's SDK for Go; `None` without Go or its registry.
fn go_module() -> Result<Option<PathBuf>> {
    if !test_peers::all_present(&[GO])? {
        return Ok(None);
    }
    let folder = tree().join("bench/peers/envoy-go");
    let fetched = Command::new("go").args(["mod", "download"]).current_dir(&folder).output()?;
    if !fetched.status.success() {
        let why = String::from_utf8_lossy(&fetched.stderr).into_owned();
        test_peers::skip(&format!("Envoy's SDK for Go is not available: {why}"), FROM_REGISTRY)?;
        return Ok(None);
    }
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libeddy_go_module.so");
    let built = Command::new("go")
        .args(["build", "-buildmode=c-shared", "-o"])
        .arg(&library)
        .arg(".")
        .current_dir(&folder)
        .status()?;
    ensure!(built.success(), "the module does not compile");
    Ok(Some(library))
}

#[tokio::test]
async fn a_module_of_the_go_sdk_does_the_same_in_eddy_and_in_envoy() -> Result<()> {
    let Some(library) = go_module()? else { return Ok(()) };
    let upstream = BodyUpstream::start()?;
    let program = Envoy::find_or_omit()?;
    let known = get("/", "Authorization: Basic dXNlcjpwYXNz\r\n");
    let cases = [
        ("passthrough", "", vec![get("/a", ""), post("/a", "text")]),
        ("header-get-set", "", vec![get("/a", "")]),
        ("basic-auth", "user:pass", vec![get("/", ""), known]),
        ("body-read", "", vec![get("/", ""), post("/", "text")]),
    ];
    for (filter, config, requests) in cases {
        let text = configuration(&library, filter, config);
        let ours = eddy_replies(&text, &upstream, &requests).await.context(filter)?;
        if let Some(program) = &program {
            let envoy = Envoy::start(program, &text, &upstream.path()).context(filter)?;
            let theirs = ask(&envoy.socket(), &requests).with_context(|| envoy.log())?;
            ensure!(ours == theirs, "{filter}:\neddy  {ours:#?}\nEnvoy {theirs:#?}");
        }
    }
    Ok(())
}

/// Returns a site with one filter of the module.
fn site(library: &Path, filter: &str, config: &str) -> GatewayConfigBuilder {
    let module = format!("{{path: '{}', filter: {filter}}}", library.display());
    GatewayConfigBuilder::new()
        .top(&format!("filters: {{probe: {{dynamic_module: {module}, config: {config}}}}}"))
        .listener("filters: [probe]")
        .another_cluster("aside: {endpoints: [ORIGIN]}")
}

async fn origin() -> Result<TapOrigin> {
    TapOrigin::with(|asked| {
        let fields = &asked.request.fields;
        let text = format!("{} {}", asked.request.target_text(), fields.text("x-stale"));
        OriginScript::send(response(200, "", text))
    })
    .await
}

#[tokio::test]
async fn a_handle_of_an_ended_stream_finds_nothing() -> Result<()> {
    let origin = origin().await?;
    let gateway = site(&module("eddy_probe", &[])?, "stale", "''").before(&origin).await?;
    let first = gateway.exchange("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(first.text() == "/1 first", "{first:?}");
    for target in ["/2", "/3"] {
        let later = gateway.exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
        ensure!(later.text() == format!("{target} gone"), "{later:?}");
    }
    ensure!(origin.log().requests().iter().all(|request| request.fields.count("x-by-stale") == 0));
    gateway.stop().await
}

#[tokio::test]
async fn metrics_and_messages_of_a_module_are_those_of_the_filter() -> Result<()> {
    let origin = origin().await?;
    let library = module("eddy_probe", &[])?;
    let gateway = site(&library, "metrics", "''").before(&origin).await?;
    for _ in 0..2 {
        gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    }
    let requests = origin.log().requests();
    let wrong = requests.first().map(|request| request.fields.text("x-wrong-labels"));
    ensure!(wrong.as_deref() == Some("2"), "{wrong:?}");
    gateway.until_metric("eddy_filter_seen_total{filter=\"probe\"}", 4.0).await?;
    gateway.until_metric("eddy_filter_by_method_GET{filter=\"probe\"}", 2.0).await?;
    gateway.until_metric("eddy_filter_size{filter=\"probe\"}", 5.0).await?;
    gateway.stop().await?;

    let gateway = site(&library, "log", "''").before(&origin).await?;
    gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    gateway.lines().until("stream complete", 1).await?;
    gateway.lines().until("stream destroyed", 1).await?;
    gateway.stop().await?;

    let gateway = site(&library, "reply", "''").before(&origin).await?;
    gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\nX-Deny: 1\r\n\r\n").await?;
    gateway.lines().until("local reply 403 denied", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_reply_in_pieces_is_sent_as_a_whole() -> Result<()> {
    let origin = origin().await?;
    let gateway = site(&module("eddy_probe", &[])?, "streamed", "''").before(&origin).await?;
    let answer = gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answer.status == 201 && answer.text() == "one two", "{answer:?}");
    ensure!(answer.fields.text("x-streamed") == "yes", "{answer:?}");
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    gateway.stop().await
}

#[tokio::test]
async fn a_response_body_is_changed() -> Result<()> {
    let origin = origin().await?;
    let gateway = site(&module("eddy_probe", &[])?, "response-body", "''").before(&origin).await?;
    let answer = gateway.exchange("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answer.text() == "/a  end", "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn an_exchange_that_a_module_resets_has_no_response() -> Result<()> {
    let origin = origin().await?;
    let gateway = site(&module("eddy_probe", &[])?, "reset", "''").before(&origin).await?;
    let mut client = gateway.client().await?;
    client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Reset: 1\r\n\r\n").await?;
    let (_, rest) = client.end().await?;
    ensure!(rest.is_empty(), "a response was sent");
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    gateway.stop().await
}

/// Returns the output of `eddy check` for a site.
fn check(site: &GatewayConfigBuilder) -> Result<String> {
    let directory = eddy_e2e::place::TempDir::new("check")?;
    let file = directory.join("eddy.yaml");
    let text = site.text().replace("LISTEN", "127.0.0.1:0").replace("ADMIN", "127.0.0.1:0");
    fs::write(&file, text.replace("ORIGIN", "127.0.0.1:9"))?;
    let output = Command::new(eddy_binary()?).arg("check").arg(&file).output()?;
    ensure!(!output.status.success(), "it is accepted");
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_module_that_cannot_work_is_refused_by_name() -> Result<()> {
    let future = "envoy_dynamic_module_callback_http_of_a_later_version";
    let flag = format!("-DUNKNOWN_CALLBACK={future}");
    let told = check(&site(&module("eddy_probe_future", &[&flag])?, "headers", "''"))?;
    ensure!(told.contains(future) && told.contains("SDK of Envoy 1.38"), "{told}");

    let told = check(&site(&module("eddy_probe_hookless", &["-DWITHOUT_HOOK"])?, "headers", "''"))?;
    ensure!(told.contains("envoy_dynamic_module_on_http_filter_request_trailers"), "{told}");

    let told = check(&site(&module("eddy_probe_ending", &["-DFAILS_TO_START"])?, "headers", "''"))?;
    ensure!(told.contains("envoy_dynamic_module_on_program_init"), "{told}");

    let told = check(&site(&module("eddy_probe", &[])?, "refused", "''"))?;
    ensure!(told.contains("refused the configuration"), "{told}");

    let nowhere = GatewayConfigBuilder::new()
        .top("filters: {probe: {dynamic_module: {name: nowhere}}}")
        .listener("filters: [probe]");
    let told = check(&nowhere)?;
    ensure!(told.contains("libnowhere.so") && told.contains("ENVOY_DYNAMIC_MODULES_SEARCH_PATH"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_module_is_found_by_its_name() -> Result<()> {
    let origin = origin().await?;
    let library = module("eddy_probe", &[])?;
    let folder = library.parent().context("the library is in a folder")?;
    let environment = vec![("ENVOY_DYNAMIC_MODULES_SEARCH_PATH".into(), folder.display().to_string())];
    let site = GatewayConfigBuilder::new()
        .top("filters: {probe: {dynamic_module: {name: eddy_probe, filter: headers}, config: {a: 1}}}")
        .listener("filters: [probe]");
    let gateway = site.launch(&origin, Launch { environment, ..Launch::default() }).await?;
    let answer = gateway.exchange("GET /p HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answer.status == 202 && answer.fields.text("x-module") == "headers", "{answer:?}");
    let config = origin.log().requests().first().map(|request| request.fields.text("x-config"));
    ensure!(config.as_deref() == Some("{\"a\":1}"), "{config:?}");
    gateway.stop().await
}

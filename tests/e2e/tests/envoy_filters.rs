//! Third-party Envoy filters, unchanged, in the running gateway.
//!
//! `tests/envoy-filters` lists their sources, and tests more of them without a gateway.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use data_encoding::BASE64;
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::others::{BUILD_TIME_MAX, EnvoyFilter, FilterSource, envoy_filters};
use eddy_e2e::place::{TempDir, build_folder};
use eddy_e2e::site::GatewayConfigBuilder;

/// Returns a folder that is the same in each run, so that the Go command can reuse its build results.
fn folder(name: &str) -> Result<PathBuf> {
    Ok(build_folder(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"))?.join(name))
}

fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: test.local\r\n{fields}\r\n")
}

async fn expect(gateway: &TestGateway, request: String, status: u16, body: &str) -> Result<()> {
    let answer = gateway.exchange(&request).await?;
    ensure!(answer.status == status && answer.text() == body, "{request:?} got {answer:?}");
    Ok(())
}

/// Names and configurations of the filters from repositories, by their ids.
const FROM_REPOSITORIES: [(&str, &str, &str); 4] = [
    ("token", "example-1", "{}"),
    (
        "users",
        "basic-auth",
        "{users: [{Username: a, Password: '1', Expire: 1, Uint: Hour}, {Username: b, Password: '2', Expire: 1, Uint: Nanosecond}]}",
    ),
    ("remote-auth", "remote-basic-auth", "{host: REMOTE_HOST, port: REMOTE_PORT}"),
    ("simple", "basic", "{prefix_localreply_body: from configuration, iteration: 50}"),
];

fn basic(credentials: &str) -> String {
    format!("Authorization: Basic {}\r\n", BASE64.encode(credentials.as_bytes()))
}

/// Starts a gateway with a rule `/ID/` for each of these filters.
async fn one_for_each(filters: &[EnvoyFilter], origin: &TapOrigin) -> Result<TestGateway> {
    let mut definitions = Vec::new();
    let mut site = GatewayConfigBuilder::new();
    for filter in filters {
        for (id, name, config) in FROM_REPOSITORIES.iter().filter(|(id, ..)| *id == filter.id) {
            let package = filter.package.display();
            definitions
                .push(format!("{id}: {{go: {{filter: {name}, package: '{package}'}}, config: {config}}}"));
            let others: Vec<_> = filters
                .iter()
                .filter(|other| other.id != *id)
                .map(|other| format!("{}: {{disabled: true}}", other.id))
                .collect();
            let others = others.join(", ");
            site = site.rule(&format!(
                "{{match: {{path: {{prefix: /{id}/}}}}, cluster: origin, filters: {{{others}}}}}"
            ));
        }
    }
    let names: Vec<_> = filters.iter().map(|filter| filter.id.as_str()).collect();
    let launch = Launch { ready_within: Some(BUILD_TIME_MAX), ..Launch::default() };
    site.top(&format!("filters: {{{}}}", definitions.join(", ")))
        .listener(&format!("filters: [{}]", names.join(", ")))
        .without_default_rule()
        .with("REMOTE_HOST", origin.address().ip())
        .with("REMOTE_PORT", origin.address().port())
        .launch(origin, launch)
        .await
}

#[tokio::test]
async fn published_filters_work() -> Result<()> {
    let ids = FROM_REPOSITORIES.map(|(id, ..)| id);
    let filters = envoy_filters(&folder("envoy-filters")?, &ids, FilterSource::Repository)?;
    if filters.is_empty() {
        return Ok(());
    }
    let origin = TapOrigin::with(|asked| {
        let (target, body) = (asked.request.target_text(), asked.request.body.clone());
        let knows = body == br#"{"username": "u", "password": "p"}"#.as_slice();
        let status = if target == "/check" && !knows { 403 } else { 200 };
        OriginScript::send(response(status, "", "hello"))
    })
    .await?;
    let gateway = one_for_each(&filters, &origin).await?;
    for filter in &filters {
        match filter.id.as_str() {
            "token" => token(&gateway).await?,
            "users" => users(&gateway).await?,
            "remote-auth" => remote_auth(&gateway).await?,
            _ => simple(&gateway).await?,
        }
    }
    gateway.stop().await
}

async fn token(gateway: &TestGateway) -> Result<()> {
    // MD5 of the target and `secret`.
    let right = "Token: 1c7fbd6b26184dc9f07f6ce95715c040\r\n";
    expect(gateway, get("/token/x?a=b", right), 200, "hello").await?;
    expect(gateway, get("/token/y?a=b", right), 403, "invalid token").await?;
    expect(gateway, get("/token/x?a=b", ""), 403, "missing token").await
}

async fn users(gateway: &TestGateway) -> Result<()> {
    expect(gateway, get("/users/", &basic("a:1")), 200, "hello").await?;
    expect(gateway, get("/users/", &basic("a:2")), 401, "invalid username or password").await?;
    expect(gateway, get("/users/", &basic("b:2")), 401, "what took u so long").await?;
    expect(gateway, get("/users/", ""), 401, "no Authorization").await
}

async fn remote_auth(gateway: &TestGateway) -> Result<()> {
    for _ in 0..50 {
        expect(gateway, get("/remote-auth/", &basic("u:p")), 200, "hello").await?;
        expect(gateway, get("/remote-auth/", &basic("u:q")), 401, "invalid username or password").await?;
    }
    expect(gateway, get("/remote-auth/", ""), 401, "no Authorization").await
}

async fn simple(gateway: &TestGateway) -> Result<()> {
    // The filter compares its two special targets as a whole; there is no rule for them here.
    let answer = gateway.exchange(&get("/simple/", "")).await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    ensure!(answer.fields.text("rsp-header-from-go") == "bar-test", "{answer:?}");
    // The filter starts its series with two zeros, so the result is always 0.
    gateway.lines().until("FIBONNACI: 0", 1).await
}

/// Rules of the HTNN framework test: a path, and the plugins in front of it.
const HTNN: [(&str, &str); 8] = [
    (
        "/key",
        "{name: keyAuth, config: {keys: [{name: Authorization}, {name: ak, source: QUERY}]}}, \
         {name: consumerRestriction, config: {deny_if_no_consumer: true}}",
    ),
    (
        "/tom",
        "{name: keyAuth, config: {keys: [{name: Authorization}]}}, \
         {name: consumerRestriction, config: {allow: {rules: [{name: tom, methods: [GET]}]}}}",
    ),
    (
        "/echo",
        "{name: hmacAuth, config: {signatureHeader: x-sign-hdr, accessKeyHeader: x-ak, dateHeader: x-date}}, \
         {name: consumerRestriction, config: {deny_if_no_consumer: true}}",
    ),
    (
        "/cel",
        r#"{name: celScript, config: {allowIf: 'request.path() == "/cel" && request.method() == "GET"'}}"#,
    ),
    ("/limit", "{name: limitReq, config: {average: 1, period: 3600s}}"),
    (
        "/opa",
        r#"{name: opa, config: {local: {text: "package test\nimport input.request\ndefault allow = false\nallow {\n request.method == \"GET\"\n request.headers.pass == \"1\"\n}"}}}"#,
    ),
    (
        "/ext",
        "{name: extAuth, config: {http_service: {url: 'http://ORIGIN/ask', timeout: 10s, with_request_body: true, \
         authorization_response: {allowed_upstream_headers: [{exact: x-user}]}}}}, {name: demo, config: {hostName: Tom}}",
    ),
    (
        "/casbin",
        "{name: casbin, config: {rule: {model: FILES/model.conf, policy: FILES/policy.csv}, token: {name: customer}}}",
    ),
];

const CASBIN_MODEL: &str = "\
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.obj == p.obj && r.act == p.act
";

#[tokio::test]
async fn htnn_plugins_work() -> Result<()> {
    let folder = folder("envoy-filters-htnn")?;
    let filters = envoy_filters(&folder, &["htnn-plugins"], FilterSource::Registry)?;
    let Some(filter) = filters.first() else { return Ok(()) };
    let files = TempDir::new("casbin")?;
    std::fs::write(files.join("model.conf"), CASBIN_MODEL)?;
    std::fs::write(files.join("policy.csv"), "p, alice, /casbin, GET\n")?;
    let origin = TapOrigin::with(|asked| {
        let refuses =
            asked.request.target_text().starts_with("/ask") && asked.request.body != b"let me in".as_slice();
        let status = if refuses { 403 } else { 200 };
        OriginScript::send(response(status, "X-User: u1\r\nX-Other: o\r\n", "hello"))
    })
    .await?;
    let package = filter.package.display();
    // In the format of HTNN's control plane: a version, and the consumer as JSON in JSON.
    let consumers = r#"{ns: {
      rick: {v: 1, d: '{"auth": {"keyAuth": "{\"key\": \"rick\"}", "hmacAuth": "{\"accessKey\": \"ak\", \"secretKey\": \"sk\", \"signedHeaders\": [\"x-custom-a\"], \"algorithm\": \"HMAC_SHA256\"}"}}'},
      tom: {v: 1, d: '{"auth": {"keyAuth": "{\"key\": \"tom\"}"}}'}}}"#;
    let mut site = GatewayConfigBuilder::new()
        .top(&format!(
            "filters: {{cm: {{go: {{filter: cm, package: '{package}'}}, config: {consumers}}}, \
             fm: {{go: {{filter: fm, package: '{package}'}}, config: {{namespace: ns, plugins: []}}}}}}"
        ))
        .listener("filters: [cm, fm]")
        .with("FILES", files.path().display());
    for (path, plugins) in HTNN {
        site = site.rule(&format!(
            "{{match: {{path: {path}}}, cluster: origin, filters: {{fm: {{config: {{namespace: ns, plugins: [{plugins}]}}}}}}}}"
        ));
    }
    let launch = Launch {
        environment: vec![("GOFLAGS".into(), "-tags=so".into())],
        ready_within: Some(BUILD_TIME_MAX),
        ..Launch::default()
    };
    let gateway = site.launch(&origin, launch).await?;
    htnn_consumers(&gateway, &origin).await?;
    htnn_conditions(&gateway).await?;
    check_htnn_outbound_call(&gateway, &origin).await?;
    gateway.stop().await
}

/// Plugins that authenticate the consumer, and one that allows only some consumers.
async fn htnn_consumers(gateway: &TestGateway, origin: &TapOrigin) -> Result<()> {
    expect(gateway, get("/key", "Authorization: rick\r\n"), 200, "hello").await?;
    expect(gateway, get("/key?ak=tom&x=y", ""), 200, "hello").await?;
    // Credentials are not forwarded.
    let sent = origin.log().requests();
    ensure!(sent.iter().all(|request| request.fields.count("authorization") == 0), "{sent:?}");
    let targets: Vec<_> = sent.iter().map(|request| request.target_text()).collect();
    ensure!(targets == ["/key", "/key?x=y"], "{targets:?}");
    for (fields, status) in
        [("Authorization: morty\r\n", 401), ("Authorization: rick\r\nAuthorization: tom\r\n", 401), ("", 401)]
    {
        let answer = gateway.exchange(&get("/key", fields)).await?;
        ensure!(answer.status == status, "{fields:?} got {answer:?}");
    }
    expect(gateway, get("/tom", "Authorization: tom\r\n"), 200, "hello").await?;
    let answer = gateway.exchange(&get("/tom", "Authorization: rick\r\n")).await?;
    ensure!(answer.status == 403 && answer.text().contains("consumer not allowed"), "{answer:?}");

    let signed = "X-Sign-Hdr: E6m5y84WIu/XeeIox2VZes/+xd/8QPRSMKqo+lp3cAo=\r\nX-Ak: ak\r\n\
                  X-Date: Fri Jan  5 16:10:54 CST 2024\r\nX-Custom-A: test\r\n";
    expect(gateway, get("/echo?age=36&address=&title=ops&title=dev", signed), 200, "hello").await?;
    let answer = gateway.exchange(&get("/echo?age=36&title=ops&title=dev", signed)).await?;
    ensure!(answer.status == 401, "{answer:?}");
    Ok(())
}

/// Plugins that evaluate conditions on the request, and one that counts.
async fn htnn_conditions(gateway: &TestGateway) -> Result<()> {
    expect(gateway, get("/cel", ""), 200, "hello").await?;
    let post = |path: &str| format!("POST {path} HTTP/1.1\r\nHost: test.local\r\nContent-Length: 0\r\n\r\n");
    let refused = [
        post("/cel"),
        get("/opa", "Pass: 0\r\n"),
        post("/opa"),
        get("/casbin", "Customer: bob\r\n"),
        get("/casbin", ""),
    ];
    for request in refused {
        let answer = gateway.exchange(&request).await?;
        ensure!(answer.status == 403, "{request:?} got {answer:?}");
    }
    expect(gateway, get("/opa", "Pass: 1\r\n"), 200, "hello").await?;
    expect(gateway, get("/casbin", "Customer: alice\r\n"), 200, "hello").await?;
    expect(gateway, get("/limit", ""), 200, "hello").await?;
    for _ in 0..3 {
        let answer = gateway.exchange(&get("/limit", "")).await?;
        ensure!(answer.status == 429, "{answer:?}\n{}", gateway.lines().text());
    }
    Ok(())
}

/// A plugin that calls another service with the request body, after one that adds a field.
async fn check_htnn_outbound_call(gateway: &TestGateway, origin: &TapOrigin) -> Result<()> {
    let post = |body: &str| {
        let length = body.len();
        format!(
            "POST /ext HTTP/1.1\r\nHost: test.local\r\nX-User: forged\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    expect(gateway, post("let me in"), 200, "hello").await?;
    let requests = origin.log().requests();
    let sent = requests.iter().find(|request| request.target_text() == "/ext");
    ensure!(
        sent.is_some_and(|sent| sent.body == b"let me in".as_slice()
            && sent.fields.text("x-user") == "u1"
            && sent.fields.count("x-other") == 0
            && sent.fields.text("tom").starts_with("hello,")),
        "{requests:?}"
    );
    let answer = gateway.exchange(&post("let him in")).await?;
    ensure!(answer.status == 403, "{answer:?}");
    Ok(())
}

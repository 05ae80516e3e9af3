//! An `nginx.conf` in the running gateway; the comparison with NGINX itself is in other tests, without a gateway.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wire::{WireResponse, within};

const CONFIG: &str = "\
worker_processes 1;
events {}
http {
    upstream app { server ORIGIN; keepalive 4; }
    upstream gone { server GONE; }
    map $http_x_kind $kind { default other; ~^b bulk; }
    server {
        listen LISTEN;
        server_name www.a.test *.b.test;
        client_max_body_size 8k;
        include DIR/places-*.inc;
        location / { return 404 nothing; }
        location /app/ {
            proxy_pass http://app/inner/;
            proxy_set_header Host $host;
            proxy_set_header X-Kind $kind;
            add_header X-Where $uri;
        }
        location /plain/ { proxy_pass http://app; }
        location ~ ^/users/([0-9]+)$ { rewrite ([0-9]+)$ /app/by-number?number=$1 last; }
        location = /moved { return 301 https://$host/new; }
        location /broken/ { proxy_pass http://gone; error_page 502 = @fallback; }
        location @fallback { return 503 later; }
    }
    server { listen LISTEN; server_name other.test; return 200 other; }
}
";

async fn start(origin: &TapOrigin) -> Result<TestGateway> {
    let substitutes = vec![
        ("ORIGIN".to_owned(), origin.address().to_string()),
        ("GONE".to_owned(), place::closed_address().to_string()),
    ];
    TestGateway::launch(CONFIG, Launch { substitutes, file: Some("nginx.conf"), ..Launch::default() }).await
}

async fn get(gateway: &TestGateway, host: &str, target: &str, fields: &str) -> Result<WireResponse> {
    gateway.exchange(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")).await
}

#[tokio::test]
async fn servers_and_locations_are_served() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = start(&origin).await?;
    for (host, target, status, body) in [
        ("www.a.test", "/", 404, "nothing"),
        ("x.b.test", "/", 404, "nothing"),
        ("other.test", "/app/x", 200, "other"),
        ("www.a.test", "/broken/x", 503, "later"),
    ] {
        let answer = get(&gateway, host, target, "").await?;
        ensure!(answer.status == status && answer.text() == body, "{host}{target}: {answer:?}");
    }
    let moved = get(&gateway, "www.a.test", "/moved", "").await?;
    ensure!(moved.status == 301 && moved.fields.text("location") == "https://www.a.test/new", "{moved:?}");
    gateway.stop().await
}

#[tokio::test]
async fn requests_reach_the_upstream_as_they_are_rewritten() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = start(&origin).await?;
    let answer = get(&gateway, "www.a.test", "/app/x%20y?q=1", "X-Kind: books\r\n").await?;
    ensure!(answer.status == 200 && answer.fields.text("x-where") == "/app/x y", "{answer:?}");
    get(&gateway, "www.a.test", "/plain/a%2Fb//c", "").await?;
    get(&gateway, "www.a.test", "/users/17", "").await?;
    let seen: Vec<(String, String, String)> = origin
        .log()
        .requests()
        .iter()
        .map(|request| {
            let host = String::from_utf8_lossy(request.host()).into_owned();
            (request.target_text(), host, request.fields.text("x-kind"))
        })
        .collect();
    let expected = [
        ("/inner/x%20y?q=1", "www.a.test", "bulk"),
        ("/plain/a%2Fb//c", "app", ""),
        ("/inner/by-number?number=17", "www.a.test", "other"),
    ];
    let expected = expected.map(|(target, host, kind)| (target.to_owned(), host.to_owned(), kind.to_owned()));
    ensure!(seen == expected, "{seen:?}");
    gateway.stop().await
}

#[tokio::test]
async fn bodies_reach_the_upstream_completely_and_are_limited() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = start(&origin).await?;
    let head = "POST /users/17 HTTP/1.1\r\nHost: www.a.test\r\n";
    let body = "0123456789".repeat(800);
    let by_length = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    ensure!(gateway.exchange(by_length).await?.status == 200);
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n1f40\r\n{body}\r\n0\r\n\r\n");
    ensure!(gateway.exchange(chunked).await?.status == 200);
    let too_long = format!("{head}Content-Length: 8193\r\n\r\n{}", "b".repeat(8193));
    ensure!(gateway.exchange(too_long).await?.status == 413);
    let bodies: Vec<Vec<u8>> = origin.log().requests().iter().map(|request| request.body.clone()).collect();
    ensure!(bodies == [body.as_bytes(), body.as_bytes()], "{} bodies", bodies.len());
    gateway.stop().await
}

#[tokio::test]
async fn a_changed_file_takes_effect_and_a_broken_one_changes_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = start(&origin).await?;
    gateway.write_config(&CONFIG.replace("return 404 nothing", "return 200 something"))?;
    until(&gateway, "something").await?;
    gateway.write_config(&CONFIG.replace("return 404 nothing", "return nothing at all"))?;
    gateway.lines().until("configuration rejected", 1).await?;
    until(&gateway, "something").await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_new_included_file_takes_effect() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = start(&origin).await?;
    std::fs::write(gateway.directory().join("places-1.inc"), "location = / { return 200 included; }")?;
    until(&gateway, "included").await?;
    gateway.stop().await
}

async fn until(gateway: &TestGateway, body: &str) -> Result<()> {
    within(body, async {
        while get(gateway, "www.a.test", "/", "").await?.text() != body {
            tokio::task::yield_now().await;
        }
        Ok(())
    })
    .await?
}

#[test]
fn unsupported_directives_are_reported_with_their_position() -> Result<()> {
    let shelf = TempDir::new("nginx")?;
    let config = shelf.join("nginx.conf");
    let text = "events {}\nhttp {\n  server {\n    listen 127.0.0.1:1;\n    limit_req zone=a;\n    location / { return 200 ok; }\n  }\n}\n";
    std::fs::write(&config, text)?;
    let check = |arguments: &[&str]| {
        let output = Command::new(place::eddy_binary()?).arg("check").args(arguments).arg(&config).output();
        output.context("eddy does not start")
    };
    let strict = check(&[])?;
    let told =
        String::from_utf8_lossy(&strict.stderr).into_owned() + &String::from_utf8_lossy(&strict.stdout);
    ensure!(!strict.status.success() && told.contains("nginx.conf:5:5"), "{told}");
    ensure!(told.contains("limit_req"), "{told}");
    let lenient = check(&["--lenient"])?;
    let told =
        String::from_utf8_lossy(&lenient.stderr).into_owned() + &String::from_utf8_lossy(&lenient.stdout);
    ensure!(lenient.status.success() && told.contains("limit_req"), "{told}");
    Ok(())
}

#[tokio::test]
async fn leniency_never_opens_protected_locations() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let config = "events {}\nhttp {\n  server {\n    listen LISTEN;\n    auth_basic secret;\n    auth_basic_user_file users;\n\
                  \x20   location / { proxy_pass http://ORIGIN; }\n    location /free/ { auth_basic off; proxy_pass http://ORIGIN; }\n  }\n}\n";
    let substitutes = vec![("ORIGIN".to_owned(), origin.address().to_string())];
    let arguments = vec!["--lenient".into()];
    let launch = Launch { substitutes, arguments, file: Some("nginx.conf"), ..Launch::default() };
    let gateway = TestGateway::launch(config, launch).await?;
    for (target, status) in [("/", 403), ("/free/", 200), ("/free/%2e%2e/", 403)] {
        let answer = get(&gateway, "a.test", target, "Authorization: Basic YTpi\r\n").await?;
        ensure!(answer.status == status, "{target}: {answer:?}");
    }
    ensure!(origin.log().requests().len() == 1, "the guarded location asks nobody");
    gateway.lines().until("rejected with 403", 1).await?;
    gateway.stop().await
}

const UPSTREAMS: &str = "\
worker_processes 1;
events {}
http {
    upstream app { server GONE; server ONE backup; }
    upstream keyed { hash $arg_k consistent; server ONE; server TWO; server THREE; }
    upstream near { ip_hash; server ONE; server TWO; server THREE; }
    upstream nobody { server GONE down; }
    server {
        listen ONE;
        absolute_redirect off;
        location / { return 200 one; }
        location = /app/lost { return 404 lost; }
        location = /app/moved { return 302 http://app/app/new; }
    }
    server { listen TWO; return 200 two; }
    server { listen THREE; return 200 three; }
    server {
        listen LISTEN;
        location = / { return 200 ready; }
        location /backup { proxy_pass http://app; }
        location /keyed { proxy_pass http://keyed; }
        location /near { proxy_pass http://near; }
        location /nobody { proxy_pass http://nobody; }
        location /app/ { proxy_intercept_errors on; error_page 404 = @other; proxy_pass http://app; }
        location /again/ { proxy_intercept_errors on; error_page 404 = /keyed; proxy_pass http://app/app/lost; }
        location @other { return 200 instead; }
    }
}
";

async fn start_upstreams() -> Result<TestGateway> {
    let mut substitutes = Vec::new();
    for name in ["GONE", "ONE", "TWO", "THREE"] {
        substitutes.push((name.to_owned(), place::fixed_address()?.to_string()));
    }
    TestGateway::launch(UPSTREAMS, Launch { substitutes, file: Some("nginx.conf"), ..Launch::default() })
        .await
}

#[tokio::test]
async fn endpoints_are_selected_by_tier_key_and_address() -> Result<()> {
    let gateway = start_upstreams().await?;
    for _ in 0..5 {
        let answer = get(&gateway, "a.test", "/backup", "").await?;
        ensure!(answer.status == 200 && answer.text() == "one", "{answer:?}");
    }
    let mut seen = std::collections::BTreeSet::new();
    for key in 0..30 {
        let target = format!("/keyed?k={key}");
        let first = get(&gateway, "a.test", &target, "").await?.text();
        let second = get(&gateway, "b.test", &target, "").await?.text();
        ensure!(first == second, "{key}: {first}, then {second}");
        seen.insert(first);
    }
    ensure!(seen.len() == 3, "{seen:?}");
    let first = get(&gateway, "a.test", "/near", "").await?.text();
    for _ in 0..10 {
        ensure!(get(&gateway, "a.test", "/near", "").await?.text() == first, "another one than {first}");
    }
    ensure!(get(&gateway, "a.test", "/nobody", "").await?.status == 502);
    gateway.stop().await
}

#[tokio::test]
async fn upstream_responses_are_replaced_and_their_redirects_rewritten() -> Result<()> {
    let gateway = start_upstreams().await?;
    let lost = get(&gateway, "a.test", "/app/lost", "").await?;
    ensure!(lost.status == 200 && lost.text() == "instead", "{lost:?}");
    let found = get(&gateway, "a.test", "/app/found", "").await?;
    ensure!(found.status == 200 && found.text() == "one", "{found:?}");
    let moved = get(&gateway, "a.test", "/app/moved", "").await?;
    let expected = format!("http://a.test:{}/app/new", gateway.address().port());
    ensure!(moved.status == 302 && moved.fields.text("location") == expected, "{moved:?}");
    // A request body has already gone to the first upstream: a text can still be returned, but no other upstream can be
    // tried.
    let post =
        |target: &str| format!("POST {target} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello");
    let answer = gateway.exchange(post("/app/lost")).await?;
    ensure!(answer.status == 200 && answer.text() == "instead", "{answer:?}");
    let again = get(&gateway, "a.test", "/again/", "").await?;
    ensure!(again.status == 200, "{again:?}");
    ensure!(gateway.exchange(post("/again/")).await?.status == 404);
    gateway.stop().await
}

//! An `nginx.conf` as a table of an eddy.yaml: with eddy's own rules, after filters, and in the admin interface.

use std::fs;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::place::TempDir;
use eddy_e2e::wire::{WireResponse, within};

const CONFIG: &str = "\
workers: 1
listeners: [{address: LISTEN, routes: [site, legacy], filters: [marked]}]
admin: {address: ADMIN}
access_log: {file: stdout, format: json, step: true}
filters: {marked: {headers: {response: {set: {x-marked: 'yes'}}}}}
routes:
  site:
    - {name: shop, match: {host: shop.test}, respond: {status: 200, body: shop}}
    - {name: health, match: {path: {exact: /healthz}}, respond: {status: 200, body: well}}
  legacy: {dialect: nginx, file: FOLDER/legacy.conf}
";

const LEGACY: &str = "\
events {}
http {
    upstream app { server ORIGIN; }
    include parts/*.inc;
    server {
        listen 80;
        server_name www.a.test *.b.test;
        location / { return 200 \"a $uri\"; }
        location /app/ { proxy_pass http://app/inner/; proxy_set_header Host $host; }
    }
    server { listen 80; server_name ~^c[0-9][.]test$; return 200 expression; }
    server { listen 80 default_server; return 200 default; }
}
";

async fn start(origin: &TapOrigin, folder: &TempDir) -> Result<TestGateway> {
    write(origin, folder, LEGACY)?;
    let substitutes = vec![("FOLDER".to_owned(), folder.path().display().to_string())];
    TestGateway::launch(CONFIG, Launch { substitutes, ..Launch::default() }).await
}

fn write(origin: &TapOrigin, folder: &TempDir, text: &str) -> Result<()> {
    let text = text.replace("ORIGIN", &origin.address().to_string());
    Ok(fs::write(folder.join("legacy.conf"), text)?)
}

async fn get(gateway: &TestGateway, host: &str, target: &str) -> Result<WireResponse> {
    gateway.exchange(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await
}

#[tokio::test]
async fn the_most_specific_host_of_all_tables_wins_then_their_order() -> Result<()> {
    let (origin, folder) = (TapOrigin::start().await?, TempDir::new("legacy")?);
    let gateway = start(&origin, &folder).await?;
    for (host, target, body) in [
        ("shop.test", "/x", "shop"),
        // The second table has the more specific host.
        ("www.a.test", "/healthz", "a /healthz"),
        ("x.b.test", "/a//b", "a /a/b"),
        // For any host the first table takes precedence.
        ("other.test", "/healthz", "well"),
        ("other.test", "/x", "default"),
        // A regular expression has no host by which tables are ordered: it applies only after the NGINX table is
        // selected.
        ("c1.test", "/healthz", "well"),
        ("c1.test", "/x", "expression"),
    ] {
        let answer = get(&gateway, host, target).await?;
        ensure!(answer.status == 200 && answer.text() == body, "{host}{target}: {answer:?}");
        ensure!(answer.fields.text("x-marked") == "yes", "filters see it: {answer:?}");
    }
    ensure!(get(&gateway, "www.a.test", "/app/x%20y?q=1").await?.status == 200);
    let requests = origin.log().requests();
    let seen: Vec<String> = requests.iter().map(|request| request.target_text()).collect();
    ensure!(seen == ["/inner/x%20y?q=1"], "{seen:?}");
    let rule = r#"eddy_rule_requests_total{listener="LISTEN",rule="www.a.test /app/"}"#;
    let rule = rule.replace("LISTEN", &gateway.label());
    ensure!(gateway.metric(&rule).await? == 1.0);
    // Access log entries name the step by which a rule won, and for NGINX locations their kind.
    for (step, count) in [("host", 1), ("table", 2), ("prefix", 3), ("server", 2)] {
        gateway.lines().until(&format!(r#""step":"{step}""#), count).await?;
    }
    gateway.stop().await
}

#[tokio::test]
async fn explain_names_table_server_and_location() -> Result<()> {
    let (origin, folder) = (TapOrigin::start().await?, TempDir::new("legacy")?);
    let gateway = start(&origin, &folder).await?;
    let told = gateway.admin("/explain?url=http://www.a.test/app/x").await?.text();
    for word in ["legacy", "exact name www.a.test", "location    www.a.test /app/", "legacy.conf:9"] {
        ensure!(told.contains(word), "{word} in {told}");
    }
    let told = gateway.admin("/explain?url=http://other.test/healthz").await?.text();
    ensure!(told.contains("health") && !told.contains("location"), "{told}");
    gateway.stop().await
}

/// A worker reuses the memory of an exchange; the key that an NGINX server has written there is not that of a request
/// that eddy's own rules handle.
#[tokio::test]
async fn the_hash_key_of_an_nginx_server_applies_to_one_request() -> Result<()> {
    let (origin, other, folder) =
        (TapOrigin::start().await?, TapOrigin::start().await?, TempDir::new("keys")?);
    write(
        &origin,
        &folder,
        "events {} http { upstream app { hash $arg_k; server ORIGIN; } server { listen 80; server_name www.a.test; location / { proxy_pass http://app; } } }",
    )?;
    let config = "\
workers: 1
listeners: [{address: LISTEN, routes: [own, legacy]}]
admin: {address: ADMIN}
clusters:
  keyed: {balance: hash, key: {header: x-user}, endpoints: [ORIGIN_A, ORIGIN_B]}
routes:
  own: [{match: {host: keyed.test}, cluster: keyed}]
  legacy: {dialect: nginx, file: FOLDER/legacy.conf}
";
    let substitutes = vec![
        ("FOLDER".to_owned(), folder.path().display().to_string()),
        ("ORIGIN_A".to_owned(), origin.address().to_string()),
        ("ORIGIN_B".to_owned(), other.address().to_string()),
    ];
    let gateway = TestGateway::launch(config, Launch { substitutes, ..Launch::default() }).await?;
    for user in 0..24 {
        ensure!(get(&gateway, "www.a.test", "/?k=same").await?.status == 200);
        let request = format!("GET /keyed HTTP/1.1\r\nHost: keyed.test\r\nX-User: {user}\r\n\r\n");
        ensure!(gateway.exchange(request).await?.status == 200);
    }
    let keyed = |origin: &TapOrigin| {
        origin.log().requests().iter().filter(|request| request.target_text() == "/keyed").count()
    };
    let (first, second) = (keyed(&origin), keyed(&other));
    ensure!(first + second == 24 && first > 0 && second > 0, "all users went one way: {first} and {second}");
    gateway.stop().await
}

#[tokio::test]
async fn the_file_and_its_includes_are_watched() -> Result<()> {
    let (origin, folder) = (TapOrigin::start().await?, TempDir::new("legacy")?);
    fs::create_dir(folder.join("parts"))?;
    let gateway = start(&origin, &folder).await?;
    write(&origin, &folder, &LEGACY.replace("return 200 default", "return 200 changed"))?;
    until(&gateway, "other.test", "changed").await?;
    fs::write(folder.join("parts/one.inc"), "server { listen 80; server_name new.test; return 200 new; }")?;
    until(&gateway, "new.test", "new").await?;
    gateway.stop().await
}

async fn until(gateway: &TestGateway, host: &str, body: &str) -> Result<()> {
    within(body, async {
        while get(gateway, host, "/x").await?.text() != body {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    })
    .await?
}

//! Filters that come with eddy, in the running gateway.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{TestGateway, sum_of_series};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::{get, within};
use rustix::process::Signal;

/// Credentials `alice:secret`; then `alice:wrong` and `bob:secret`.
const ALICE: &str = "Basic YWxpY2U6c2VjcmV0";
const WRONG: &str = "Basic YWxpY2U6d3Jvbmc=";
const BOB: &str = "Basic Ym9iOnNlY3JldA==";
/// SHA-1 of `secret`.
const QUICK: &str = "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=";

fn login(target: &str, credentials: &str) -> String {
    get(target, &format!("Authorization: {credentials}\r\n"))
}

#[tokio::test]
async fn a_chain_of_built_in_filters_applies_each() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: stdout, format: json}")
        .top(
            "filters: {id: {request_id: {format: hex, respond: true}}, login: {basic_auth: {users: {alice: secret}, user_header: x-user}}, \
             cors: {cors: {origins: ['https://a.test']}}, size: {body_limit: {request: 10}}, \
             marks: {headers: {request: {set: {x-client: '${peer_ip} ${metadata.auth.user}', x-id: '${request_id}'}}, response: {set: {x-rule: '${rule}'}}}}}",
        )
        .listener("filters: [id, cors, login, size, marks]")
        .rule("{name: free, match: {path: /free/}, cluster: origin, filters: {login: {disabled: true}, size: {config: {request: 1000}}}}")
        .before(&origin)
        .await?;
    let refused = gateway.exchange(&get("/", "Origin: https://a.test\r\n")).await?;
    ensure!(refused.status == 401 && refused.fields.text("access-control-allow-origin") == "https://a.test");
    ensure!(refused.fields.text("www-authenticate").starts_with("Basic realm="), "{refused:?}");
    ensure!(refused.fields.text("x-request-id").len() == 32, "{refused:?}");
    let preflight = "OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: https://a.test\r\nAccess-Control-Request-Method: GET\r\n\r\n";
    ensure!(gateway.exchange(preflight).await?.status == 204);
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());

    let welcome = gateway.exchange(&login("/", ALICE)).await?;
    ensure!(welcome.status == 200 && welcome.fields.text("x-rule") == "site/2", "{welcome:?}");
    let seen = origin.log().until_requests(1).await?;
    let fields = &seen[0].fields;
    ensure!(fields.text("x-user") == "alice" && fields.text("authorization").is_empty(), "{seen:?}");
    ensure!(fields.text("x-client").ends_with(" alice"), "{seen:?}");
    let id = fields.text("x-request-id");
    ensure!(id == welcome.fields.text("x-request-id"), "{seen:?}");
    // The access log entry and the variable of other filters have the same ID.
    gateway.lines().until(&format!("\"request_id\":\"{id}\""), 1).await?;
    ensure!(fields.text("x-id") == id, "{seen:?}");

    let post = |target: &str, framing: &str| {
        format!("POST {target} HTTP/1.1\r\nHost: a\r\nAuthorization: {ALICE}\r\n{framing}")
    };
    let (length, body) = ("Content-Length: 20\r\n\r\n", "x".repeat(20));
    ensure!(gateway.exchange(&(post("/", length) + &body)).await?.status == 413);
    let chunks = format!("Transfer-Encoding: chunked\r\n\r\n14\r\n{body}\r\n0\r\n\r\n");
    ensure!(gateway.exchange(&post("/", &chunks)).await?.status == 413);
    ensure!(gateway.exchange(&(post("/free/", length) + &body)).await?.status == 200);
    gateway.stop().await
}

#[tokio::test]
async fn passwords_are_verified_off_the_workers() -> Result<()> {
    let origin = TapOrigin::start().await?;
    // A hash that no password matches; checking takes some 50 ms.
    let slow = "$2y$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
    let filter =
        format!("filters: {{login: {{basic_auth: {{users: {{alice: '{slow}'}}, threads: 1, queue: 4}}}}}}");
    let gateway = GatewayConfigBuilder::new()
        .top(&filter)
        .listener("filters: [login]")
        .rule("{match: {path: /free/}, cluster: origin, filters: {login: {disabled: true}}}")
        .before(&origin)
        .await?;
    let mut clients = Vec::new();
    for _ in 0..12 {
        let mut client = gateway.client().await?;
        client.send(login("/", WRONG)).await?;
        clients.push(client);
    }
    // The only worker serves requests although four passwords are still being checked.
    let begin = Instant::now();
    ensure!(gateway.exchange(&get("/free/", "")).await?.status == 200);
    let free = begin.elapsed();
    let mut statuses = Vec::new();
    for client in &mut clients {
        statuses.push(within("an answer to a password", client.read_get_response()).await??.status);
    }
    let all = begin.elapsed();
    let count = |status: u16| statuses.iter().filter(|one| **one == status).count();
    ensure!(count(401) >= 4 && count(503) >= 1 && count(401) + count(503) == 12, "{statuses:?}");
    ensure!(free * 2 < all, "{free:?} of {all:?}");
    let metrics = gateway.admin("/metrics").await?.text();
    ensure!(sum_of_series(&metrics, "eddy_filter_overloaded") >= 1.0, "{metrics}");
    gateway.stop().await
}

#[tokio::test]
async fn a_changed_user_file_takes_effect_after_a_reload() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new()
        .top("filters: {login: {basic_auth: {file: DIR/users}}}")
        .listener("filters: [login]");
    let text = site.text();
    // The file is beside the configuration, whose directory is known once the gateway runs.
    let gateway =
        TestGateway::start(&GatewayConfigBuilder::new().text(), &[("ORIGIN", &origin.address())]).await?;
    std::fs::write(gateway.directory().join("users"), format!("alice:{QUICK}\n"))?;
    gateway.write_config(&text)?;
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration reloaded", 1).await?;
    let status =
        async |credentials: &str| anyhow::Ok(gateway.exchange(&login("/", credentials)).await?.status);
    ensure!(status(ALICE).await? == 200 && status(BOB).await? == 401);

    std::fs::write(gateway.directory().join("users"), format!("bob:{QUICK}\n"))?;
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration reloaded", 2).await?;
    ensure!(status(ALICE).await? == 401 && status(BOB).await? == 200);

    std::fs::write(gateway.directory().join("users"), "bob:plain\n")?;
    gateway.signal(Signal::HUP)?;
    gateway.lines().until("configuration rejected", 1).await?;
    ensure!(status(BOB).await? == 200);
    ensure!(!gateway.lines().text().contains("plain\n"), "the log repeats no password");
    gateway.stop().await
}

#[tokio::test]
async fn a_rate_limit_is_shared_by_all_workers() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("workers: 2")
        .top("filters: {rate: {rate_limit: {requests: 10, per: 1h, burst: 10, tell: always}}}")
        .listener("filters: [rate]")
        .before(&origin)
        .await?;
    let mut statuses = Vec::new();
    for _ in 0..30 {
        // Each request uses its own connection, which either worker may accept.
        statuses.push(gateway.exchange(&get("/", "")).await?.status);
    }
    ensure!(statuses.iter().filter(|status| **status == 200).count() == 10, "{statuses:?}");
    let refused = gateway.exchange(&get("/", "")).await?;
    let wait = refused.fields.text("retry-after").parse::<u64>()?;
    ensure!((300..=360).contains(&wait), "{refused:?}");
    ensure!(refused.fields.text("ratelimit-policy") == "\"default\";q=10;w=3600", "{refused:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_delay_applies_only_to_matching_requests() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("filters: {slow: {fault: {delay: {time: 400ms}, headers: {x-slow: 'yes'}}}}")
        .listener("filters: [slow]")
        .before(&origin)
        .await?;
    let begin = Instant::now();
    ensure!(gateway.exchange(&get("/", "X-Slow: yes\r\n")).await?.status == 200);
    let slow = begin.elapsed();
    ensure!(slow >= Duration::from_millis(400), "{slow:?}");
    let begin = Instant::now();
    ensure!(gateway.exchange(&get("/", "X-Slow: no\r\n")).await?.status == 200);
    ensure!(begin.elapsed() < slow, "{:?} and {slow:?}", begin.elapsed());
    gateway.stop().await
}

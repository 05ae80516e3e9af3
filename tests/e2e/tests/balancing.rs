//! Balancing across endpoints: cluster limits, priorities, zones, failover and slow start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::wire::{WireClient, get};
use tokio::net::TcpListener;

/// An origin that responds with its name, and a status that can be changed.
struct NamedOrigin {
    origin: TapOrigin,
    status: Arc<AtomicU16>,
}

impl NamedOrigin {
    async fn new(name: &'static str, status: u16) -> Result<Self> {
        let status = Arc::new(AtomicU16::new(status));
        let told = Arc::clone(&status);
        let origin =
            TapOrigin::with(move |_| OriginScript::send(response(told.load(Ordering::Relaxed), "", name)))
                .await?;
        Ok(Self { origin, status })
    }

    fn answers(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Number of received requests, without health checks.
    fn served(&self) -> usize {
        self.origin.log().requests().iter().filter(|request| &*request.target != b"/healthz").count()
    }
}

async fn start(config: &str, words: &[(&str, &TapOrigin)]) -> Result<TestGateway> {
    let substitutes =
        words.iter().map(|(word, origin)| ((*word).to_owned(), origin.address().to_string())).collect();
    TestGateway::launch(config, Launch { substitutes, ..Launch::default() }).await
}

fn config(rule: &str, clusters: &str) -> String {
    format!(
        "workers: 2\nadmin: {{address: ADMIN}}\naccess_log: {{file: stdout, format: json}}\n\
         listeners: [{{address: LISTEN, routes: site}}]\nroutes: {{site: [{{{rule}}}]}}\nclusters:\n{clusters}"
    )
}

fn refused(limit: &str) -> String {
    format!("eddy_cluster_limit_reached_total{{cluster=\"one\",limit=\"{limit}\"}}")
}

/// Starts an origin that responds when the gate is open.
async fn gated(gate: &Gate) -> Result<TapOrigin> {
    let gate = gate.clone();
    TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::AwaitGate(gate.clone()),
            ScriptStep::Send(response(200, "", "late")),
        ])
    })
    .await
}

/// Returns a client whose request waits at the origin, which has received `before` earlier requests.
async fn waiting(gateway: &TestGateway, origin: &TapOrigin, before: usize) -> Result<WireClient> {
    let mut client = gateway.client().await?;
    client.send(get("/", "")).await?;
    origin.log().until_requests(before + 1).await?;
    Ok(client)
}

#[tokio::test]
async fn requests_beyond_the_limit_are_refused_by_all_workers() -> Result<()> {
    let gate = Gate::default();
    let origin = gated(&gate).await?;
    let site = config("cluster: one", "  one: {endpoints: [ORIGIN], limits: {requests: 2, retries: 0}}\n");
    let gateway = start(&site, &[("ORIGIN", &origin)]).await?;
    let mut first = waiting(&gateway, &origin, 0).await?;
    let mut second = waiting(&gateway, &origin, 1).await?;
    for turn in 1..=4_u32 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 503);
        gateway.until_metric(&refused("requests"), turn.into()).await?;
    }
    gateway.lines().until("\"reason\":\"limit_requests\"", 4).await?;
    let shown = gateway.admin("/clusters").await?.text();
    let shown: String = shown.split_whitespace().collect();
    ensure!(shown.contains("\"requests\":{\"max\":2,\"now\":2,\"refused\":4}"), "{shown}");
    // A gRPC call gets a gRPC status.
    let call =
        "POST /a.B/C HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\n\r\n";
    let told = gateway.exchange(call).await?;
    ensure!(told.status == 200 && told.fields.text("grpc-status") == "14", "{told:?}");
    gate.open();
    ensure!(
        first.read_get_response().await?.text() == "late"
            && second.read_get_response().await?.text() == "late"
    );
    gateway.until_metric("eddy_cluster_in_use{cluster=\"one\",limit=\"requests\"}", 0.0).await?;
    ensure!(gateway.exchange(get("/", "")).await?.text() == "late");
    // The limit survives a reload, and its usage is kept.
    gateway.write_config(&site.replace("requests: 2", "requests: 1"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    ensure!(gateway.exchange(get("/", "")).await?.text() == "late");
    ensure!(gateway.metric(&refused("requests")).await? >= 5.0);
    gateway.stop().await
}

#[tokio::test]
async fn a_client_with_one_request_at_a_time_keeps_a_limit_of_one() -> Result<()> {
    let origin = NamedOrigin::new("one", 200).await?;
    let site = config("cluster: one", "  one: {endpoints: [ORIGIN], limits: {requests: 1}}\n");
    let gateway = start(&site, &[("ORIGIN", &origin.origin)]).await?;
    for number in 0..200 {
        let answer = gateway.exchange(get("/", "")).await?;
        ensure!(answer.status == 200, "request {number}: {answer:?}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn links_beyond_the_limit_only_replace_idle_ones() -> Result<()> {
    let gate = Gate::default();
    let (quick, slow) = (NamedOrigin::new("quick", 200).await?, gated(&gate).await?);
    let site = config("cluster: one", "  one: {endpoints: [QUICK, SLOW], limits: {connections: 1}}\n")
        .replace("workers: 2", "workers: 1");
    let gateway = start(&site, &[("QUICK", &quick.origin), ("SLOW", &slow)]).await?;
    let mut waits = gateway.client().await?;
    waits.send(get("/", "")).await?;
    let is_slow = tokio::select! {
        asked = quick.origin.log().until_requests(1) => asked.map(|_| false)?,
        asked = slow.log().until_requests(1) => asked.map(|_| true)?,
    };
    if !is_slow {
        ensure!(waits.read_get_response().await?.text() == "quick");
        // The idle link to one endpoint is closed to allow a link to the other.
        waits.send(get("/", "")).await?;
    }
    slow.log().until_requests(1).await?;
    ensure!(gateway.exchange(get("/", "")).await?.status == 503);
    gateway.lines().until("\"reason\":\"limit_connections\"", 1).await?;
    gate.open();
    ensure!(waits.read_get_response().await?.text() == "late");
    for _ in 0..4 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    }
    ensure!(gateway.metric(&refused("connections")).await? == 1.0);
    gateway.stop().await
}

#[tokio::test]
async fn requests_waiting_for_a_link_are_limited() -> Result<()> {
    // The kernel accepts its connections, but no TLS handshake follows.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let one = format!(
        "  one: {{endpoints: ['{}'], tls: {{verify: none}}, connect_timeout: 5s, limits: {{pending: 1}}}}\n",
        silent.local_addr()?
    );
    let gateway = start(&config("cluster: one", &one), &[]).await?;
    let mut waits = gateway.client().await?;
    waits.send(get("/", "")).await?;
    gateway.until_metric("eddy_cluster_in_use{cluster=\"one\",limit=\"pending\"}", 1.0).await?;
    ensure!(gateway.exchange(get("/", "")).await?.status == 503);
    gateway.lines().until("\"reason\":\"limit_pending\"", 1).await?;
    drop(waits);
    gateway.stop().await
}

#[tokio::test]
async fn retries_beyond_the_limit_are_not_made() -> Result<()> {
    let busy = NamedOrigin::new("busy", 503).await?;
    let site = config(
        "cluster: one, retry: {attempts: 3, statuses: [503]}",
        "  one: {endpoints: [BUSY], ejection: {failures: 0}, limits: {retries: 1}, retry_budget: {floor: 1000}}\n",
    );
    let gateway = start(&site, &[("BUSY", &busy.origin)]).await?;
    // Limit of one: a request keeps its slot for all its retries.
    // It is free again before the client has the whole response, whichever worker gets the next request.
    for _ in 0..200 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 503);
    }
    ensure!(busy.served() == 800, "{}", busy.served());
    gateway.write_config(&site.replace("retries: 1", "retries: 0"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    ensure!(gateway.exchange(get("/", "")).await?.status == 503);
    ensure!(busy.served() == 801, "{}", busy.served());
    gateway.until_metric(&refused("retries"), 1.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn requests_fail_over_to_another_cluster_for_the_configured_reasons() -> Result<()> {
    let (first, second, third) = (
        NamedOrigin::new("first", 200).await?,
        NamedOrigin::new("second", 404).await?,
        NamedOrigin::new("third", 200).await?,
    );
    let clusters = "  one: {endpoints: [FIRST], ejection: {failures: 0}}\n  two: {endpoints: [SECOND]}\n  three: {endpoints: [THIRD]}\n  gone: {endpoints: [GONE]}\n";
    let gone = place::closed_address().to_string();
    let with = |rule: &str| config(rule, &clusters.replace("GONE", &gone));
    let words = [("FIRST", &first.origin), ("SECOND", &second.origin), ("THIRD", &third.origin)];
    let lists = [
        // The rule, the status of the first endpoint, and the status and sender of the client's response. Each rule
        // differs from the previous one, because an unchanged configuration would not be loaded again.
        ("cluster: gone, failover: [{cluster: two}, {cluster: three, when: not_found}]", 200, 200, "third"),
        ("cluster: gone, failover: [{cluster: two}, {cluster: three}]", 200, 404, "second"),
        ("cluster: one, failover: [{cluster: three}]", 500, 500, "first"),
        ("cluster: one, failover: [{cluster: three, when: [unreachable, not_found]}]", 404, 200, "third"),
        (
            "cluster: one, failover: [{cluster: gone, when: any}, {cluster: three, when: any}]",
            500,
            200,
            "third",
        ),
        ("cluster: one, failover: [{cluster: three, when: any}]", 403, 403, "first"),
        ("cluster: gone, retry: {attempts: 0}, failover: [{cluster: three}]", 200, 200, "third"),
        ("cluster: one, failover: [{cluster: three, when: [unreachable, not_found]}]", 500, 500, "first"),
    ];
    let gateway = start(&with(lists[0].0), &words).await?;
    for (number, (rule, first_answers, status, who)) in (0..).zip(lists) {
        first.answers(first_answers);
        if number > 0 {
            gateway.write_config(&with(rule))?;
            gateway.lines().until("configuration reloaded", number).await?;
        }
        let answer = gateway.exchange(get("/", "")).await?;
        ensure!((answer.status, &*answer.text()) == (status, who), "{rule}: {answer:?}");
    }
    // A request that an endpoint may have processed is not repeated; one that it has not processed is.
    let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
    first.answers(500);
    for (rule, status) in [
        ("cluster: one, failover: [{cluster: three, when: any}]", 500),
        ("cluster: gone, failover: [{cluster: three}]", 200),
    ] {
        gateway.write_config(&with(rule))?;
        gateway.lines().until("configuration reloaded", lists.len() + usize::from(status == 200)).await?;
        ensure!(gateway.exchange(post).await?.status == status, "{rule}");
    }
    let body = third.origin.log().requests().pop().context("a request")?.body;
    ensure!(&*body == b"body", "{body:?}");
    ensure!(gateway.metric("eddy_cluster_failovers_total{cluster=\"gone\"}").await? >= 5.0);
    gateway.stop().await
}

const CHECKED: &str =
    "health: {http: {path: /healthz}, interval: 100ms, timeout: 5s, unhealthy: 1, healthy: 1}";
const UNWELL: &str = "eddy_cluster_endpoints_unhealthy{cluster=\"one\"}";

/// Sends `requests` requests and returns how many each origin served.
async fn shares(gateway: &TestGateway, origins: &[&NamedOrigin], requests: usize) -> Result<Vec<usize>> {
    let before: Vec<usize> = origins.iter().map(|one| one.served()).collect();
    let mut client = gateway.client().await?;
    for _ in 0..requests {
        client.exchange(get("/", "")).await?;
    }
    Ok(origins.iter().zip(before).map(|(one, before)| one.served() - before).collect())
}

#[tokio::test]
async fn lower_priorities_get_the_load_that_higher_ones_cannot_serve() -> Result<()> {
    let (a, b, spare) = (
        NamedOrigin::new("a", 200).await?,
        NamedOrigin::new("b", 200).await?,
        NamedOrigin::new("spare", 200).await?,
    );
    let one = format!("  one: {{endpoints: [FIRST, SECOND, {{address: SPARE, priority: 1}}], {CHECKED}}}\n");
    let words = [("FIRST", &a.origin), ("SECOND", &b.origin), ("SPARE", &spare.origin)];
    let gateway = start(&config("cluster: one", &one), &words).await?;
    let all = [&a, &b, &spare];
    ensure!(shares(&gateway, &all, 20).await? == [10, 10, 0]);
    a.answers(503);
    gateway.until_metric(UNWELL, 1.0).await?;
    // One healthy endpoint of two takes 70 % of the requests.
    let got = shares(&gateway, &all, 400).await?;
    ensure!(got[0] == 0 && (80..160).contains(&got[2]), "{got:?}");
    b.answers(503);
    gateway.until_metric(UNWELL, 2.0).await?;
    ensure!(shares(&gateway, &all, 20).await? == [0, 0, 20]);
    // No healthy endpoint is left: all are used, and shown as unhealthy.
    spare.answers(503);
    gateway.until_metric(UNWELL, 3.0).await?;
    let got = shares(&gateway, &all, 60).await?;
    ensure!(got[0] > 0 && got[1] > 0, "{got:?}");
    gateway.stop().await
}

#[tokio::test]
async fn endpoints_in_the_own_zone_are_preferred() -> Result<()> {
    let (near, far) = (NamedOrigin::new("near", 200).await?, NamedOrigin::new("far", 200).await?);
    let one = format!(
        "  one: {{endpoints: [{{address: NEAR, zone: eu-1a}}, {{address: FAR, zone: eu-1b}}], {CHECKED}}}\nzone: eu-1a\n"
    );
    let words = [("NEAR", &near.origin), ("FAR", &far.origin)];
    let gateway = start(&config("cluster: one", &one), &words).await?;
    ensure!(shares(&gateway, &[&near, &far], 10).await? == [10, 0]);
    near.answers(503);
    gateway.until_metric(UNWELL, 1.0).await?;
    ensure!(shares(&gateway, &[&near, &far], 10).await? == [0, 10]);
    near.answers(200);
    gateway.until_metric(UNWELL, 0.0).await?;
    ensure!(shares(&gateway, &[&near, &far], 10).await? == [10, 0]);
    gateway.stop().await
}

#[tokio::test]
async fn an_added_endpoint_starts_with_a_tenth_of_its_share() -> Result<()> {
    let (old, new) = (NamedOrigin::new("old", 200).await?, NamedOrigin::new("new", 200).await?);
    let words = [("OLD", &old.origin), ("NEW", &new.origin)];
    let site = config("cluster: one", "  one: {endpoints: [OLD], slow_start: 1h}\n");
    let gateway = start(&site, &words).await?;
    ensure!(shares(&gateway, &[&old, &new], 10).await? == [10, 0]);
    gateway.write_config(&site.replace("[OLD]", "[OLD, NEW]"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    let got = shares(&gateway, &[&old, &new], 600).await?;
    ensure!((20..110).contains(&got[1]), "{got:?}");
    let shown = gateway.admin("/clusters").await?.text();
    ensure!(shown.contains("\"warming_percent\": 10"), "{shown}");
    // Without slow start, a new endpoint gets its full share.
    gateway.write_config(&site.replace("[OLD]", "[OLD, NEW]").replace(", slow_start: 1h", ""))?;
    gateway.lines().until("configuration reloaded", 2).await?;
    ensure!(shares(&gateway, &[&old, &new], 20).await? == [10, 10]);
    gateway.stop().await
}

//! Active health checks: probes, and their effect on balancing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{block, frame, kind};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::http2_origin::{FrameReply, Http2Origin, ReceivedFrame};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::secure::Authority;
use eddy_e2e::secure_origin::SecureOrigin;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::get;
use rustls::version::TLS13;

/// An origin with a configurable health status.
struct Patient {
    origin: TapOrigin,
    is_well: Arc<AtomicBool>,
}

impl Patient {
    async fn new(name: &'static str, is_well: bool) -> Result<Self> {
        let is_well = Arc::new(AtomicBool::new(is_well));
        let asked_well = Arc::clone(&is_well);
        let origin = TapOrigin::with(move |asked| {
            let is_check = &*asked.request.target == b"/healthz";
            let status = if is_check && !asked_well.load(Ordering::Relaxed) { 503 } else { 200 };
            OriginScript::send(response(status, "", name))
        })
        .await?;
        Ok(Self { origin, is_well })
    }

    fn set_healthy(&self, is_well: bool) {
        self.is_well.store(is_well, Ordering::Relaxed);
    }

    /// Number of received requests, without health checks.
    fn served(&self) -> usize {
        self.origin.log().requests().iter().filter(|request| &*request.target != b"/healthz").count()
    }
}

fn config(endpoints: &str, health: &str) -> String {
    format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners: [{{address: LISTEN, routes: site}}]\n\
         routes: {{site: [{{cluster: one}}]}}\nclusters:\n  one: {{endpoints: {endpoints}, health: {health}}}\n"
    )
}

async fn start(config: &str, endpoints: &[(&str, &TapOrigin)]) -> Result<TestGateway> {
    let substitutes =
        endpoints.iter().map(|(word, origin)| ((*word).to_owned(), origin.address().to_string())).collect();
    TestGateway::launch(config, Launch { substitutes, ..Launch::default() }).await
}

const UNWELL: &str = "eddy_cluster_endpoints_unhealthy{cluster=\"one\"}";
const QUICK: &str = "{http: {path: /healthz, host: check.test}, interval: 100ms, unhealthy: 2, healthy: 2}";

#[tokio::test]
async fn an_unhealthy_endpoint_gets_no_requests_until_it_recovers() -> Result<()> {
    let (a, b) = (Patient::new("a", true).await?, Patient::new("b", false).await?);
    let gateway =
        start(&config("[FIRST, SECOND]", QUICK), &[("FIRST", &a.origin), ("SECOND", &b.origin)]).await?;
    // The first probe decides.
    gateway.until_metric(UNWELL, 1.0).await?;
    for _ in 0..10 {
        ensure!(gateway.exchange(get("/", "")).await?.text() == "a");
    }
    ensure!(b.served() == 0);
    let shown = gateway.admin("/clusters").await?.text();
    ensure!(shown.contains("status 503"), "{shown}");
    let check = b.origin.log().until_requests(1).await?.pop().context("a check")?;
    ensure!(check.host() == b"check.test", "{check:?}");
    ensure!(check.fields.text("user-agent") == "eddy-health-check", "{check:?}");
    b.set_healthy(true);
    gateway.until_metric(UNWELL, 0.0).await?;
    for _ in 0..10 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    }
    ensure!(b.served() == 5, "{}", b.served());
    a.set_healthy(false);
    gateway.until_metric(UNWELL, 1.0).await?;
    ensure!(gateway.exchange(get("/", "")).await?.text() == "b");
    gateway.lines().until("health check: endpoint is healthy again", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn all_endpoints_are_used_when_too_few_are_healthy() -> Result<()> {
    let a = Patient::new("a", true).await?;
    let (b, c) = (Patient::new("b", true).await?, Patient::new("c", false).await?);
    let words = [("FIRST", &a.origin), ("SECOND", &b.origin), ("THIRD", &c.origin)];
    let gateway = start(&config("[FIRST, SECOND, THIRD]", QUICK), &words).await?;
    // Two of three are healthy: the third is not used.
    gateway.until_metric(UNWELL, 1.0).await?;
    b.set_healthy(false);
    gateway.lines().until("health check: endpoint is unhealthy", 2).await?;
    // One of three is healthy: all are used (panic mode), and the unhealthy ones are still shown as such.
    gateway.until_metric(UNWELL, 2.0).await?;
    let shown = gateway.admin("/clusters").await?.text();
    ensure!(shown.matches("is_used_anyway").count() == 2, "{shown}");
    ensure!(shown.matches("\"unhealthy\"").count() == 2, "{shown}");
    let before = (a.served(), b.served(), c.served());
    for _ in 0..9 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    }
    let after = (a.served() - before.0, b.served() - before.1, c.served() - before.2);
    ensure!(after == (3, 3, 3), "{after:?}");
    gateway.stop().await
}

#[tokio::test]
async fn health_state_outlives_a_reload() -> Result<()> {
    let (a, b) = (Patient::new("a", true).await?, Patient::new("b", false).await?);
    let words = [("FIRST", &a.origin), ("SECOND", &b.origin)];
    let gateway = start(&config("[FIRST, SECOND]", QUICK), &words).await?;
    gateway.until_metric(UNWELL, 1.0).await?;
    // A changed interval restarts the checks; the previous result holds until there are enough new ones.
    let slow = QUICK.replace("interval: 100ms", "interval: 10m");
    gateway.write_config(&config("[FIRST, SECOND]", &slow))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    b.set_healthy(true);
    for _ in 0..6 {
        ensure!(gateway.exchange(get("/", "")).await?.text() == "a");
    }
    // Without health checks all endpoints are used.
    gateway.write_config(
        &config("[FIRST, SECOND]", "{interval: 10m}").replace(", health: {interval: 10m}", ""),
    )?;
    gateway.lines().until("configuration reloaded", 2).await?;
    for _ in 0..6 {
        gateway.exchange(get("/", "")).await?;
    }
    ensure!(b.served() == 3, "{}", b.served());
    gateway.stop().await
}

#[tokio::test]
async fn a_check_can_be_connect_only_and_uses_tls_like_requests() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let authority = Authority::new("servers")?;
    let folder = place::TempDir::new("authority")?;
    std::fs::write(folder.join("ca.pem"), authority.pem())?;
    let good =
        SecureOrigin::before(origin.address(), &authority.issue(&["a.test"])?, None, &[&TLS13]).await?;
    let other =
        SecureOrigin::before(origin.address(), &authority.issue(&["b.test"])?, None, &[&TLS13]).await?;
    let gone = place::closed_address();
    let endpoints = format!("['{}', '{}', '{gone}']", good.address(), other.address());
    let tls = format!("{{server_name: a.test, authorities: {}}}", folder.join("ca.pem").display());
    let health = "{interval: 100ms, panic_percent: 0}";
    let gateway = start(&config(&endpoints, &format!("{health}, tls: {tls}")), &[]).await?;
    gateway.until_metric(UNWELL, 2.0).await?;
    let shown = gateway.admin("/clusters").await?.text();
    ensure!(shown.contains("TLS handshake failed: ") && shown.contains("connection failed: "), "{shown}");
    for _ in 0..6 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    }
    gateway.stop().await
}

/// A filter that sends the request on to the cluster in its path, and returns the outcome of that call.
const CALLER: &str = "filters:
  caller:
    lua:
      source: |
        function envoy_on_request(h)
          local head = {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}
          local got, body = h:httpCall(h:headers():get(':path'):sub(2), head, nil, 3000)
          h:respond({[':status'] = got[':status']}, body)
        end";

/// Answers with the head of a response whose body never ends, as fast as the flow-control windows allow.
fn endless(heard: &ReceivedFrame) -> FrameReply {
    let stream = heard.frame.stream;
    let data = |bytes: u32| -> Vec<u8> {
        vec![0; bytes as usize]
            .chunks(16 * 1024)
            .flat_map(|data| frame(kind::DATA, 0, stream, data))
            .collect()
    };
    match heard.frame.kind {
        kind::HEADERS => {
            let fields = block(&[(":status", "200"), ("content-type", "application/grpc")]);
            FrameReply::bytes([frame(kind::HEADERS, 4, stream, &fields), data(64 * 1024)].concat())
        }
        kind::WINDOW_UPDATE if stream > 0 => FrameReply::bytes(data(heard.frame.number(0))),
        _ => FrameReply::nothing(),
    }
}

#[tokio::test]
async fn health_checks_and_filter_calls_have_the_same_limits() -> Result<()> {
    let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(70_000));
    let long = TapOrigin::with(move |_| OriginScript::send(long.clone())).await?;
    let silent = TapOrigin::with(|_| OriginScript::steps([ScriptStep::AwaitGate(Gate::default())])).await?;
    let leaving = Http2Origin::with(&[], |heard| match heard.frame.kind {
        kind::HEADERS => FrameReply::last(frame(kind::GOAWAY, 0, 0, &[0; 8])),
        _ => FrameReply::nothing(),
    })
    .await?;
    let endless = Http2Origin::with(&[], endless).await?;
    let http = "health: {http: {path: /}, interval: 100ms, timeout: 1s, unhealthy: 1}";
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top(CALLER)
        .listener("filters: [caller]")
        .another_cluster(&format!("long: {{endpoints: [LONG], {http}}}"))
        .another_cluster(&format!("silent: {{endpoints: [SILENT], {http}}}"))
        .another_cluster(&format!("leaving: {{endpoints: [LEAVING], protocol: http2, {http}}}"))
        .another_cluster(&format!(
            "endless: {{endpoints: [ENDLESS], protocol: http2, {}}}",
            http.replace("http: {path: /}", "grpc: {}")
        ))
        .with("LONG", long.address())
        .with("SILENT", silent.address())
        .with("LEAVING", leaving.address())
        .with("ENDLESS", endless.address())
        .before(&origin)
        .await?;
    for (cluster, unhealthy, called) in [
        ("long", "the response head is too long", "503 upstream failure"),
        ("silent", "no response in time", "504 upstream request timeout"),
        ("leaving", "connection closed before a response", "503 upstream failure"),
        ("endless", "the response is too long", "503 upstream failure"),
    ] {
        gateway.lines().until(&format!("endpoint is unhealthy: {unhealthy}"), 1).await?;
        // The only endpoint of a cluster is used all the same.
        let answer = gateway.exchange(get(&format!("/{cluster}"), "")).await?;
        let answered = format!("{} {}", answer.status, answer.text());
        ensure!(answered == called, "{cluster}: {answered}");
    }
    gateway.stop().await
}

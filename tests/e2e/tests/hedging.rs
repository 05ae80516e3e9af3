//! Hedged requests: which response wins, which attempt is cancelled, and when no second attempt is sent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{ENDS, HEAD, block, frame, kind};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::http2_origin::{FrameReply, Http2Origin, ReceivedFrame};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::wire::{WireClient, get};
use tokio::net::TcpListener;

/// Two endpoints of one cluster that follow a common sequence of scripts, whichever of them gets the request.
struct Two {
    origins: [TapOrigin; 2],
}

impl Two {
    /// Starts endpoints that answer the first request with the first script, and so on; after the last script with
    /// `more`.
    async fn new(scripts: impl IntoIterator<Item = OriginScript>) -> Result<Self> {
        let scripts: Arc<[OriginScript]> = scripts.into_iter().collect();
        let asked = Arc::new(AtomicUsize::new(0));
        let start = || {
            let (scripts, asked) = (Arc::clone(&scripts), Arc::clone(&asked));
            // An origin chooses the script at the head and again at the whole request.
            let turns = Mutex::new(HashMap::new());
            TapOrigin::with(move |request| {
                let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
                let next = || asked.fetch_add(1, Ordering::Relaxed);
                let turn = *turns.entry((request.connection, request.number)).or_insert_with(next);
                scripts.get(turn).cloned().unwrap_or_else(|| says("more"))
            })
        };
        Ok(Self { origins: [start().await?, start().await?] })
    }

    fn served(&self) -> usize {
        self.origins.iter().map(|origin| origin.log().requests().len()).sum()
    }
}

/// Starts a gateway in front of two endpoints, with these additional keys for rule and cluster.
async fn before(two: &Two, rule: &str, cluster: &str) -> Result<TestGateway> {
    let [one, other] = &two.origins;
    start(&format!("ONE, OTHER], {cluster}"), rule, &[("ONE", one.address()), ("OTHER", other.address())])
        .await
}

async fn start(cluster: &str, rule: &str, words: &[(&str, std::net::SocketAddr)]) -> Result<TestGateway> {
    let config = format!(
        "workers: 1\nlimits: {{queue_delay: 0s}}\ndrain_timeout: 300ms\nadmin: {{address: ADMIN}}\n\
         access_log: {{file: stdout, format: json}}\nlisteners: [{{address: LISTEN, routes: site}}]\n\
         routes: {{site: [{{cluster: one, {rule}}}]}}\n\
         clusters: {{one: {{balance: round_robin, ejection: {{failures: 0}}, endpoints: [{cluster}}}}}\n"
    );
    let substitutes = words.iter().map(|(word, value)| ((*word).to_owned(), value.to_string())).collect();
    TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await
}

fn says(body: &str) -> OriginScript {
    OriginScript::send(response(200, "", body))
}

/// Script of an endpoint that never responds.
fn silent() -> OriginScript {
    OriginScript::steps([ScriptStep::AwaitEnd])
}

async fn hedges(gateway: &TestGateway) -> Result<(f64, f64)> {
    let sent = gateway.metric("eddy_cluster_hedges_total{cluster=\"one\"}").await?;
    Ok((sent, gateway.metric("eddy_cluster_hedges_won_total{cluster=\"one\"}").await?))
}

const SOON: &str = "hedge: {after: 40ms}";

#[tokio::test]
async fn the_hedged_attempt_responds_when_the_first_does_not() -> Result<()> {
    let two = Two::new([silent(), says("second"), says("third")]).await?;
    let gateway = before(&two, SOON, "limits: {requests: 10, retries: 1}").await?;
    let mut client = gateway.client().await?;
    ensure!(client.exchange(get("/", "")).await?.text() == "second");
    // The first attempt's link is closed, without counting as a failure of its endpoint.
    let [one, other] = &two.origins;
    let (first, second) = tokio::select! {
        ended = one.log().until_ended(1) => ended.map(|()| (one, other)),
        ended = other.log().until_ended(1) => ended.map(|()| (other, one)),
    }?;
    ensure!(first.log().requests().len() == 1);
    ensure!(hedges(&gateway).await? == (1.0, 1.0));
    ensure!(gateway.metric("eddy_cluster_failures_total{cluster=\"one\"}").await? == 0.0);
    for limit in ["requests", "retries"] {
        gateway
            .until_metric(&format!("eddy_cluster_in_use{{cluster=\"one\",limit=\"{limit}\"}}"), 0.0)
            .await?;
    }
    gateway.lines().until("\"attempts\":2", 1).await?;
    let line = gateway.lines().text();
    ensure!(line.contains(&format!("\"endpoint\":\"{}\"", second.address())), "{line}");
    // The client's connection stays open, and so does the second attempt's link.
    ensure!(client.exchange(get("/next", "")).await?.text() == "third");
    let shown = gateway.admin("/clusters").await?.text();
    ensure!(!shown.contains("\"active\":1"), "{shown}");
    gateway.stop().await
}

#[tokio::test]
async fn the_first_attempt_can_win_before_and_after_the_hedge_is_sent() -> Result<()> {
    let both = Gate::default();
    let two = Two::new([
        says("at once"),
        OriginScript::steps([
            ScriptStep::AwaitGate(both.clone()),
            ScriptStep::Send(response(200, "", "first")),
        ]),
        OriginScript::steps([ScriptStep::Open(both), ScriptStep::AwaitEnd]),
    ])
    .await?;
    let gateway = before(&two, SOON, "").await?;
    ensure!(gateway.exchange(get("/quick", "")).await?.text() == "at once");
    ensure!(hedges(&gateway).await? == (0.0, 0.0));
    ensure!(gateway.exchange(get("/", "")).await?.text() == "first");
    ensure!(hedges(&gateway).await? == (1.0, 0.0));
    gateway.lines().until("\"attempts\":2", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn if_one_attempt_fails_the_other_continues_and_if_both_fail_the_last_counts() -> Result<()> {
    let cut = |gate: &Gate| OriginScript::steps([ScriptStep::AwaitGate(gate.clone()), ScriptStep::Close]);
    let (second_came, first_cut) = (Gate::default(), Gate::default());
    let (third_came, both_came) = (Gate::default(), Gate::default());
    let two = Two::new([
        // The first attempt fails, the second gets a response.
        OriginScript::steps([
            ScriptStep::AwaitGate(second_came.clone()),
            ScriptStep::Open(first_cut.clone()),
            ScriptStep::Reset,
        ]),
        OriginScript::steps([
            ScriptStep::Open(second_came),
            ScriptStep::AwaitGate(first_cut),
            ScriptStep::Send(response(200, "", "second")),
        ]),
        // The second attempt fails, the first gets a response.
        OriginScript::steps([
            ScriptStep::AwaitGate(third_came.clone()),
            ScriptStep::Send(response(200, "", "first")),
        ]),
        OriginScript::steps([ScriptStep::Open(third_came), ScriptStep::Close]),
        // Both fail.
        cut(&both_came),
        OriginScript::steps([ScriptStep::Open(both_came), ScriptStep::Close]),
    ])
    .await?;
    // A request on a stale pooled link is retried anyway, once in addition to what `retry` allows.
    let gateway = before(&two, "hedge: {after: 40ms}, retry: {attempts: 0}", "").await?;
    ensure!(gateway.exchange(get("/", "")).await?.text() == "second");
    ensure!(gateway.exchange(get("/", "")).await?.text() == "first");
    let answer = gateway.exchange(get("/", "")).await?;
    ensure!(answer.status == 502, "{answer:?}");
    ensure!(two.served() == 6, "{}", two.served());
    gateway.lines().until("\"attempts\":2", 3).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_retryable_response_waits_for_a_better_one() -> Result<()> {
    let busy = || response(503, "", "busy");
    let (first, second, third) = (Gate::default(), Gate::default(), Gate::default());
    let two = Two::new([
        // The first gets a 503, the second does not.
        OriginScript::steps([
            ScriptStep::AwaitGate(first.clone()),
            ScriptStep::Send(busy()),
            ScriptStep::Open(second.clone()),
        ]),
        OriginScript::steps([
            ScriptStep::Open(first),
            ScriptStep::AwaitGate(second),
            ScriptStep::Send(response(200, "", "second")),
        ]),
        // The second gets a 503, the first does not.
        OriginScript::steps([
            ScriptStep::AwaitGate(third.clone()),
            ScriptStep::Send(response(200, "", "first")),
        ]),
        OriginScript::steps([ScriptStep::Send(busy()), ScriptStep::Open(third)]),
        // Both get a 503.
        OriginScript::steps([ScriptStep::Pause(Duration::from_millis(300)), ScriptStep::Send(busy())]),
        OriginScript::steps([ScriptStep::Pause(Duration::from_millis(300)), ScriptStep::Send(busy())]),
    ])
    .await?;
    let gateway = before(&two, "hedge: {after: 40ms}, retry: {attempts: 1, statuses: [503]}", "").await?;
    ensure!(gateway.exchange(get("/", "")).await?.text() == "second");
    ensure!(gateway.exchange(get("/", "")).await?.text() == "first");
    ensure!(gateway.exchange(get("/", "")).await?.text() == "busy");
    gateway.lines().until("\"attempts\":2", 3).await?;
    gateway.stop().await
}

/// Script of an endpoint that responds after a silence much longer than the hedging delay.
fn late() -> OriginScript {
    OriginScript::steps([
        ScriptStep::Pause(Duration::from_millis(300)),
        ScriptStep::Send(response(200, "", "late")),
    ])
}

async fn check_unhedged(gateway: &TestGateway, request: &str) -> Result<()> {
    let answer = gateway.exchange(request).await?;
    ensure!(answer.text() == "late", "{answer:?}");
    ensure!(hedges(gateway).await? == (0.0, 0.0), "{request}");
    Ok(())
}

#[tokio::test]
async fn requests_that_are_not_idempotent_are_sent_once() -> Result<()> {
    let two = Two::new((0..3).map(|_| late())).await?;
    let gateway = before(&two, SOON, "").await?;
    for request in [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab",
        "PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    ] {
        check_unhedged(&gateway, request).await?;
    }
    ensure!(two.served() == 3, "{}", two.served());
    gateway.stop().await
}

#[tokio::test]
async fn limits_and_budget_apply_and_no_endpoint_gets_two_attempts() -> Result<()> {
    for cluster in ["retry_budget: {percent: 0, floor: 0}", "limits: {retries: 0}", "limits: {requests: 1}"] {
        let two = Two::new([late()]).await?;
        let gateway = before(&two, SOON, cluster).await?;
        check_unhedged(&gateway, &get("/", "")).await?;
        ensure!(two.served() == 1, "{cluster}");
        gateway.stop().await?;
    }
    let origin = TapOrigin::with(|_| late()).await?;
    let gateway = start("ONE], limits: {retries: 0}", SOON, &[("ONE", origin.address())]).await?;
    check_unhedged(&gateway, &get("/", "")).await?;
    let refused =
        gateway.metric("eddy_cluster_limit_reached_total{cluster=\"one\",limit=\"retries\"}").await?;
    ensure!(refused == 0.0, "there was nothing to be refused");
    gateway.stop().await
}

#[tokio::test]
async fn a_pending_connect_is_hedged() -> Result<()> {
    // The kernel accepts its connections, but no TLS handshake follows.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let other = TcpListener::bind("127.0.0.1:0").await?;
    let words = [("ONE", silent.local_addr()?), ("OTHER", other.local_addr()?)];
    let cluster = "ONE, OTHER], tls: {verify: none}, connect_timeout: 1s";
    let gateway = start(cluster, SOON, &words).await?;
    let waits = tokio::spawn({
        let mut client = gateway.client().await?;
        async move { client.exchange(get("/", "")).await }
    });
    // The gateway connects to both, although neither has failed.
    let (one, two) = tokio::join!(silent.accept(), other.accept());
    let _held = (one?, two?);
    ensure!(hedges(&gateway).await? == (1.0, 0.0));
    ensure!(waits.await??.status == 504);
    gateway.lines().until("\"attempts\":2", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn several_hedged_attempts_are_sent_where_allowed() -> Result<()> {
    let start_one = |script: OriginScript| TapOrigin::with(move |_| script.clone());
    let origins =
        [start_one(silent()).await?, start_one(silent()).await?, start_one(says("one of three")).await?];
    let words: Vec<_> =
        ["ONE", "TWO", "THREE"].into_iter().zip(origins.iter().map(TapOrigin::address)).collect();
    // More than the default of ten retries per second that the budget always allows.
    let cluster = "ONE, TWO, THREE], retry_budget: {floor: 1000}";
    let gateway = start(cluster, "hedge: {after: 20ms, attempts: 2}", &words).await?;
    for _ in 0..6 {
        ensure!(gateway.exchange(get("/", "")).await?.text() == "one of three");
    }
    let (sent, won) = hedges(&gateway).await?;
    // Round robin: one of two consecutive requests starts at one of the other endpoints.
    gateway.lines().until("\"attempts\":3", 1).await?;
    ensure!(won >= 1.0 && (won..=12.0).contains(&sent), "{sent} {won}");
    gateway.stop().await
}

#[tokio::test]
async fn filters_see_one_request_and_one_response_with_hedging() -> Result<()> {
    let two = Two::new([silent(), says("second")]).await?;
    let [one, other] = &two.origins;
    let config = "\
workers: 1
limits: {queue_delay: 0s}
drain_timeout: 300ms
admin: {address: ADMIN}
filters:
  script:
    lua:
      source: |
        function envoy_on_request(handle) handle:logInfo('saw a request') end
        function envoy_on_response(handle) handle:logInfo('saw a response') end
listeners: [{address: LISTEN, routes: site, filters: [script]}]
routes: {site: [{cluster: one, hedge: {after: 40ms}, request_headers: {add: {x-tag: a}}}]}
clusters: {one: {endpoints: [ONE, OTHER]}}
";
    let substitutes = [("ONE", one), ("OTHER", other)]
        .map(|(word, origin)| (word.to_owned(), origin.address().to_string()))
        .to_vec();
    let gateway = TestGateway::launch(config, Launch { substitutes, ..Launch::default() }).await?;
    ensure!(gateway.exchange(get("/", "")).await?.text() == "second");
    gateway.lines().until("saw a response", 1).await?;
    ensure!(gateway.lines().count("saw a request") == 1 && gateway.lines().count("saw a response") == 1);
    let requests: Vec<_> = two.origins.iter().flat_map(|origin| origin.log().requests()).collect();
    ensure!(requests.len() == 2, "{requests:?}");
    let [first, second] = &*requests else { anyhow::bail!("{requests:?}") };
    ensure!(first.fields.text("x-tag") == "a" && second.fields.text("x-tag") == "a");
    ensure!(first.fields.text("x-request-id") == second.fields.text("x-request-id"));
    gateway.stop().await
}

#[tokio::test]
async fn a_client_abort_cancels_both_attempts() -> Result<()> {
    let two = Two::new([silent(), silent()]).await?;
    let gateway = before(&two, SOON, "limits: {requests: 10}").await?;
    let mut client: WireClient = gateway.client().await?;
    client.send(get("/", "")).await?;
    for origin in &two.origins {
        origin.log().until_requests(1).await?;
    }
    client.reset();
    for origin in &two.origins {
        origin.log().until_ended(1).await?;
    }
    gateway.until_metric("eddy_cluster_in_use{cluster=\"one\",limit=\"requests\"}", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn http2_streams_of_losing_attempts_are_reset() -> Result<()> {
    let turn = Arc::new(AtomicUsize::new(0));
    let start_one = || {
        let turn = Arc::clone(&turn);
        Http2Origin::with(&[], move |heard: &ReceivedFrame| {
            let stream = heard.frame.stream;
            if heard.frame.kind != kind::HEADERS || turn.fetch_add(1, Ordering::SeqCst) == 0 {
                return FrameReply::nothing();
            }
            let mut bytes = frame(kind::HEADERS, HEAD, stream, &block(&[(":status", "200")]));
            bytes.extend(frame(kind::DATA, ENDS & 1, stream, b"framed"));
            FrameReply::bytes(bytes)
        })
    };
    let (one, other) = (start_one().await?, start_one().await?);
    let words = [("ONE", one.address()), ("OTHER", other.address())];
    let gateway = start("ONE, OTHER], protocol: http2", SOON, &words).await?;
    let answer = gateway.exchange(get("/", "")).await?;
    ensure!(answer.status == 200 && answer.text() == "framed", "{answer:?}");
    let is_reset = |heard: &[ReceivedFrame]| heard.iter().any(|heard| heard.frame.kind == kind::RST_STREAM);
    let cancelled = tokio::select! {
        heard = one.until("a reset", is_reset) => heard?,
        heard = other.until("a reset", is_reset) => heard?,
    };
    let reset = cancelled.iter().find(|heard| heard.frame.kind == kind::RST_STREAM).context("a reset")?;
    ensure!(reset.frame.number(0) == 8, "CANCEL: {reset:?}");
    ensure!(hedges(&gateway).await? == (1.0, 1.0));
    // The link stays open.
    ensure!(gateway.exchange(get("/", "")).await?.text() == "framed");
    ensure!(gateway.exchange(get("/", "")).await?.text() == "framed");
    ensure!(gateway.metric("eddy_cluster_http2_connections_total{cluster=\"one\"}").await? == 2.0);
    gateway.stop().await
}

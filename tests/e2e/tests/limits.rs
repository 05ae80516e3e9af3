//! Every client-side limit and timeout is enforced, and answered as documented.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::{ClientEvent, ConnectionEnd, WireClient, WireResponse, within};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

async fn with_limits(origin: &TapOrigin, limits: &str) -> Result<TestGateway> {
    GatewayConfigBuilder::new().listener(&format!("limits: {limits}")).before(origin).await
}

async fn status_of(gateway: &TestGateway, raw: &str) -> Result<u16> {
    Ok(gateway.exchange(raw).await?.status)
}

#[tokio::test]
async fn the_length_of_a_head_is_limited() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{head_bytes: 1KiB}").await?;
    let head = |length: usize| {
        let fixed = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".len();
        format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(length - fixed))
    };
    assert_eq!(status_of(&gateway, &head(1024)).await?, 200);
    assert_eq!(status_of(&gateway, &head(1025)).await?, 431);
    assert_eq!(status_of(&gateway, &head(9000)).await?, 431);
    gateway.stop().await
}

#[tokio::test]
async fn an_endless_head_is_refused_before_it_ends() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{head_bytes: 4KiB}").await?;
    let mut client = gateway.client().await?;
    client.send(format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(5000))).await?;
    assert_eq!(client.read_get_response().await?.status, 431);
    client.end().await?;
    gateway.stop().await
}

#[tokio::test]
async fn the_number_of_fields_is_limited() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{fields: 8}").await?;
    let fields = |count: usize| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: 1\r\n".repeat(count - 1));
    assert_eq!(status_of(&gateway, &fields(8)).await?, 200);
    assert_eq!(status_of(&gateway, &fields(9)).await?, 431);
    gateway.stop().await
}

#[tokio::test]
async fn the_length_of_a_target_is_limited() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{target_bytes: 100}").await?;
    let target = |length: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "t".repeat(length - 1));
    assert_eq!(status_of(&gateway, &target(100)).await?, 200);
    assert_eq!(status_of(&gateway, &target(101)).await?, 414);
    gateway.stop().await
}

#[tokio::test]
async fn a_body_is_limited_by_its_length_and_by_its_bytes() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{body_bytes: 10}").await?;
    let body = |length: usize| {
        format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{}", "b".repeat(length))
    };
    let chunks = |count: usize| {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        format!("{head}{}0\r\n\r\n", "1\r\nb\r\n".repeat(count))
    };
    assert_eq!(status_of(&gateway, &body(10)).await?, 200);
    assert_eq!(status_of(&gateway, &body(11)).await?, 413);
    assert_eq!(status_of(&gateway, &chunks(10)).await?, 200);
    assert_eq!(status_of(&gateway, &chunks(11)).await?, 413);
    let whole: Vec<usize> = origin.log().requests().iter().map(|request| request.body.len()).collect();
    assert_eq!(whole, [10, 10], "no body beyond the limit arrives whole");
    gateway.stop().await
}

#[tokio::test]
async fn a_body_with_a_too_large_content_length_is_refused_before_it_arrives() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{body_bytes: 10}").await?;
    let mut client = gateway.client().await?;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n").await?;
    let answer = client.answer("POST").await?;
    ensure!(answer.interim.is_empty() && answer.response.status == 413, "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_connection_ends_after_its_last_request() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{requests_per_connection: 3}").await?;
    let mut client = gateway.client().await?;
    for number in 1..=3 {
        let answer = client.exchange(GET).await?;
        ensure!(
            answer.status == 200 && answer.is_keep_alive() == (number < 3),
            "request {number}: {answer:?}"
        );
    }
    assert_eq!(client.end().await?, (ConnectionEnd::Closed, Vec::new()));
    gateway.stop().await
}

#[tokio::test]
async fn the_number_of_connections_is_limited() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_limits(&origin, "{connections: 4}").await?;
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut client = gateway.client().await?;
        client.exchange(GET).await?;
        held.push(client);
    }
    let mut extra = gateway.client().await?;
    extra.send(GET).await?;
    // Either the new connection is refused or an idle one is closed for it; at most four are served.
    let served = matches!(within("a word", extra.next("GET")).await?, ClientEvent::Answer(answer) if answer.response.status == 200);
    let mut open = usize::from(served);
    for client in &mut held {
        if client.send(GET).await.is_ok() && client.read_get_response().await.is_ok() {
            open += 1;
        }
    }
    ensure!(open <= 4, "{open} connections are served");
    drop(held);
    drop(extra);
    gateway.until_metric("eddy_connections", 0.0).await?;
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    gateway.stop().await
}

/// The kernel spreads connections unevenly: a worker with more connections than another uses the room that the other
/// leaves.
#[tokio::test]
async fn workers_share_the_connection_limit() -> Result<()> {
    const ROOM: usize = 16;
    let origin = TapOrigin::start().await?;
    let limits = format!("limits: {{connections: {ROOM}}}");
    let gateway = GatewayConfigBuilder::new().top("workers: 2").top(&limits).before(&origin).await?;
    let mut held = Vec::new();
    for _ in 0..ROOM {
        let mut client = gateway.client().await?;
        client.exchange(GET).await?;
        held.push(client);
    }
    for client in &mut held {
        assert_eq!(client.exchange(GET).await?.status, 200);
    }
    // Whichever worker accepts the new connections, idle ones are closed for them.
    for _ in 0..ROOM {
        let mut newcomer = gateway.client().await?;
        assert_eq!(within("a place", newcomer.exchange(GET)).await??.status, 200);
        held.push(newcomer);
    }
    drop(held);
    gateway.until_metric("eddy_connections", 0.0).await?;
    gateway.stop().await
}

async fn with_timeouts(origin: &TapOrigin, timeouts: &str) -> Result<TestGateway> {
    GatewayConfigBuilder::new().listener(&format!("timeouts: {timeouts}")).before(origin).await
}

/// Awaits a response that must arrive after about `limit`, not before and not much later.
async fn response_after(limit: Duration, client: &mut WireClient, method: &str) -> Result<WireResponse> {
    let since = Instant::now();
    let answer = client.answer(method).await?.response;
    let took = since.elapsed();
    ensure!(
        took >= limit.mul_f64(0.6) && took < limit + SLACK,
        "{} after {took:?}, not {limit:?}",
        answer.status
    );
    Ok(answer)
}

#[tokio::test]
async fn a_head_must_arrive_in_time() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_timeouts(&origin, "{head: 300ms}").await?;
    let mut client = gateway.client().await?;
    client.send("GET / HTTP/1.1\r\nHost: ").await?;
    assert_eq!(response_after(Duration::from_millis(300), &mut client, "GET").await?.status, 408);
    client.end().await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_trickling_head_does_not_extend_its_timeout() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_timeouts(&origin, "{head: 400ms}").await?;
    let mut client = gateway.client().await?;
    let since = Instant::now();
    for byte in b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaa".chunks(1) {
        if since.elapsed() > Duration::from_secs(3) || client.send(byte).await.is_err() {
            break;
        }
        if !client.is_quiet_for(Duration::from_millis(50)).await {
            break;
        }
    }
    let took = since.elapsed();
    assert_eq!(client.read_get_response().await?.status, 408);
    ensure!(took < Duration::from_millis(400) + SLACK, "it took {took:?}");
    gateway.stop().await
}

#[tokio::test]
async fn an_idle_connection_is_closed_gracefully_after_its_timeout() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_timeouts(&origin, "{head: 300ms, idle: 300ms}").await?;
    for has_request in [false, true] {
        let mut client = gateway.client().await?;
        if has_request {
            client.exchange(GET).await?;
        }
        let since = Instant::now();
        let (end, rest) = client.end().await?;
        let took = since.elapsed();
        ensure!(
            end == ConnectionEnd::Closed && (rest.is_empty() || rest.starts_with(b"HTTP/1.1 408")),
            "{end:?} {rest:?}"
        );
        ensure!(
            took > Duration::from_millis(150) && took < Duration::from_millis(300) + SLACK,
            "after {took:?}"
        );
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_body_must_arrive_at_the_minimum_rate() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = with_timeouts(&origin, "{body_rate: 10KiB, body_grace: 300ms}").await?;
    let mut client = gateway.client().await?;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome").await?;
    let since = Instant::now();
    let answer = client.answer("POST").await?.response;
    ensure!(answer.status == 408 && since.elapsed() < Duration::from_secs(4), "{answer:?}");
    origin
        .log()
        .until("the end of the upload", |events| !events.iter().any(|event| event.request().is_some()))
        .await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_response_must_be_read_at_the_minimum_rate() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(response(200, "", vec![b'x'; 30_000_000]))).await?;
    let gateway = with_timeouts(&origin, "{body_rate: 10KiB, body_grace: 300ms}").await?;
    let mut client = gateway.client().await?;
    client.read_little()?;
    client.send(GET).await?;
    gateway.until_metric("eddy_faults_total{listener=", 1.0).await?;
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn an_exchange_must_end_in_time() -> Result<()> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin =
        TapOrigin::with(move |_| OriginScript::steps([ScriptStep::AwaitGate(waiting.clone())])).await?;
    let gateway = GatewayConfigBuilder::new()
        .listener("timeouts: {exchange: 400ms}")
        .rule("{match: {path: {exact: /rule}}, cluster: origin, timeout: 150ms}")
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    assert_eq!(response_after(Duration::from_millis(400), &mut client, "GET").await?.status, 504);
    let mut client = gateway.client().await?;
    client.send("GET /rule HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    assert_eq!(response_after(Duration::from_millis(150), &mut client, "GET").await?.status, 504);
    origin.log().until_ended(2).await?;
    gateway.stop().await
}

#[tokio::test]
async fn an_upstream_must_respond_in_time() -> Result<()> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin = TapOrigin::with(move |asked| {
        let wait = ScriptStep::AwaitGate(waiting.clone());
        match &asked.request.target[..] {
            b"/silent" => OriginScript::steps([wait]),
            _ => OriginScript::steps([
                ScriptStep::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec()),
                wait,
            ]),
        }
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .cluster("first_byte_timeout: 300ms")
        .cluster("read_idle_timeout: 300ms")
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    client.send("GET /silent HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    assert_eq!(response_after(Duration::from_millis(300), &mut client, "GET").await?.status, 504);
    let mut client = gateway.client().await?;
    client.send("GET /stops HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    // The response has begun: the cut must be visible.
    match within("the end", client.next("GET")).await? {
        ClientEvent::Ended { partial: Some(partial), .. } => {
            assert_eq!((partial.status, &partial.body[..]), (200, &b"abc"[..]))
        }
        other @ (ClientEvent::Answer(_) | ClientEvent::Ended { .. } | ClientEvent::Bad(_)) => {
            anyhow::bail!("{other:?}")
        }
    }
    gateway.stop().await
}

#[tokio::test]
async fn an_upstream_must_be_connected_in_time() -> Result<()> {
    let origin = TapOrigin::start().await?;
    // A listener with a full accept queue accepts no more connections and refuses none.
    let full = std::net::TcpListener::bind(eddy_e2e::place::any_port())?;
    let address = full.local_addr()?;
    rustix::net::listen(&full, 0)?;
    let _first = tokio::net::TcpStream::connect(address).await?;
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(tokio::spawn(tokio::net::TcpStream::connect(address)));
    }
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {exact: /full}}, cluster: full, retry: {attempts: 0}}")
        .another_cluster("full: {endpoints: [FULL], connect_timeout: 300ms}")
        .with("FULL", address)
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    client.send("GET /full HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    assert_eq!(response_after(Duration::from_millis(300), &mut client, "GET").await?.status, 504);
    for other in others {
        other.abort();
    }
    gateway.stop().await
}

#[tokio::test]
async fn exchanges_beyond_the_limit_are_shed_at_once() -> Result<()> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::AwaitGate(waiting.clone()),
            ScriptStep::Send(response(200, "", "ok")),
        ])
    })
    .await?;
    let gateway =
        GatewayConfigBuilder::new().top("limits: {exchanges: 4, queue_delay: 0s}").before(&origin).await?;
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut client = gateway.client().await?;
        client.send(GET).await?;
        held.push(client);
    }
    origin.log().until_requests(4).await?;
    let since = Instant::now();
    let answer = gateway.exchange(GET).await?;
    ensure!(answer.status == 503 && since.elapsed() < Duration::from_secs(1), "{answer:?}");
    gate.open();
    for client in &mut held {
        assert_eq!(client.read_get_response().await?.status, 200);
    }
    assert_eq!(gateway.exchange(GET).await?.status, 200);
    gateway.stop().await
}

/// Maximum delay of a response after its limit on a busy machine.
const SLACK: Duration = Duration::from_millis(1500);

//! A client disconnect leaves nothing behind (F25): its upstream exchange is cancelled and every gauge returns to zero.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{ENDS, Http2WireClient, kind, request};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::within;
use tokio::net::TcpListener;

const POST: &[u8] =
    b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";

async fn is_clean(gateway: &TestGateway) -> Result<()> {
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    gateway.until_metric("eddy_worker_connections", 0.0).await?;
    within("idle links only", async {
        // Link gauges are updated once per second.
        while gateway.metric("eddy_cluster_connections").await?
            > gateway.metric("eddy_cluster_connections_idle").await?
        {
            next_look().await;
        }
        anyhow::Ok(())
    })
    .await??;
    Ok(())
}

#[tokio::test]
async fn a_client_abort_at_any_request_byte_leaks_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for cut in 0..=POST.len() {
        for has_reset in [false, true] {
            let mut client = gateway.client().await?;
            client.send(&POST[..cut]).await?;
            if has_reset {
                client.reset();
            }
        }
    }
    is_clean(&gateway).await?;
    assert_eq!(gateway.exchange(POST).await?.text(), "POST /p\nabcde");
    let wrong = origin.log().requests().into_iter().find(|request| request.body != b"abcde");
    ensure!(wrong.is_none(), "a cut request arrived as a whole one: {wrong:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_client_abort_at_any_response_byte_leaks_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let request = "GET /answer HTTP/1.1\r\nHost: a\r\n\r\n";
    for _ in 0..100 {
        let mut client = gateway.client().await?;
        client.send(request).await?;
        client.fill().await;
        client.reset();
    }
    is_clean(&gateway).await?;
    assert_eq!(gateway.exchange(request).await?.status, 200);
    gateway.stop().await
}

#[tokio::test]
async fn a_client_abort_cancels_the_upstream_request_immediately() -> Result<()> {
    let gate = Gate::default();
    let waiting = gate.clone();
    let origin =
        TapOrigin::with(move |_| OriginScript::steps([ScriptStep::AwaitGate(waiting.clone())])).await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for number in 1..=10 {
        let mut client = gateway.client().await?;
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
        origin.log().until_requests(number).await?;
        let since = Instant::now();
        client.reset();
        origin.log().until_ended(number).await?;
        ensure!(since.elapsed() < PROMPT, "it took {:?}", since.elapsed());
    }
    is_clean(&gateway).await?;
    gateway.stop().await
}

#[tokio::test]
async fn an_upload_that_stops_is_cancelled_upstream() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for has_reset in [true, false] {
        let before = origin.log().look(<[_]>::len);
        let mut client = gateway.client().await?;
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome").await?;
        origin
            .log()
            .until("a head", |events| {
                events[before..].iter().any(|event| matches!(event, eddy_e2e::origin::TapEvent::Head { .. }))
            })
            .await?;
        let since = Instant::now();
        if has_reset {
            client.reset();
        } else {
            drop(client);
        }
        origin
            .log()
            .until("the end", |events| {
                events[before..].iter().any(|event| matches!(event, eddy_e2e::origin::TapEvent::Ended { .. }))
            })
            .await?;
        ensure!(since.elapsed() < PROMPT, "it took {:?}", since.elapsed());
    }
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    is_clean(&gateway).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_download_that_the_client_does_not_read_is_cancelled() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(response(200, "", vec![b'x'; 20_000_000]))).await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for number in 1..=5 {
        let mut client = gateway.client().await?;
        client.read_little()?;
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
        client.fill().await;
        client.reset();
        origin.log().until_ended(number).await?;
    }
    is_clean(&gateway).await?;
    gateway.stop().await
}

#[tokio::test]
async fn thousands_of_aborts_leak_nothing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().top("workers: 2").before(&origin).await?;
    gateway.exchange(POST).await?;
    let before = open_files(&gateway)?;
    let mut numbers = eddy_e2e::journal::Numbers::new(7);
    for _ in 0..3000 {
        let mut client = gateway.client().await?;
        let cut = usize::try_from(numbers.below(POST.len() as u64 + 1))?;
        client.send(&POST[..cut]).await?;
        if numbers.below(2) == 0 {
            client.reset();
        }
    }
    is_clean(&gateway).await?;
    // The last connections may still be in the accept queue of the socket, to be accepted and found closed.
    let (mut after, mut idle) = (0, 0.0);
    within("the end of the last connections", async {
        loop {
            idle = gateway.metric("eddy_cluster_connections_idle").await?;
            after = open_files(&gateway)?;
            if after.saturating_sub(before) as f64 <= idle + 4.0 {
                return anyhow::Ok(());
            }
            next_look().await;
        }
    })
    .await
    .with_context(|| format!("{before} open files became {after} with {idle} idle links"))??;
    gateway.stop().await
}

fn open_files(gateway: &TestGateway) -> Result<usize> {
    let mut count = 0;
    for child in gateway.children()? {
        count += std::fs::read_dir(format!("/proc/{}/fd", child.as_raw_nonzero()))?.count();
    }
    Ok(count)
}

/// Time limit for cancellation: 100 ms by contract, more for a busy machine.
const PROMPT: Duration = Duration::from_millis(1000);

#[tokio::test]
async fn a_client_abort_during_an_upstream_connect_is_noticed_immediately() -> Result<()> {
    let origin = TapOrigin::start().await?;
    // The kernel accepts its connections, but no TLS handshake follows.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    for hedge in ["", "hedge: {after: 30s}, "] {
        let gateway = GatewayConfigBuilder::new()
            .without_default_rule()
            .top("access_log: {file: stdout, format: json}")
            .listener("http2: {cleartext: true}")
            .rule(&format!("{{{hedge}cluster: silent}}"))
            .another_cluster(
                "silent: {endpoints: [SILENT], tls: {verify: none}, connect_timeout: 60s, limits: {pending: 9}}",
            )
            .with("SILENT", silent.local_addr()?)
            .before(&origin)
            .await?;
        let pending = "eddy_cluster_in_use{cluster=\"silent\",limit=\"pending\"}";
        let mut clients = Vec::new();
        for _ in 0..3 {
            let mut client = gateway.client().await?;
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
            clients.push(client);
        }
        let mut framed = Http2WireClient::connect(gateway.address(), &[]).await?;
        framed.frame(kind::HEADERS, ENDS, 1, &request("GET", "/", &[])).await?;
        gateway.until_metric(pending, 4.0).await?;
        // The clients reset, close, shut down their sending side, and reset their stream.
        clients.remove(0).reset();
        gateway.until_metric(pending, 3.0).await?;
        drop(clients.remove(0));
        gateway.until_metric(pending, 2.0).await?;
        clients[0].finish_sending().await?;
        gateway.until_metric(pending, 1.0).await?;
        framed.frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]).await?;
        gateway.until_metric(pending, 0.0).await?;
        gateway.lines().until("\"reason\":\"client_gone\"", 4).await?;
        drop((clients, framed));
        is_clean(&gateway).await?;
        gateway.stop().await?;
    }
    Ok(())
}

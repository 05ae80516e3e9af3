//! Responses that filters in Go stream themselves: pieces over time, as fast as the client takes them.

use std::fs;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::go::{self, Into};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::others::BUILD_TIME_MAX;
use eddy_e2e::place::{TempDir, tree};
use eddy_e2e::wait;

const GET: &str = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n";

/// Starts a gateway with the filter `events` of the examples. Returns `None` without Go.
async fn with_events(folder: &TempDir, settings: &str) -> Result<Option<TestGateway>> {
    let library = folder.join("filters.so");
    if go::build("examples/filters/go", "./bundle", Into::Library, &library)?.is_none() {
        return Ok(None);
    }
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners: [{{address: LISTEN, routes: site, filters: [events]}}]\n\
         filters: {{events: {{go: {{filter: events, library: '{}'}}, config: {settings}}}}}\n\
         routes: {{site: [{{match: {{path: {{prefix: /}}}}, respond: {{status: 404}}}}]}}\n",
        library.display()
    );
    TestGateway::start(&config, &[]).await.map(Some)
}

#[tokio::test]
async fn a_goroutine_streams_a_response() -> Result<()> {
    let folder = TempDir::new("filter-streams")?;
    let Some(gateway) = with_events(&folder, "{events: 5, every: 1ms}").await? else { return Ok(()) };
    for request in [GET, "GET /events HTTP/1.0\r\nHost: a\r\n\r\n"] {
        let answer = gateway.exchange(request).await?;
        let expected: String = (0..5).map(|n| format!("id: {n}\ndata: {n}\n\n")).collect();
        ensure!(answer.status == 200 && answer.text() == expected + "event: end\ndata:\n\n", "{answer:?}");
        ensure!(answer.fields.text("content-type") == "text/event-stream", "{answer:?}");
        ensure!(answer.fields.count("content-length") == 0, "{answer:?}");
    }
    // The connection is good for another request, and a response without a body has none.
    let mut client = gateway.client().await?;
    for _ in 0..2 {
        client.send(GET).await?;
        ensure!(client.read_get_response().await?.text().ends_with("event: end\ndata:\n\n"));
    }
    let answer = gateway.exchange("HEAD /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await?;
    ensure!(answer.status == 200 && answer.text().is_empty(), "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn events_arrive_before_the_next_one_is_made_and_end_with_the_client() -> Result<()> {
    let folder = TempDir::new("filter-streams-slow")?;
    let Some(gateway) = with_events(&folder, "{events: 2, every: 1h}").await? else { return Ok(()) };
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    client.until_unused(b"id: 0\ndata: 0\n\n\r\n").await?;
    let seen = String::from_utf8_lossy(client.unused());
    ensure!(seen.starts_with("HTTP/1.1 200 ") && !seen.contains("id: 1"), "{seen}");
    drop(client);
    // The filter's goroutine learns that its client has left.
    gateway.until_metric("eddy_filter_goroutines{filter=\"events\"}", 0.0).await?;
    ensure!(gateway.metric("eddy_filter_sent{filter=\"events\"}").await? == 1.0);
    gateway.stop().await
}

#[tokio::test]
async fn a_filter_is_as_fast_as_its_client() -> Result<()> {
    let folder = TempDir::new("filter-streams-full")?;
    let settings = "{events: 100000, every: 0s, pad: 60000}";
    let Some(gateway) = with_events(&folder, settings).await? else { return Ok(()) };
    let mut client = gateway.client().await?;
    client.send(GET).await?;
    let sent = async || gateway.metric("eddy_filter_sent{filter=\"events\"}").await;
    let full = wait::until_steady("the events that a client does not read", &sent).await?;
    // What the kernel buffers between two sockets, and no more: 6 GB in total would be sent.
    ensure!((1.0..2000.0).contains(&full), "{full} events were sent");
    while client.unused().len() < 20_000_000 {
        ensure!(client.ended().is_none(), "the stream ended");
        client.fill().await;
    }
    let more = wait::until_steady("the events after 20 MB were read", &sent).await?;
    ensure!(more > full && more < full + 2000.0, "{full} and {more} events were sent");
    drop(client);
    gateway.until_metric("eddy_filter_goroutines{filter=\"events\"}", 0.0).await?;
    gateway.stop().await
}

/// A filter for Envoy that responds with a stream: its local reply is `Running` while a goroutine injects data. Its body
/// hooks would see the data of tunnels in Envoy, so there are none.
#[tokio::test]
async fn a_filter_for_envoy_streams_a_response_and_lets_no_tunnel_pass() -> Result<()> {
    if !test_peers::all_present(&[test_peers::GO])? {
        return Ok(());
    }
    let folder = TempDir::new("filter-streams-envoy")?;
    fs::copy(tree().join("tests/e2e/data/envoy-stream/filter.go"), folder.join("filter.go"))?;
    fs::copy(tree().join("tests/e2e/data/envoy-stream/go.mod"), folder.join("go.mod"))?;
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners: [{{address: LISTEN, routes: site, filters: [it]}}]\n\
         filters: {{it: {{go: {{filter: stream, package: '{}'}}}}}}\n\
         routes: {{site: [{{match: {{path: /chat}}, cluster: origin}}, {{match: {{path: {{prefix: /}}}}, respond: {{status: 404, body: nothing}}}}]}}\n\
         clusters: {{origin: {{endpoints: [ORIGIN]}}}}\n",
        folder.path().display()
    );
    let origin = TapOrigin::with(|_| OriginScript::send(response(426, "", "no tunnel"))).await?;
    let substitutes = vec![("ORIGIN".to_owned(), origin.address().to_string())];
    let launch = Launch { ready_within: Some(BUILD_TIME_MAX), substitutes, ..Launch::default() };
    let gateway = TestGateway::launch(&config, launch).await?;
    let mut client = gateway.client().await?;
    for _ in 0..20 {
        client.send(GET).await?;
        let answer = client.read_get_response().await?;
        let expected: String = (0..10).map(|n| format!("data: {n}\n\n")).collect();
        ensure!(answer.status == 200 && answer.text() == expected, "{answer:?}");
        ensure!(answer.fields.text("content-type") == "text/event-stream", "{answer:?}");
    }
    let answer = gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answer.status == 404 && answer.text() == "nothing", "{answer:?}");
    let upgrade = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let answer = gateway.exchange(upgrade).await?;
    ensure!(answer.status == 426 && answer.text() == "no tunnel", "{answer:?}");
    let seen = origin.log().until_requests(1).await?;
    ensure!(seen.iter().all(|request| request.fields.count("upgrade") == 0), "{seen:?}");
    gateway.stop().await
}

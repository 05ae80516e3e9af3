//! Tunnels on HTTP/2 streams: WebSockets by extended `CONNECT` (RFC 8441), and `CONNECT` itself.

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{ENDS, HEAD, Http2WireClient, block, kind};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::wire::within;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::endpoint::{TunnelEndpoint, agreement, field, gateway, read_exactly, read_to_end};

fn websocket(more: &[(&str, &str)]) -> Vec<u8> {
    let fields = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "http"),
        (":path", "/chat?a"),
        (":authority", "a.test"),
        ("sec-websocket-version", "13"),
    ];
    block(&[&fields, more].concat())
}

/// Opens a WebSocket on stream 1. Returns the client, the endpoint's connection, and the head that the endpoint
/// received.
async fn open(
    gateway: &TestGateway,
    endpoint: &TunnelEndpoint,
) -> Result<(Http2WireClient, TcpStream, String)> {
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    client.frame(kind::HEADERS, HEAD, 1, &websocket(&[("sec-websocket-protocol", "chat")])).await?;
    let (mut server, head) = endpoint.asked().await?;
    let key = field(&head, "sec-websocket-key").context("a key")?.to_owned();
    server.write_all(agreement(&key).as_bytes()).await?;
    let answer = client.until("the answer", |frame| frame.kind == kind::HEADERS).await?;
    ensure!(answer.has_status(200) && !answer.ends(), "{answer:?}");
    Ok((client, server, head))
}

#[tokio::test]
async fn an_http2_websocket_is_an_http1_websocket_to_the_endpoint() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    let settings = client.until("settings", |frame| frame.kind == kind::SETTINGS && frame.flags == 0).await?;
    ensure!(settings.payload.chunks(6).any(|setting| setting == [0, 8, 0, 0, 0, 1]), "{settings:?}");
    drop(client);
    let (mut client, mut server, head) = open(&gateway, &endpoint).await?;
    ensure!(head.starts_with("GET /chat?a HTTP/1.1\r\nHost: a.test\r\n"), "{head}");
    for (name, value) in [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-protocol", "chat"),
        ("x-forwarded-for", "127.0.0.1"),
    ] {
        ensure!(field(&head, name) == Some(value), "{name}: {head}");
    }
    client.frame(kind::DATA, 0, 1, b"hello").await?;
    ensure!(read_exactly(&mut server, 5).await? == b"hello");
    server.write_all(b"and back").await?;
    let data = client.until("data", |frame| frame.kind == kind::DATA).await?;
    ensure!(data.payload == b"and back" && !data.ends());
    // The end of one direction does not end the other.
    client.frame(kind::DATA, 1, 1, b"bye").await?;
    ensure!(read_to_end(&mut server).await? == b"bye");
    server.write_all(b"last").await?;
    drop(server);
    let data = client.until("data", |frame| frame.kind == kind::DATA).await?;
    ensure!(data.payload == b"last");
    if !data.ends() {
        client.until("the end", |frame| frame.kind == kind::DATA && frame.ends()).await?;
    }
    gateway.lines().until("\"status\":200,\"bytes_in\":8,\"bytes_out\":12", 1).await?;
    gateway.until_metric("eddy_tunnels", 0.0).await?;
    // Each handshake has its own key.
    let (_client, _server, other) = open(&gateway, &endpoint).await?;
    ensure!(field(&other, "sec-websocket-key") != field(&head, "sec-websocket-key"));
    gateway.stop().await
}

#[tokio::test]
async fn early_data_waits_and_an_invalid_agreement_is_refused() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    for (answer, status) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", 502),
        ("HTTP/1.1 204 No\r\n\r\n", 502),
        (
            "HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\nevil",
            502,
        ),
        ("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", 403),
        ("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", 302),
    ] {
        let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
        // A client's key is ignored: HTTP/2 has no keys.
        let fields = websocket(&[("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")]);
        client.frame(kind::HEADERS, HEAD, 1, &fields).await?;
        client.frame(kind::DATA, 0, 1, b"early").await?;
        let (mut server, head) = endpoint.asked().await?;
        ensure!(field(&head, "sec-websocket-key") != Some("dGhlIHNhbXBsZSBub25jZQ=="), "{head}");
        let early = tokio::time::timeout(std::time::Duration::from_millis(100), server.read_u8()).await;
        ensure!(early.is_err(), "{early:?}");
        server.write_all(answer.as_bytes()).await?;
        let head = client.until("the answer", |frame| frame.kind == kind::HEADERS).await?;
        ensure!(!head.has_status(200) && !head.has_status(204), "{answer:?}: {head:?}");
        gateway.lines().until(&format!("\"status\":{status}"), 1).await?;
        let mut heard = Vec::new();
        let _ = within("the end", server.read_to_end(&mut heard)).await?;
        ensure!(heard.is_empty(), "{answer:?}: {:?} went up", String::from_utf8_lossy(&heard));
    }
    gateway.until_metric("eddy_tunnels_opened_total", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn unmatched_tunnels_are_refused_and_the_connection_continues() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", ", upgrades: []", endpoint.address()?).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    let connect = block(&[(":method", "CONNECT"), (":authority", "db.test:5432")]);
    let other = block(&[
        (":method", "CONNECT"),
        (":protocol", "connect-udp"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "a.test"),
    ]);
    for (stream, fields) in [(1, websocket(&[])), (3, connect), (5, other)] {
        client.frame(kind::HEADERS, HEAD, stream, &fields).await?;
        let answer =
            client.until("the answer", |frame| frame.kind == kind::HEADERS && frame.stream == stream).await?;
        ensure!(!answer.has_status(200), "{answer:?}");
    }
    gateway.lines().until("\"status\":501", 3).await?;
    let get = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a.test")];
    client.frame(kind::HEADERS, ENDS, 7, &block(&get)).await?;
    let (mut server, head) = endpoint.asked().await?;
    ensure!(head.starts_with("GET / "), "{head}");
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
    client.until("the answer", |frame| frame.has_status(200) && frame.stream == 7).await?;
    gateway.stop().await
}

#[tokio::test]
async fn connect_on_a_stream_leads_to_the_cluster() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", ", connect: open", endpoint.address()?).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    client
        .frame(kind::HEADERS, HEAD, 1, &block(&[(":method", "CONNECT"), (":authority", "db.test:5432")]))
        .await?;
    client.frame(kind::DATA, 0, 1, b"early").await?;
    let mut server = endpoint.accept().await?;
    let answer = client.until("the answer", |frame| frame.kind == kind::HEADERS).await?;
    ensure!(answer.has_status(200) && !answer.ends(), "{answer:?}");
    ensure!(read_exactly(&mut server, 5).await? == b"early");
    server.write_all(b"hello").await?;
    let data = client.until("data", |frame| frame.kind == kind::DATA).await?;
    ensure!(data.payload == b"hello");
    // A reset by the endpoint is forwarded as CONNECT_ERROR.
    server.set_zero_linger()?;
    drop(server);
    let reset = client.until("a reset", |frame| frame.kind == kind::RST_STREAM).await?;
    ensure!(reset.number(0) == 0xa, "{reset:?}");
    // A reset by the client resets the endpoint's connection.
    client
        .frame(kind::HEADERS, HEAD, 3, &block(&[(":method", "CONNECT"), (":authority", "db.test:5432")]))
        .await?;
    let mut server = endpoint.accept().await?;
    client.until("the answer", |frame| frame.kind == kind::HEADERS && frame.stream == 3).await?;
    client.frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]).await?;
    crate::endpoint::is_broken(&mut server).await?;
    gateway.stop().await
}

/// A client that reads little at a time makes the endpoint wait, and nothing is lost.
#[tokio::test]
async fn bulk_data_arrives_as_sent_within_the_windows() -> Result<()> {
    const BYTES: usize = 8 << 20;
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let (mut client, server, _) = open(&gateway, &endpoint).await?;
    let sent: Vec<u8> = (0..BYTES).map(|at| u8::try_from((at * 7 + at / 253) % 256).unwrap_or(0)).collect();
    let digest = Sha256::digest(&sent);
    let (mut server_in, mut server_out) = server.into_split();
    let (up, down) = (sent.clone(), sent);
    let heard = tokio::spawn(async move {
        let mut bytes = Vec::new();
        server_in.read_to_end(&mut bytes).await.map(|_| bytes)
    });
    let said = tokio::spawn(async move {
        server_out.write_all(&down).await?;
        server_out.shutdown().await
    });
    let mut received = Sha256::new();
    let (mut count, mut at, mut is_ended) = (0, 0, false);
    // Flow-control windows that eddy grants: for the stream, and for the connection.
    let mut windows = [64 << 10, 1 << 20];
    while !is_ended {
        let room = windows.into_iter().min().unwrap_or(0).min(16_384).min(BYTES - at);
        if room > 0 {
            let piece = up.get(at..at + room).context("a piece")?;
            at += room;
            client.frame(kind::DATA, u8::from(at == BYTES), 1, piece).await?;
            windows = windows.map(|window| window - room);
        }
        if room > 0 && at % (256 << 10) != 0 {
            continue;
        }
        let frame = client.next().await?.context("the end came")?;
        match frame.kind {
            kind::DATA => {
                received.update(&frame.payload);
                count += frame.payload.len();
                is_ended = frame.ends();
                let more = u32::try_from(frame.payload.len()).unwrap_or(0).to_be_bytes();
                if !frame.payload.is_empty() {
                    client.frame(kind::WINDOW_UPDATE, 0, 0, &more).await?;
                    client.frame(kind::WINDOW_UPDATE, 0, 1, &more).await?;
                }
            }
            kind::WINDOW_UPDATE => {
                let window = usize::from(frame.stream == 0);
                windows[window] += usize::try_from(frame.number(0))?;
            }
            kind::SETTINGS | kind::PING => {}
            other => anyhow::bail!("a frame of type {other} came: {frame:?}"),
        }
    }
    while at < BYTES {
        let room = windows.into_iter().min().unwrap_or(0).min(16_384).min(BYTES - at);
        if room == 0 {
            let frame = client.until("a window", |frame| frame.kind == kind::WINDOW_UPDATE).await?;
            windows[usize::from(frame.stream == 0)] += usize::try_from(frame.number(0))?;
            continue;
        }
        let piece = up.get(at..at + room).context("a piece")?;
        at += room;
        client.frame(kind::DATA, u8::from(at == BYTES), 1, piece).await?;
        windows = windows.map(|window| window - room);
    }
    within("the speaker", said).await???;
    let heard = within("the listener", heard).await???;
    ensure!(count == BYTES && received.finalize() == digest, "{count} bytes came down");
    ensure!(heard.len() == BYTES && Sha256::digest(&heard) == digest, "{} bytes came up", heard.len());
    gateway.stop().await
}

/// The handshake's head is validated like any head: client data cannot split it.
#[tokio::test]
async fn invalid_tunnel_heads_are_not_forwarded() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", ", connect: open", endpoint.address()?).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    let broken = [
        websocket(&[("upgrade", "websocket")]),
        websocket(&[("connection", "upgrade")]),
        websocket(&[("content-length", "0")]),
        block(&[
            (":method", "GET"),
            (":protocol", "websocket"),
            (":scheme", "http"),
            (":path", "/"),
            (":authority", "a"),
        ]),
        block(&[(":method", "CONNECT"), (":authority", "a:1"), (":path", "/")]),
        block(&[(":method", "CONNECT"), (":authority", "a:1\r\nx: y")]),
    ];
    for (fields, stream) in broken.iter().zip((1..).step_by(2)) {
        client.frame(kind::HEADERS, HEAD, stream, fields).await?;
        let reset = client.until("a reset", |frame| frame.kind == kind::RST_STREAM).await?;
        ensure!(reset.stream == stream && reset.number(0) == 1, "{reset:?}");
    }
    for (authority, stream) in ["a", "a:0", "a:1 HTTP/1.1", "u@a:1", ""].into_iter().zip((21..).step_by(2)) {
        client
            .frame(kind::HEADERS, HEAD, stream, &block(&[(":method", "CONNECT"), (":authority", authority)]))
            .await?;
        let answer =
            client.until("an answer", |frame| frame.kind == kind::HEADERS && frame.stream == stream).await?;
        ensure!(!answer.has_status(200), "{authority:?}: {answer:?}");
    }
    gateway.lines().until("\"status\":400", 5).await?;
    ensure!(gateway.metric("eddy_cluster_connects_total").await? == 0.0);
    gateway.stop().await
}

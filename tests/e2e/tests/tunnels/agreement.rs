//! Tunnel setup: no tunnel exists before both sides have agreed to the same protocol.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::wire::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::endpoint::{
    KEY, TunnelEndpoint, agreement, connect, field, gateway, pass, read_exactly, read_head, request, tunnel,
};

const NEXT: &str = "GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n";

#[tokio::test]
async fn no_bytes_are_sent_upstream_before_the_endpoint_accepts() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(format!("{}early{NEXT}", request("")).as_bytes()).await?;
    let (mut server, head) = endpoint.asked().await?;
    ensure!(field(&head, "upgrade") == Some("websocket") && field(&head, "connection") == Some("Upgrade"));
    ensure!(field(&head, "sec-websocket-key") == Some(KEY), "{head}");
    // Interim responses are not an agreement.
    server.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n").await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 103 "));
    let early = tokio::time::timeout(Duration::from_millis(300), server.read_u8()).await;
    ensure!(early.is_err(), "{early:?} came before the endpoint had agreed");
    server.write_all(agreement(KEY).as_bytes()).await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 101 "));
    let said = format!("early{NEXT}");
    ensure!(read_exactly(&mut server, said.len()).await? == said.as_bytes());
    pass(&mut server, &mut client, b"and back").await?;
    gateway.stop().await
}

#[tokio::test]
async fn bytes_after_a_refused_upgrade_are_a_request() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(format!("{}{NEXT}", request("")).as_bytes()).await?;
    let (mut server, _) = endpoint.asked().await?;
    server.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno").await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 403 "));
    ensure!(read_exactly(&mut client, 2).await? == b"no");
    // On the same link, because the response ended normally.
    let head = read_head(&mut server).await?;
    ensure!(
        head.starts_with("GET /smuggled HTTP/1.1\r\n") && field(&head, "x-forwarded-for").is_some(),
        "{head}"
    );
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 200 "));
    gateway.stop().await
}

#[tokio::test]
async fn an_invalid_101_response_is_refused() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let right = agreement(KEY);
    let other = agreement("AAAAAAAAAAAAAAAAAAAAAA==");
    let accept = field(&right, "sec-websocket-accept").context("an accept")?.to_owned();
    let cases = [
        "HTTP/1.1 101 Switching Protocols\r\n\r\n".to_owned(),
        right.replace("Connection: Upgrade\r\n", ""),
        right.replace("Upgrade: websocket\r\n", ""),
        right.replace("Upgrade: websocket", "Upgrade: h2c"),
        right.replace("Upgrade: websocket", "Upgrade: websocket, h2c"),
        right.replace("Upgrade: websocket\r\n", "Upgrade: websocket\r\nUpgrade: websocket\r\n"),
        right.replace(&format!("Sec-WebSocket-Accept: {accept}\r\n"), ""),
        right.replace("\r\n\r\n", &format!("\r\nSec-WebSocket-Accept: {accept}\r\n\r\n")),
        other,
        right.replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n"),
        right.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ];
    for case in cases {
        let mut client = connect(gateway.address()).await?;
        client.write_all(format!("{}secret", request("")).as_bytes()).await?;
        let (mut server, _) = endpoint.asked().await?;
        server.write_all(format!("{case}evil").as_bytes()).await?;
        let head = read_head(&mut client).await?;
        ensure!(head.starts_with("HTTP/1.1 502 "), "{case:?}: {head}");
        let mut heard = Vec::new();
        // The link may have ended with a reset, because unread bytes may have been left.
        let _ = within("the end", server.read_to_end(&mut heard)).await?;
        ensure!(heard.is_empty(), "{case:?}: {:?} went up", String::from_utf8_lossy(&heard));
        let _ = client.shutdown().await;
        // The bytes for the tunnel are not a complete request, so the client gets the end for an incomplete head.
        let mut rest = Vec::new();
        let _ = within("the end", client.read_to_end(&mut rest)).await?;
        let rest = String::from_utf8_lossy(&rest).into_owned();
        ensure!(!rest.contains("evil"), "{case:?}: {rest}");
    }
    gateway.until_metric("eddy_tunnels_opened_total", 0.0).await?;
    gateway.stop().await
}

/// Requests that offer an upgrade that is not allowed are normal requests, and the endpoint does not see the offer.
#[tokio::test]
async fn upgrades_that_are_not_allowed_are_not_forwarded() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let asks = |upgrade: &str, more: &str| {
        format!(
            "GET /chat HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: {upgrade}\r\n{more}\r\n"
        )
    };
    let key = format!("Sec-WebSocket-Key: {KEY}\r\n");
    let cases = [
        ("", asks("h2c", "")),
        ("", asks("foo", "")),
        ("", asks("websocket", "")),
        ("", asks("websocket", "Sec-WebSocket-Key: short\r\n")),
        ("", asks("websocket", &format!("{key}{key}"))),
        ("", request("").replace("GET ", "PUT ")),
        ("", request("").replace("HTTP/1.1", "HTTP/1.0")),
        ("", request("Content-Length: 3\r\n") + "abc"),
        ("", request("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\r\n"),
        ("", request("").replace("Connection: keep-alive, Upgrade", "Connection: keep-alive")),
        (", upgrades: []", request("")),
        (", upgrades: [foo/1]", request("")),
        (", upgrades: [foo/1]", asks("foo", "")),
    ];
    for (rule, text) in cases {
        let gateway = gateway("", rule, endpoint.address()?).await?;
        let mut client = connect(gateway.address()).await?;
        client.write_all(text.as_bytes()).await?;
        let (mut server, head) = endpoint.asked().await?;
        ensure!(
            field(&head, "upgrade").is_none() && field(&head, "connection").is_none(),
            "{text:?}: {head}"
        );
        // A 101 of an endpoint that was not asked for is rejected.
        server.write_all(format!("{}evil", agreement(KEY)).as_bytes()).await?;
        let head = read_head(&mut client).await?;
        ensure!(head.contains(" 502 "), "{rule} {text:?}: {head}");
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_first_protocol_allowed_by_the_rule_is_requested() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", ", upgrades: [spdy/3.1, tcp]", endpoint.address()?).await?;
    let mut client = connect(gateway.address()).await?;
    let text = "POST /exec HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: h2c, SPDY/3.1, tcp\r\nContent-Length: 0\r\n\r\n";
    client.write_all(text.as_bytes()).await?;
    let (mut server, head) = endpoint.asked().await?;
    ensure!(field(&head, "upgrade") == Some("SPDY/3.1"), "{head}");
    server.write_all(b"HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: spdy/3.1\r\n\r\n").await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 101 Go\r\n"));
    pass(&mut client, &mut server, b"\0\x01binary").await?;
    gateway.stop().await
}

/// Filters see the heads, and can refuse; they do not see the tunnelled bytes.
#[tokio::test]
async fn filters_see_the_heads_and_not_the_bytes() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let text = format!(
        "workers: 1\ndrain_timeout: 300ms\nadmin: {{address: ADMIN}}\nfilters:\n  marks: {{headers: {{request: {{set: {{x-seen: up}}}}, response: {{set: {{x-seen: down}}}}}}}}\nlisteners:\n  - {{address: LISTEN, name: it, routes: site, filters: [marks]}}\nroutes: {{site: [{{cluster: origin}}]}}\nclusters: {{origin: {{endpoints: ['{}']}}}}\n",
        endpoint.address()?
    );
    let gateway = eddy_e2e::gateway::TestGateway::start(&text, &[]).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(request("").as_bytes()).await?;
    let (mut server, head) = endpoint.asked().await?;
    ensure!(field(&head, "x-seen") == Some("up"), "{head}");
    server.write_all(agreement(KEY).as_bytes()).await?;
    let head = read_head(&mut client).await?;
    ensure!(head.starts_with("HTTP/1.1 101 ") && field(&head, "x-seen") == Some("down"), "{head}");
    pass(&mut client, &mut server, b"x-seen: nothing").await?;
    pass(&mut server, &mut client, b"x-seen: nothing").await?;
    drop((client, server));
    // Tunnels are counted while they are open.
    gateway.until_metric("eddy_tunnels", 0.0).await?;
    let (_client, _server) = tunnel(&gateway, &endpoint).await?;
    gateway.until_metric("eddy_tunnels", 1.0).await?;
    gateway.stop().await
}

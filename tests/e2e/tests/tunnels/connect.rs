//! `CONNECT`: refused unless a rule accepts it, then tunnelled to the rule's cluster.

use anyhow::{Result, ensure};
use eddy_e2e::wire::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::endpoint::{TunnelEndpoint, connect, field, gateway, pass, read_exactly, read_head, read_to_end};

const CONNECT: &str = "CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n";
const NEXT: &str = "GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n";

async fn ask(address: std::net::SocketAddr, text: &str) -> Result<TcpStream> {
    let mut client = connect(address).await?;
    client.write_all(text.as_bytes()).await?;
    Ok(client)
}

/// Reads a response and all bytes after it to the end of the connection.
async fn response_and_end(client: &mut TcpStream) -> Result<(String, String)> {
    let head = read_head(client).await?;
    let rest = String::from_utf8_lossy(&read_to_end(client).await?).into_owned();
    Ok((head, rest))
}

#[tokio::test]
async fn connect_is_refused_and_bytes_after_it_are_not_a_request() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let refused = [
        (CONNECT.to_owned(), "501"),
        (CONNECT.replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n"), "501"),
        (CONNECT.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n"), "501"),
        (CONNECT.replace("HTTP/1.1", "HTTP/1.0"), "501"),
        (CONNECT.replace("db.test:5432 HTTP", "db.test HTTP"), "400"),
        (CONNECT.replace("db.test:5432 HTTP", "/ HTTP"), "400"),
    ];
    for (text, status) in refused {
        let mut client = ask(gateway.address(), &format!("{text}{NEXT}")).await?;
        let (head, rest) = response_and_end(&mut client).await?;
        ensure!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{text:?}: {head}");
        ensure!(!rest.contains("HTTP/1.1"), "{text:?}: {rest}");
    }
    ensure!(gateway.metric("eddy_cluster_connects_total").await? == 0.0);
    gateway.stop().await
}

#[tokio::test]
async fn a_terminated_connect_tunnel_leads_to_the_cluster() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", ", connect: open", endpoint.address()?).await?;
    let mut client = ask(gateway.address(), &format!("{CONNECT}early{NEXT}")).await?;
    let mut server = endpoint.accept().await?;
    let head = read_head(&mut client).await?;
    ensure!(head.starts_with("HTTP/1.1 200 "), "{head}");
    for name in ["content-length", "transfer-encoding", "connection"] {
        ensure!(field(&head, name).is_none(), "{head}");
    }
    // The endpoint gets the client's bytes, without the head.
    let said = format!("early{NEXT}");
    ensure!(read_exactly(&mut server, said.len()).await? == said.as_bytes());
    pass(&mut server, &mut client, b"220 hello\r\n").await?;
    client.shutdown().await?;
    ensure!(read_to_end(&mut server).await?.is_empty());
    server.write_all(b"bye").await?;
    drop(server);
    ensure!(read_to_end(&mut client).await? == b"bye");
    gateway
        .lines()
        .until("\"method\":\"CONNECT\",\"host\":\"db.test:5432\",\"target\":\"db.test:5432\"", 1)
        .await?;
    ensure!(gateway.metric("eddy_tunnels_opened_total").await? == 1.0);
    // Other methods are normal requests.
    let mut client = ask(gateway.address(), NEXT).await?;
    let (mut server, head) = endpoint.asked().await?;
    ensure!(head.starts_with("GET /smuggled "), "{head}");
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 200 "));
    // A pooled link is not used for a tunnel.
    let mut client = ask(gateway.address(), CONNECT).await?;
    let mut fresh = endpoint.accept().await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 200 "));
    pass(&mut client, &mut fresh, b"fresh").await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_connect_tunnel_without_an_endpoint_fails() -> Result<()> {
    let gone = eddy_e2e::place::closed_address();
    let gateway = gateway("", ", connect: open", gone).await?;
    let mut client = ask(gateway.address(), &format!("{CONNECT}{NEXT}")).await?;
    let (head, rest) = response_and_end(&mut client).await?;
    ensure!(head.starts_with("HTTP/1.1 502 ") && !rest.contains("HTTP/1.1"), "{head}{rest}");
    gateway.stop().await
}

#[tokio::test]
async fn a_forwarded_connect_is_answered_by_the_endpoint() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", ", connect: pass", endpoint.address()?).await?;
    for (answer, is_opened) in [
        ("HTTP/1.1 200 Connection established\r\n\r\n", true),
        ("HTTP/1.1 204 No\r\n\r\n", true),
        ("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", false),
        ("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n", false),
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", false),
    ] {
        let mut client = ask(gateway.address(), &format!("{CONNECT}{NEXT}")).await?;
        let (mut server, head) = endpoint.asked().await?;
        ensure!(head.starts_with("CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n"), "{head}");
        server.write_all(answer.as_bytes()).await?;
        if is_opened {
            let head = read_head(&mut client).await?;
            ensure!(head.starts_with(answer.lines().next().unwrap_or_default()), "{head}");
            ensure!(read_exactly(&mut server, NEXT.len()).await? == NEXT.as_bytes());
            pass(&mut server, &mut client, b"hello").await?;
            continue;
        }
        let (head, rest) = response_and_end(&mut client).await?;
        let expected = match answer.get(9..12) {
            Some("403") => "HTTP/1.1 403 ",
            Some("302") => "HTTP/1.1 302 ",
            _ => "HTTP/1.1 502 ",
        };
        ensure!(
            head.starts_with(expected) && field(&head, "connection") == Some("close"),
            "{answer:?}: {head}"
        );
        ensure!(!rest.contains("HTTP/1.1") && !rest.contains("evil"), "{answer:?}: {rest}");
        // Nothing was forwarded, neither as a tunnel nor as another request.
        let mut byte = [0];
        let end = within("the end of the link", server.read(&mut byte)).await?;
        ensure!(!matches!(end, Ok(1..)), "{answer:?}: {end:?}");
    }
    gateway.until_metric("eddy_tunnels", 0.0).await?;
    gateway.stop().await
}

/// A local reply must not look like a tunnel.
#[tokio::test]
async fn a_local_reply_with_2xx_opens_no_tunnel() -> Result<()> {
    let config = "workers: 1\nadmin: {address: ADMIN}\nlisteners: [{address: LISTEN, name: it, routes: site}]\nroutes: {site: [{respond: {status: 200, body: ok}}]}\n";
    let gateway = eddy_e2e::gateway::TestGateway::start(config, &[]).await?;
    let mut client = ask(gateway.address(), &format!("{CONNECT}{NEXT}")).await?;
    let (head, rest) = response_and_end(&mut client).await?;
    ensure!(head.starts_with("HTTP/1.1 501 ") && !rest.contains("HTTP/1.1"), "{head}{rest}");
    gateway.stop().await
}

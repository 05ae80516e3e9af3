//! WebSockets on links shared with requests: extended `CONNECT` towards the endpoint (RFC 8441).

use anyhow::{Result, ensure};
use eddy_e2e::framed::{ENDS, HEAD, block, frame, kind};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::http2_origin::{FrameReply, Http2Origin};
use eddy_e2e::place;
use eddy_e2e::wire::{get, within};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::endpoint::{
    KEY, TunnelEndpoint, agreement, connect, field, is_broken, pass, read_exactly, read_head, read_to_end,
    request,
};
use crate::websocket::{EchoServer, converse};

/// Starts a gateway whose endpoint is its own second listener, over HTTP/2, which in turn forwards to `behind`.
async fn chain(behind: std::net::SocketAddr) -> Result<TestGateway> {
    let back = place::fixed_address()?;
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\naccess_log: {{file: stdout, format: json}}\nlisteners:\n  - {{address: LISTEN, name: front, routes: front}}\n  - {{address: '{back}', name: back, routes: back}}\nroutes:\n  front: [{{cluster: back, connect: pass}}]\n  back: [{{cluster: behind}}]\nclusters:\n  back: {{endpoints: ['{back}'], protocol: http2}}\n  behind: {{endpoints: ['{behind}']}}\n"
    );
    TestGateway::launch(&config, Launch::default()).await
}

async fn open(gateway: &TestGateway, endpoint: &TunnelEndpoint) -> Result<(TcpStream, TcpStream, String)> {
    let mut client = connect(gateway.address()).await?;
    client.write_all(request("Sec-WebSocket-Protocol: chat\r\n").as_bytes()).await?;
    let (mut server, head) = endpoint.asked().await?;
    let key = field(&head, "sec-websocket-key").unwrap_or_default().to_owned();
    server.write_all(agreement(&key).as_bytes()).await?;
    let answer = read_head(&mut client).await?;
    ensure!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    let accept = agreement(KEY);
    ensure!(field(&answer, "sec-websocket-accept") == field(&accept, "sec-websocket-accept"), "{answer}");
    ensure!(field(&answer, "upgrade") == Some("websocket"), "{answer}");
    Ok((client, server, head))
}

#[tokio::test]
async fn tunnels_share_a_link_with_requests() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = chain(endpoint.address()?).await?;
    let (mut client, mut server, head) = open(&gateway, &endpoint).await?;
    // Between the two gateways there is no key, and the second handshake has its own.
    ensure!(head.starts_with("GET /chat HTTP/1.1\r\nHost: a.test\r\n"), "{head}");
    ensure!(field(&head, "sec-websocket-key") != Some(KEY), "{head}");
    ensure!(field(&head, "sec-websocket-protocol") == Some("chat"), "{head}");
    let (mut other, mut others, _) = open(&gateway, &endpoint).await?;
    pass(&mut client, &mut server, b"hello").await?;
    pass(&mut other, &mut others, b"somebody else").await?;
    pass(&mut server, &mut client, b"and back").await?;
    // A request uses the same link meanwhile.
    let asked = async {
        let mut client = connect(gateway.address()).await?;
        client.write_all(get("/plain", "").as_bytes()).await?;
        read_head(&mut client).await
    };
    let served = async {
        let (mut server, head) = endpoint.asked().await?;
        server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await?;
        anyhow::Ok((server, head))
    };
    let (answer, served) = tokio::join!(asked, served);
    ensure!(answer?.starts_with("HTTP/1.1 200 ") && served?.1.starts_with("GET /plain "));
    ensure!(gateway.metric("eddy_cluster_http2_connections_total{cluster=\"back\"}").await? == 1.0);
    // Each direction ends separately.
    client.shutdown().await?;
    ensure!(read_to_end(&mut server).await?.is_empty());
    server.write_all(b"last").await?;
    drop(server);
    ensure!(read_to_end(&mut client).await? == b"last");
    // A reset is forwarded to the other side, and affects only this tunnel.
    let (mut third, mut thirds, _) = open(&gateway, &endpoint).await?;
    others.set_zero_linger()?;
    drop(others);
    is_broken(&mut other).await?;
    pass(&mut third, &mut thirds, b"still here").await?;
    gateway.until_metric("eddy_tunnels{listener=\"front\"}", 1.0).await?;
    Ok(())
}

#[tokio::test]
async fn websocket_programs_work_over_a_shared_link() -> Result<()> {
    let server = EchoServer::start().await?;
    let gateway = chain(server.address).await?;
    let (one, other) = (connect(gateway.address()).await?, connect(gateway.address()).await?);
    let (one, other) = tokio::join!(converse(one), converse(other));
    one?;
    other?;
    gateway.stop().await
}

#[tokio::test]
async fn a_refused_tunnel_is_a_normal_response() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = chain(endpoint.address()?).await?;
    for answer in [
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
    ] {
        let mut client = connect(gateway.address()).await?;
        client.write_all(request("").as_bytes()).await?;
        let (mut server, _) = endpoint.asked().await?;
        server.write_all(answer.as_bytes()).await?;
        let head = read_head(&mut client).await?;
        let expected = if answer.contains("403") { "HTTP/1.1 403 " } else { "HTTP/1.1 502 " };
        ensure!(head.starts_with(expected), "{head}");
    }
    // A `CONNECT` tunnel needs its own link, which this HTTP/2 cluster does not provide.
    let mut client = connect(gateway.address()).await?;
    client.write_all(b"CONNECT db.test:1 HTTP/1.1\r\nHost: db.test:1\r\n\r\n").await?;
    ensure!(read_head(&mut client).await?.starts_with("HTTP/1.1 501 "));
    Ok(())
}

/// Extended `CONNECT` is used only with endpoints that announce it: otherwise the offer is dropped.
#[tokio::test]
async fn only_endpoints_that_announce_extended_connect_get_it() -> Result<()> {
    for (settings, may_switch) in [(&b""[..], false), (&[0, 8, 0, 0, 0, 1][..], true)] {
        let origin = Http2Origin::with(settings, |heard| match heard.frame.kind {
            kind::HEADERS => {
                let answer = block(&[(":status", "200")]);
                let ends = heard.frame.ends();
                let mut bytes =
                    frame(kind::HEADERS, if ends { HEAD | ENDS } else { HEAD }, heard.frame.stream, &answer);
                if !ends {
                    bytes.extend(frame(kind::DATA, 0, heard.frame.stream, b"from the endpoint"));
                }
                FrameReply::bytes(bytes)
            }
            _ => FrameReply::nothing(),
        })
        .await?;
        let config = format!(
            "workers: 1\nadmin: {{address: ADMIN}}\nlisteners:\n  - {{address: LISTEN, routes: site}}\nroutes:\n  site: [{{cluster: it}}]\nclusters:\n  it: {{endpoints: ['{}'], protocol: http2}}\n",
            origin.address()
        );
        let gateway = TestGateway::launch(&config, Launch::default()).await?;
        let mut client = connect(gateway.address()).await?;
        client.write_all(request("").as_bytes()).await?;
        let head = read_head(&mut client).await?;
        if may_switch {
            ensure!(head.starts_with("HTTP/1.1 101 "), "{head}");
            ensure!(read_exactly(&mut client, 17).await? == b"from the endpoint");
            client.write_all(b"from the client").await?;
            let is_it = |heard: &eddy_e2e::http2_origin::ReceivedFrame| {
                heard.frame.kind == kind::DATA && heard.frame.payload == b"from the client"
            };
            origin.until("data", |all| all.iter().any(is_it)).await?;
            drop(client);
            within(
                "the reset or the end",
                origin.until("an end", |all| {
                    all.iter().any(|heard| {
                        heard.frame.kind == kind::RST_STREAM
                            || (heard.frame.kind == kind::DATA && heard.frame.ends())
                    })
                }),
            )
            .await??;
        } else {
            ensure!(head.starts_with("HTTP/1.1 200 "), "{head}");
            ensure!(field(&head, "upgrade").is_none(), "{head}");
        }
    }
    Ok(())
}

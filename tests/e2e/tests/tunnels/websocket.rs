//! WebSockets as used by programs, and the bytes that pass through them.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::place::TempDir;
use eddy_e2e::secure::Authority;
use eddy_e2e::secure_origin::SecureOrigin;
use eddy_e2e::wire::{within, within_for};
use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message};
use tokio_tungstenite::{accept_async, client_async};

use crate::endpoint::{TunnelEndpoint, agreement, connect, gateway, read_head, request, tunnel};

/// A WebSocket echo server, stopped on drop.
pub(crate) struct EchoServer {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl EchoServer {
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(mut socket) = accept_async(stream).await else { return };
                    while let Some(Ok(message)) = socket.next().await {
                        let is_said = message.is_text() || message.is_binary();
                        if is_said && socket.send(message).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Ok(Self { address, task })
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Exchanges messages with the server as a program would.
pub(crate) async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<()> {
    let (mut socket, response) = within("the handshake", client_async("ws://a.test/chat", stream)).await??;
    ensure!(response.status() == 101, "{response:?}");
    let large: Vec<u8> = (0..1_000_003_u32).map(|at| u8::try_from(at % 253).unwrap_or(0)).collect();
    for message in
        [Message::text("hello"), Message::binary(large), Message::text(""), Message::text("\u{fc}")]
    {
        socket.send(message.clone()).await?;
        let heard = within("an echo", socket.next()).await?.context("the end came")??;
        ensure!(heard == message, "{} bytes came of {}", heard.len(), message.len());
    }
    socket.send(Message::Ping(b"are you there".as_slice().into())).await?;
    let heard = within("a pong", socket.next()).await?.context("the end came")??;
    ensure!(heard == Message::Pong(b"are you there".as_slice().into()), "{heard:?}");
    let bye = CloseFrame { code: CloseCode::Away, reason: "bye".into() };
    socket.close(Some(bye.clone())).await?;
    let heard = within("the goodbye", socket.next()).await?.context("the end came")??;
    ensure!(heard == Message::Close(Some(bye)), "{heard:?}");
    ensure!(within("the end", socket.next()).await?.is_none());
    // TLS has its own end (close_notify), which may cross that of the other side.
    let _ = socket.get_mut().shutdown().await;
    Ok(())
}

#[tokio::test]
async fn websocket_programs_work_in_cleartext_and_over_tls() -> Result<()> {
    let server = EchoServer::start().await?;
    let authority = Authority::new("servers")?;
    let folder = TempDir::new("certificates")?;
    let issued = authority.issue(&["a.test"])?;
    issued.write(folder.path(), "a")?;
    std::fs::write(folder.join("ca.pem"), authority.pem())?;
    let secure = SecureOrigin::before(server.address, &issued, None, &[&TLS13, &TLS12]).await?;
    let config = "\
workers: 1
admin: {address: ADMIN}
access_log: {file: stdout, format: json}
listeners:
  - {address: LISTEN, name: plain, routes: site}
  - {address: SECURE, name: secure, routes: site, tls: {certificates: [{chain: DIRECTORY/a.crt, key: DIRECTORY/a.key}]}}
routes:
  site: [{clusters: [{cluster: plain}, {cluster: tls}]}]
clusters:
  plain: {endpoints: ['SERVER']}
  tls: {endpoints: ['BEHIND'], tls: {server_name: a.test, authorities: DIRECTORY/ca.pem}}
";
    let listen = eddy_e2e::place::any_port();
    let directory = folder.path().display().to_string();
    let words: [(&str, &dyn ToString); 4] = [
        ("SECURE", &listen),
        ("DIRECTORY", &directory),
        ("SERVER", &server.address),
        ("BEHIND", &secure.address()),
    ];
    let gateway = TestGateway::start(config, &words).await?;
    let listen = gateway.bound(listen).await?;
    let trust = authority.trust(None, &[&TLS13])?;
    // Endpoints with TLS and without are chosen at random; some of each are used.
    for _ in 0..12 {
        converse(connect(gateway.address()).await?).await?;
        let name = ServerName::try_from("a.test")?;
        let stream = connect(listen).await?;
        converse(within("TLS", TlsConnector::from(trust.clone()).connect(name, stream)).await??).await?;
    }
    ensure!(!secure.shaken().is_empty(), "none went to the endpoint with TLS");
    for listener in ["plain", "secure"] {
        gateway.until_metric(&format!("eddy_tunnels_opened_total{{listener=\"{listener}\"}}"), 12.0).await?;
        gateway.until_metric(&format!("eddy_tunnels{{listener=\"{listener}\"}}"), 0.0).await?;
        ensure!(
            gateway.metric(&format!("eddy_requests_total{{listener=\"{listener}\",class=\"1xx\"}}")).await?
                == 12.0
        );
    }
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    gateway.lines().until("\"status\":101", 24).await?;
    ensure!(gateway.metric("eddy_faults_total").await? == 0.0, "{}", gateway.lines().text());
    gateway.stop().await
}

/// Sends a pattern and returns its digest.
async fn send(mut to: impl AsyncWrite + Unpin, bytes: usize, seed: usize) -> Result<Vec<u8>> {
    let mut digest = Sha256::new();
    let mut sent = 0;
    while sent < bytes {
        let count = (bytes - sent).min(70_001);
        let piece: Vec<u8> = (sent..sent + count)
            .map(|at| u8::try_from((at * 31 + at / 251 + seed) % 256).unwrap_or(0))
            .collect();
        digest.update(&piece);
        to.write_all(&piece).await?;
        sent += count;
    }
    to.shutdown().await?;
    Ok(digest.finalize().to_vec())
}

/// Reads to the end and returns the number of bytes and their digest.
async fn receive(mut from: impl AsyncRead + Unpin) -> Result<(usize, Vec<u8>)> {
    let mut digest = Sha256::new();
    let mut bytes = 0;
    let mut piece = vec![0; 100_000];
    loop {
        let count = from.read(&mut piece).await?;
        if count == 0 {
            return Ok((bytes, digest.finalize().to_vec()));
        }
        digest.update(piece.get(..count).unwrap_or_default());
        bytes += count;
    }
}

#[tokio::test]
async fn sixty_four_mebibytes_arrive_as_sent_in_both_directions() -> Result<()> {
    const BYTES: usize = 64 << 20;
    let endpoint = TunnelEndpoint::start().await?;
    let authority = Authority::new("servers")?;
    let folder = TempDir::new("certificates")?;
    authority.issue(&["a.test"])?.write(folder.path(), "a")?;
    let tls = format!(
        "    tls: {{certificates: [{{chain: {0}/a.crt, key: {0}/a.key}}]}}\n",
        folder.path().display()
    );
    for listener in ["", tls.as_str()] {
        let gateway = gateway(listener, "", endpoint.address()?).await?;
        let (sent, received) = if listener.is_empty() {
            let (client, server) = tunnel(&gateway, &endpoint).await?;
            let ((server_in, server_out), (client_in, client_out)) =
                (server.into_split(), client.into_split());
            let ways = async {
                tokio::try_join!(
                    send(client_out, BYTES, 1),
                    send(server_out, BYTES, 2),
                    receive(server_in),
                    receive(client_in)
                )
            };
            let (up, down, upped, downed) =
                within_for(std::time::Duration::from_secs(60), "all", ways).await??;
            (vec![up, down], vec![upped, downed])
        } else {
            let trust = authority.trust(None, &[&TLS13])?;
            let name = ServerName::try_from("a.test")?;
            let stream = connect(gateway.address()).await?;
            let mut client = TlsConnector::from(trust).connect(name, stream).await?;
            client.write_all(request("").as_bytes()).await?;
            let (mut server, _) = endpoint.asked().await?;
            server.write_all(agreement(crate::endpoint::KEY).as_bytes()).await?;
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(within("the head", client.read_u8()).await??);
            }
            ensure!(head.starts_with(b"HTTP/1.1 101 "));
            let ((server_in, server_out), (client_in, client_out)) =
                (server.into_split(), tokio::io::split(client));
            let ways = async {
                tokio::try_join!(
                    send(client_out, BYTES, 1),
                    send(server_out, BYTES, 2),
                    receive(server_in),
                    receive(client_in)
                )
            };
            let (up, down, upped, downed) =
                within_for(std::time::Duration::from_secs(60), "all", ways).await??;
            (vec![up, down], vec![upped, downed])
        };
        for (sent, (bytes, digest)) in sent.iter().zip(&received) {
            ensure!(*bytes == BYTES && digest == sent, "{bytes} bytes came, not as they were sent");
        }
        gateway.lines().until(&format!("\"bytes_in\":{BYTES},\"bytes_out\":{BYTES}"), 1).await?;
        let spliced = gateway.metric("eddy_spliced_bytes_total").await?;
        ensure!((spliced > 100e6) == listener.is_empty(), "{spliced} bytes were spliced");
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn bytes_sent_with_the_101_response_are_not_lost() -> Result<()> {
    let endpoint = TunnelEndpoint::start().await?;
    let gateway = gateway("", "", endpoint.address()?).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(request("").as_bytes()).await?;
    let (mut server, head) = endpoint.asked().await?;
    ensure!(crate::endpoint::field(&head, "x-forwarded-for") == Some("127.0.0.1"), "{head}");
    let said = [agreement(crate::endpoint::KEY).as_bytes(), b"first"].concat();
    server.write_all(&said).await?;
    let head = read_head(&mut client).await?;
    ensure!(crate::endpoint::field(&head, "upgrade") == Some("websocket"), "{head}");
    ensure!(crate::endpoint::field(&head, "connection") == Some("Upgrade"), "{head}");
    ensure!(crate::endpoint::field(&head, "content-length").is_none(), "{head}");
    ensure!(crate::endpoint::read_exactly(&mut client, 5).await? == b"first");
    crate::endpoint::pass(&mut client, &mut server, b"second").await?;
    gateway.stop().await
}

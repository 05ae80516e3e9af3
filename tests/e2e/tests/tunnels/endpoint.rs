//! An endpoint played by the test, and the client side of a raw handshake.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::wire::within;
use eddy_http::websocket_accept;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// WebSocket key.
pub(crate) const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// An endpoint whose connections are handled by the test.
pub(crate) struct TunnelEndpoint {
    listener: TcpListener,
}

impl TunnelEndpoint {
    pub(crate) async fn start() -> Result<Self> {
        Ok(Self { listener: TcpListener::bind("127.0.0.1:0").await? })
    }

    pub(crate) fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    pub(crate) async fn accept(&self) -> Result<TcpStream> {
        let (stream, _) = within("a connection at the endpoint", self.listener.accept()).await??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Accepts a connection, reads a request head and returns it as received.
    pub(crate) async fn asked(&self) -> Result<(TcpStream, String)> {
        let mut stream = self.accept().await?;
        let head = read_head(&mut stream).await?;
        Ok((stream, head))
    }
}

/// Starts a gateway with this text under its listener, and these keys of the rule after the cluster.
pub(crate) async fn gateway(listener: &str, rule: &str, endpoint: SocketAddr) -> Result<TestGateway> {
    TestGateway::launch(&config(listener, rule, endpoint), Launch::default()).await
}

pub(crate) fn config(listener: &str, rule: &str, endpoint: SocketAddr) -> String {
    format!(
        "workers: 1\nadmin: {{address: ADMIN}}\ndrain_timeout: 5s\naccess_log: {{file: stdout, format: json}}\nlisteners:\n  - address: LISTEN\n    name: it\n    routes: site\n{listener}routes:\n  site: [{{cluster: origin{rule}}}]\nclusters:\n  origin: {{endpoints: ['{endpoint}']}}\n"
    )
}

pub(crate) async fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = within("a connection", TcpStream::connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Reads up to the empty line that ends a head.
pub(crate) async fn read_head(stream: &mut TcpStream) -> Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = within("a head", stream.read_u8()).await?;
        head.push(byte.with_context(|| format!("the end came in {:?}", String::from_utf8_lossy(&head)))?);
    }
    Ok(String::from_utf8(head)?)
}

pub(crate) async fn read_exactly(stream: &mut TcpStream, count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    let read = within("bytes", stream.read_exact(&mut bytes)).await?;
    read.with_context(|| format!("{count} bytes were due"))?;
    Ok(bytes)
}

pub(crate) async fn read_to_end(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    within("the end", stream.read_to_end(&mut bytes)).await??;
    Ok(bytes)
}

/// Sends text on one side and expects it on the other.
pub(crate) async fn pass(from: &mut TcpStream, to: &mut TcpStream, text: &[u8]) -> Result<()> {
    from.write_all(text).await?;
    let heard = read_exactly(to, text.len()).await?;
    ensure!(heard == text, "{:?} came of {text:?}", String::from_utf8_lossy(&heard));
    Ok(())
}

/// Waits until a side sees a reset.
pub(crate) async fn is_broken(stream: &mut TcpStream) -> Result<()> {
    let end = within("the break", stream.read(&mut [0])).await?.map_err(|error| error.kind());
    ensure!(end == Err(std::io::ErrorKind::ConnectionReset), "{end:?}");
    Ok(())
}

/// Returns a WebSocket request with more fields, each with its line end.
pub(crate) fn request(more: &str) -> String {
    format!(
        "GET /chat HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n{more}\r\n"
    )
}

/// Returns the server's response to a key.
pub(crate) fn agreement(key: &str) -> String {
    let accept = String::from_utf8_lossy(&websocket_accept(key.as_bytes())).into_owned();
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

/// Returns the value of a field in a head, case-insensitively.
pub(crate) fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (before, value) = line.split_once(':')?;
        before.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

/// Opens a tunnel and returns both ends.
pub(crate) async fn tunnel(
    gateway: &TestGateway,
    endpoint: &TunnelEndpoint,
) -> Result<(TcpStream, TcpStream)> {
    let mut client = connect(gateway.address()).await?;
    client.write_all(request("").as_bytes()).await?;
    let (mut server, _) = endpoint.asked().await?;
    server.write_all(agreement(KEY).as_bytes()).await?;
    let head = read_head(&mut client).await?;
    ensure!(head.starts_with("HTTP/1.1 101 "), "{head}");
    Ok((client, server))
}

//! HTTP/2 connections handled one by one: checks of a target's responses, and connections that stay open.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use h2::client::{self, SendRequest};
use http::{HeaderMap, Method, Request};
use tokio::net::TcpStream;
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::{book, pattern};

/// Sends one GET for 128 bytes and compares the response.
///
/// # Errors
/// A response that differs from the origin's.
pub fn check_get(target: SocketAddr) -> Result<()> {
    runtime()?.block_on(async {
        let mut connection = Http2LoadConnection::open(target).await?;
        connection.get().await
    })
}

/// Makes one gRPC call and compares its message, its trailers and its content type.
///
/// # Errors
/// A response that differs from the service's.
pub fn check_call(target: SocketAddr) -> Result<()> {
    runtime()?.block_on(async {
        let mut connection = Http2LoadConnection::open(target).await?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://{target}{}", book::SAY))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())?;
        let answer = connection.ask(request, Some(book::frame().into())).await?;
        ensure!(answer.status == 200, "a gRPC call was answered with status {}", answer.status);
        ensure!(answer.body == book::frame(), "a gRPC call was answered with another message");
        let status = answer.trailers.as_ref().and_then(|trailers| trailers.get("grpc-status"));
        ensure!(status.is_some_and(|status| status == "0"), "a gRPC call ended with {:?}", answer.trailers);
        Ok(())
    })
}

/// Open connections that have each carried one exchange and are then idle.
#[derive(Debug)]
pub struct IdleHttp2 {
    connections: Vec<Http2LoadConnection>,
    runtime: Runtime,
}

impl IdleHttp2 {
    /// Opens `count` connections to `target`, one after another.
    ///
    /// # Errors
    /// The first connection or exchange that fails.
    pub fn open(target: SocketAddr, count: usize) -> Result<Self> {
        let runtime = runtime()?;
        let connections = runtime.block_on(async {
            let mut connections = Vec::with_capacity(count);
            for index in 0..count {
                let name = || format!("connection {index} of {count}");
                let mut connection = Http2LoadConnection::open(target).await.with_context(name)?;
                connection.get().await.with_context(name)?;
                connections.push(connection);
            }
            anyhow::Ok(connections)
        })?;
        Ok(Self { connections, runtime })
    }

    /// Returns the number of connections that the target has closed since.
    pub fn closed_count(&self) -> usize {
        #[expect(clippy::disallowed_methods, reason = "tasks of closed connections end in this time")]
        self.runtime.block_on(async { tokio::time::sleep(MOMENT).await });
        self.connections.iter().filter(|connection| connection.end.is_finished()).count()
    }
}

#[derive(Debug)]
struct Http2LoadConnection {
    target: SocketAddr,
    /// The connection ends when no sender is left.
    sender: SendRequest<Bytes>,
    end: JoinHandle<Result<(), h2::Error>>,
}

struct Http2LoadResponse {
    status: u16,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
}

impl Http2LoadConnection {
    async fn open(target: SocketAddr) -> Result<Self> {
        let socket =
            TcpStream::connect(target).await.with_context(|| format!("cannot connect to {target}"))?;
        socket.set_nodelay(true)?;
        let (sender, connection) = client::handshake(socket).await?;
        Ok(Self { target, sender, end: tokio::spawn(connection) })
    }

    async fn get(&mut self) -> Result<()> {
        let request = Request::get(format!("http://{}/{GET_BYTES}", self.target)).body(())?;
        let answer = self.ask(request, None).await?;
        ensure!(answer.status == 200, "the response has status {}", answer.status);
        ensure!(answer.body == pattern::body(GET_BYTES), "the response has another body");
        Ok(())
    }

    async fn ask(&mut self, request: Request<()>, body: Option<Bytes>) -> Result<Http2LoadResponse> {
        timeout(IO_TIMEOUT, self.exchange(request, body)).await.context("no response")?
    }

    async fn exchange(&mut self, request: Request<()>, body: Option<Bytes>) -> Result<Http2LoadResponse> {
        std::future::poll_fn(|cx| self.sender.poll_ready(cx)).await?;
        let (response, mut stream) = self.sender.send_request(request, body.is_none())?;
        if let Some(body) = body {
            stream.send_data(body, true)?;
        }
        let response = response.await?;
        let status = response.status().as_u16();
        let (mut incoming, mut body) = (response.into_body(), Vec::new());
        while let Some(piece) = incoming.data().await {
            let piece = piece?;
            incoming.flow_control().release_capacity(piece.len())?;
            body.extend_from_slice(&piece);
        }
        Ok(Http2LoadResponse { status, body, trailers: incoming.trailers().await? })
    }
}

fn runtime() -> Result<Runtime> {
    runtime::Builder::new_current_thread().enable_all().build().context("cannot create an event loop")
}

const GET_BYTES: usize = 128;
const IO_TIMEOUT: Duration = Duration::from_secs(10);
/// Time to notice a closed connection.
const MOMENT: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::calls;

    #[test]
    fn the_service_echoes_its_request() {
        check_call(calls::start().unwrap()).unwrap();
    }

    #[test]
    fn a_wrong_response_of_the_target_is_reported() {
        let failure = check_get(calls::start().unwrap()).unwrap_err();
        assert_eq!(failure.to_string(), "the response has status 400");
    }

    #[test]
    fn connections_are_reused() {
        let runtime = runtime().unwrap();
        let target = calls::start().unwrap();
        let connection = runtime.block_on(Http2LoadConnection::open(target)).unwrap();
        let idle = IdleHttp2 { connections: vec![connection], runtime };
        assert_eq!(idle.closed_count(), 0);
    }
}

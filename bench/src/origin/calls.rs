//! A gRPC service over cleartext HTTP/2 that echoes the message of each call.

use std::net::{SocketAddr, TcpListener};
use std::thread;

use anyhow::{Context, Result};
use h2::RecvStream;
use h2::server::{self, SendResponse};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::net::TcpStream;
use tokio::runtime;

use crate::book;

/// Starts the service on a free port, on a thread of its own, for the lifetime of the process; returns its address.
///
/// # Errors
/// Returns an error if no address can be bound.
pub fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("cannot bind the gRPC service")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || runtime.block_on(accept(listener)));
    Ok(address)
}

async fn accept(listener: TcpListener) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(serve(socket));
    }
}

/// Serves a connection. An error ends only this connection; the load generator notices the missing responses.
async fn serve(socket: TcpStream) -> Result<(), h2::Error> {
    let mut connection = server::Builder::new().max_concurrent_streams(STREAMS_MAX).handshake(socket).await?;
    while let Some(call) = connection.accept().await {
        let (request, respond) = call?;
        tokio::spawn(answer(request, respond));
    }
    Ok(())
}

async fn answer(request: Request<RecvStream>, mut respond: SendResponse<bytes::Bytes>) -> Result<()> {
    let is_known = request.uri().path() == book::SAY;
    let mut body = request.into_body();
    let mut said = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        said.extend_from_slice(&piece);
    }
    if !is_known || said != book::frame() {
        respond.send_response(Response::builder().status(400).body(())?, true)?;
        return Ok(());
    }
    let head = Response::builder().header(CONTENT_TYPE, "application/grpc").body(())?;
    let mut stream = respond.send_response(head, false)?;
    stream.send_data(said.into(), false)?;
    stream.send_trailers(HeaderMap::from_iter([(STATUS, HeaderValue::from_static("0"))]))?;
    Ok(())
}

const STATUS: http::HeaderName = http::HeaderName::from_static("grpc-status");
/// More streams than any target has in flight on a connection.
const STREAMS_MAX: u32 = 1000;

//! hyper's server as a parser, on an in-memory connection.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::{Request, Response};

use super::seen::{ParserObservation, SeenMessage, latin1};

/// Parses all of `raw`.
pub(super) async fn read(raw: &[u8]) -> ParserObservation {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let collected = Arc::clone(&seen);
    let service = hyper::service::service_fn(move |request| collect(request, Arc::clone(&collected)));
    let connection = hyper::server::conn::http1::Builder::new()
        .half_close(true)
        .serve_connection(MemoryStream { unread: raw.to_vec(), at: 0 }, service);
    let ended = connection.await;
    let messages = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    ParserObservation { messages, error: ended.err().map(|error| error.to_string()).unwrap_or_default() }
}

async fn collect(
    request: Request<Incoming>,
    seen: Arc<Mutex<Vec<SeenMessage>>>,
) -> Result<Response<Empty<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let message = SeenMessage {
        method: head.method.as_str().into(),
        target: head.uri.to_string(),
        host: head.headers.get("host").map(|value| latin1(value.as_bytes())).unwrap_or_default(),
        body: body.to_vec(),
    };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    Ok::<_, Infallible>(Response::new(Empty::new())).map_err(|never| match never {})
}

/// In-memory connection whose peer has sent all its bytes and accepts any output.
struct MemoryStream {
    unread: Vec<u8>,
    at: usize,
}

impl Read for MemoryStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let length = buffer.remaining().min(self.unread.len() - self.at);
        buffer.put_slice(&self.unread[self.at..self.at + length]);
        self.at += length;
        Poll::Ready(Ok(()))
    }
}

impl Write for MemoryStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

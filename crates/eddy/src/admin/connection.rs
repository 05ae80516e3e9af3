//! One admin connection: reads requests, writes pages.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use eddy_http::{
    HeadFault, HeadLimits, HeadScanner, LocalReply, Method, RequestBody, RequestHead, Version, format_date,
    write_local_head,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::page::{Page, Pages};

/// Answers requests until the client closes, sends an invalid request, or asks for `Connection: close`.
///
/// # Errors
/// Errors of the connection, and `TimedOut` when a request head takes too long.
pub(super) async fn serve(mut stream: TcpStream, pages: Arc<dyn Pages>) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(1024);
    let mut head = RequestHead::new();
    loop {
        let Some(read) = timeout(HEAD_TIME_MAX, read_head(&mut stream, &mut buffer)).await? else {
            return Ok(());
        };
        let parsed = match read? {
            Ok(length) => head.parse(&buffer[..length], &HEAD_LIMITS).map(|()| length),
            Err(fault) => Err(fault),
        };
        let length = match parsed {
            Ok(length) => length,
            Err(fault) => {
                return answer(
                    &mut stream,
                    &refusal(fault.status(), fault.reason()),
                    AdminResponseOptions::LAST,
                )
                .await;
            }
        };
        // A request body is not read, so the connection is closed after the response.
        let has_body = !matches!(head.body, RequestBody::None | RequestBody::Length(0));
        let how = AdminResponseOptions {
            version: head.version,
            keep_alive: head.keep_alive && !has_body,
            is_head: head.method == Method::Head,
        };
        let query = head.query.map_or(b"".as_slice(), |query| query.of(&buffer));
        let page = if matches!(head.method, Method::Get | Method::Head) {
            pages.page(head.path.of(&buffer), query).unwrap_or_else(|| refusal(404, "page not found; see /"))
        } else {
            refusal(405, "only GET and HEAD are allowed")
        };
        answer(&mut stream, &page, how).await?;
        if !how.keep_alive {
            return Ok(());
        }
        buffer.drain(..length);
    }
}

/// Reads until `buffer` begins with a complete head; returns its length or why it is invalid. `None` at the end of the
/// stream.
async fn read_head(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> Option<io::Result<Result<usize, HeadFault>>> {
    let mut scanner = HeadScanner::new();
    loop {
        match scanner.scan(buffer, &HEAD_LIMITS) {
            Ok(None) => {}
            Ok(Some(length)) => return Some(Ok(Ok(length))),
            Err(fault) => return Some(Ok(Err(fault))),
        }
        match stream.read_buf(buffer).await {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct AdminResponseOptions {
    version: Version,
    keep_alive: bool,
    is_head: bool,
}

impl AdminResponseOptions {
    const LAST: Self = Self { version: Version::Http11, keep_alive: false, is_head: false };
}

async fn answer(stream: &mut TcpStream, page: &Page, how: AdminResponseOptions) -> io::Result<()> {
    let mut out = Vec::with_capacity(page.body.len() + 256);
    let date = format_date(eddy_io::unix_seconds());
    let reply = LocalReply {
        content_type: Some(page.content_type),
        body_len: page.body.len() as u64,
        keep_alive: how.keep_alive,
        version: how.version,
        date: &date,
        ..LocalReply::new(page.status)
    };
    write_local_head(&mut out, &reply);
    if !how.is_head {
        out.extend_from_slice(page.body.as_bytes());
    }
    timeout(WRITE_TIME_MAX, stream.write_all(&out)).await?
}

fn refusal(status: u16, reason: &str) -> Page {
    Page { status, content_type: "text/plain; charset=utf-8", body: format!("{reason}\n") }
}

/// Requests of metric scrapers and people are small.
const HEAD_LIMITS: HeadLimits =
    HeadLimits { head_bytes_max: 16 * 1024, fields_max: 64, target_bytes_max: 8192 };
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
const WRITE_TIME_MAX: Duration = Duration::from_secs(10);

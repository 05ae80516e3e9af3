//! Single requests on connections of their own, for readiness, reloads and metrics; never used for load figures.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use memchr::memmem;

/// A complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResponse {
    /// Status code.
    pub status: u16,
    /// Head, from the status line to the empty line.
    pub head: String,
    /// Body as received, including chunk framing.
    pub body: Vec<u8>,
}

/// Gets `path` from `target`.
///
/// # Errors
/// Returns an error if there is no connection, no response in time, or an invalid one.
pub fn get(target: SocketAddr, path: &str) -> Result<ProbeResponse> {
    get_with(target, path, "")
}

/// Gets `path` with further header lines, each with its line end.
///
/// # Errors
/// As [`get`].
pub fn get_with(target: SocketAddr, path: &str, fields: &str) -> Result<ProbeResponse> {
    let mut bytes = Vec::new();
    exchange(target, path, fields, &mut bytes).with_context(|| format!("no response from {target}"))?;
    read(&bytes).with_context(|| format!("cannot read the response of {target}"))
}

impl ProbeResponse {
    /// Returns the value of the first field `name`.
    pub fn field(&self, name: &str) -> Option<&str> {
        field_in(&self.head, name)
    }

    /// Returns the body without chunk framing; a body with invalid framing is cut off there.
    pub fn content(&self) -> Vec<u8> {
        if self.field("transfer-encoding").is_none() {
            return self.body.clone();
        }
        let (mut content, mut rest) = (Vec::new(), self.body.as_slice());
        while let Some((piece, after)) = chunk_in(rest) {
            content.extend_from_slice(piece);
            rest = after;
        }
        content
    }
}

/// Returns the first chunk, unless it is the last one, and the bytes after it.
fn chunk_in(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memmem::find(bytes, b"\r\n")?;
    let size = usize::from_str_radix(std::str::from_utf8(bytes.get(..at)?).ok()?, 16).ok()?;
    let (piece, after) = bytes.get(at + 2..)?.split_at_checked(size)?;
    (size > 0).then_some((piece, after.get(2..)?))
}

/// Returns the value of the first field `name` in a head.
pub fn field_in<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

fn exchange(target: SocketAddr, path: &str, fields: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&target, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {target}\r\nConnection: close\r\n{fields}\r\n");
    stream.write_all(request.as_bytes())?;
    let mut piece = vec![0; PIECE_BYTES];
    // Does not wait for the end of the connection: some targets delay closing until the client has closed.
    while !is_whole(bytes) && bytes.len() < ANSWER_BYTES_MAX {
        match stream.read(&mut piece)? {
            0 => break,
            count => bytes.extend_from_slice(piece.get(..count).unwrap_or_default()),
        }
    }
    Ok(())
}

/// Whether a response with a length or chunked encoding is complete.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((head, body)) = split(bytes) else { return false };
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if value("transfer-encoding:").is_some() {
        return body.ends_with(b"\r\n0\r\n\r\n");
    }
    value("content-length:")
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: usize| body.len() >= length)
}

fn read(bytes: &[u8]) -> Option<ProbeResponse> {
    let status = std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()?;
    let (head, body) = split(bytes)?;
    Some(ProbeResponse { status, head: String::from_utf8_lossy(head).into_owned(), body: body.to_vec() })
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(memmem::find(bytes, b"\r\n\r\n")? + 4)
}

const TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 64 << 20;
const PIECE_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined() {
        let answer =
            |head: &str, body: &str| ProbeResponse { status: 200, head: head.to_owned(), body: body.into() };
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(answer(chunked, "2\r\n<\n\r\n3\r\nabc\r\n0\r\n\r\n").content(), b"<\nabc");
        assert_eq!(answer(chunked, "9\r\nabc\r\n0\r\n\r\n").content(), b"");
        assert_eq!(answer("HTTP/1.1 200 OK\r\n\r\n", "2\r\nab").content(), b"2\r\nab");
    }

    #[test]
    fn responses_are_read() {
        let answer = read(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello").unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"hello"[..]));
        assert_eq!((answer.field("a"), answer.field("b")), (Some("b"), None));
        assert_eq!(read(b"HTTP/1.1 200 OK\r\nA: b\r\n"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn the_end_of_a_response_is_detected() {
        assert!(is_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"));
        assert!(is_whole(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\n\r\nuntil the end"));
    }
}

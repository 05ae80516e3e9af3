//! One request at a time over a connection of its own: for readiness, reloads and metrics, never for figures of load.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use memchr::memmem;

/// A response read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Body as sent.
    pub body: Vec<u8>,
}

/// Gets `path` from `target`.
///
/// # Errors
/// When there is no connection, no answer in time, or none that can be read.
pub fn get(target: SocketAddr, path: &str) -> Result<Answer> {
    let mut bytes = Vec::new();
    exchange(target, path, &mut bytes).with_context(|| format!("no answer from {target}"))?;
    read(&bytes).with_context(|| format!("cannot read the answer of {target}"))
}

fn exchange(target: SocketAddr, path: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&target, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {target}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    stream.take(ANSWER_BYTES_MAX).read_to_end(bytes)?;
    Ok(())
}

fn read(bytes: &[u8]) -> Option<Answer> {
    let status = std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()?;
    let head_bytes = memmem::find(bytes, b"\r\n\r\n")? + 4;
    Some(Answer { status, body: bytes.get(head_bytes..)?.to_vec() })
}

const TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let answer = read(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello").unwrap();
        assert_eq!(answer, Answer { status: 200, body: b"hello".to_vec() });
        assert_eq!(read(b"HTTP/1.1 200 OK\r\nA: b\r\n"), None);
        assert_eq!(read(b""), None);
    }
}

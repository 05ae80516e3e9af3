//! Origin server that records what it receives, and a client for arbitrary requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::DEADLINE;

/// Origin server that answers every request with a body and trailers.
pub(super) struct RecordingOrigin {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl RecordingOrigin {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for link in listener.incoming() {
                let (link, seen) = (link.unwrap(), Arc::clone(&kept));
                std::thread::spawn(move || serve(link, &seen));
            }
        });
        Self { address, seen }
    }

    /// Returns all bytes received since the last call.
    pub(super) fn take(&self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut *self.seen.lock().unwrap())).into_owned()
    }
}

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n0\r\nX-End: 1\r\n\r\n";

fn serve(mut link: TcpStream, seen: &Mutex<Vec<u8>>) {
    let mut held = Vec::new();
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = link.read(&mut bytes) {
        held.extend_from_slice(&bytes[..count]);
        while let Some(end) = end_of(&held) {
            seen.lock().unwrap().extend(held.drain(..end));
            if link.write_all(ANSWER.as_bytes()).is_err() {
                return;
            }
        }
    }
    seen.lock().unwrap().append(&mut held);
}

/// Returns the end of a request; requests here have no body or a chunked one.
fn end_of(bytes: &[u8]) -> Option<usize> {
    let find = |from: usize, what: &[u8]| {
        bytes
            .get(from..)?
            .windows(what.len())
            .position(|window| window == what)
            .map(|at| from + at + what.len())
    };
    let head = find(0, b"\r\n\r\n")?;
    if String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase().contains("transfer-encoding") {
        let last = find(head - 2, b"\r\n0\r\n")?;
        return find(last - 2, b"\r\n\r\n");
    }
    Some(head)
}

/// Response as text, and whether it is complete.
#[derive(Debug)]
pub(super) struct RawClientResponse {
    pub(super) status: u16,
    pub(super) text: String,
    pub(super) is_whole: bool,
}

/// Sends a request, which must ask for `Connection: close`, and reads to the end.
pub(super) fn send(address: SocketAddr, request: &str) -> RawClientResponse {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    // A request that is answered early may find the connection closed.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes);
    if let Err(error) = &end {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no answer in time: {request:.200}");
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let is_whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        if head.contains("chunked") {
            body.contains("0\r\n") && body.ends_with("\r\n\r\n")
        } else {
            length == Some(body.len())
        }
    });
    RawClientResponse { status, text, is_whole }
}

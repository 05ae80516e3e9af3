//! Far end of tunnels: echoes bytes, answers WebSocket messages, or sends a requested number of bytes.
//!
//! The first bytes of a connection select its mode: `ECHO`, `SEND` with a number and a line end, or a WebSocket
//! upgrade request.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::io::Errno;

use crate::pattern;

/// First bytes of a connection that wants its bytes echoed.
pub const ECHO: &[u8] = b"ECHO";
/// Length of a message in bytes.
pub const MESSAGE_BYTES: usize = 100;
/// A WebSocket upgrade request without its host; the key is that of RFC 6455 §1.3.
pub const WEBSOCKET: &str = "GET /websocket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const AGREEMENT: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Returns a binary WebSocket message of a client, masked with zeros so that its bytes are unchanged.
pub fn client_message() -> Vec<u8> {
    framed(0x80, &[0; 4])
}

/// Returns the same message as sent by a server.
pub fn server_message() -> Vec<u8> {
    framed(0, &[])
}

fn framed(mask_bit: u8, mask: &[u8]) -> Vec<u8> {
    const { assert!(MESSAGE_BYTES < 126, "the length stands in one byte") };
    let length = u8::try_from(MESSAGE_BYTES).unwrap_or_default();
    [&[0x82, mask_bit | length][..], mask, &pattern::body(MESSAGE_BYTES)].concat()
}

/// Starts serving on a free port, on threads of its own, for the lifetime of the process; returns the address.
///
/// # Errors
/// Returns an error if no address can be bound.
pub fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("cannot bind the far end of tunnels")?;
    let address = listener.local_addr()?;
    let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
    let talks = Talks::default();
    let (added, polled) = (talks.clone(), Arc::clone(&epoll));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (talks, epoll) = (added.clone(), Arc::clone(&epoll));
            // Each connection sends its first bytes at a time of its own, so each is read on its own thread.
            std::thread::spawn(move || greet(stream, &talks, &epoll));
        }
    });
    std::thread::spawn(move || talks.serve(&polled));
    Ok(address)
}

/// Reads the mode of a connection.
fn greet(mut stream: TcpStream, talks: &Talks, epoll: &OwnedFd) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(IO_TIMEOUT))?;
    let mut word = [0; 4];
    stream.read_exact(&mut word)?;
    let talk = match &word {
        b"ECHO" => Talk { stream, asked: None, pending: 0 },
        b"SEND" => return send(&mut stream),
        b"GET " => {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte)?;
                head.push(byte[0]);
            }
            if !head.windows(UPGRADE.len()).any(|part| part.eq_ignore_ascii_case(UPGRADE)) {
                // Readiness of a gateway is probed by plain requests too.
                return stream
                    .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            }
            stream.write_all(AGREEMENT)?;
            Talk { stream, asked: Some(client_message().len()), pending: 0 }
        }
        _ => return Err(ErrorKind::InvalidData.into()),
    };
    talk.stream.set_nonblocking(true)?;
    talks.add(talk, epoll)
}

/// Sends as many bytes of the sequence as the line says, repeating it from its beginning.
fn send(stream: &mut TcpStream) -> io::Result<()> {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        line.push(byte[0]);
    }
    let wanted = std::str::from_utf8(&line).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let mut left = wanted.ok_or(ErrorKind::InvalidData)?;
    let body = pattern::body(pattern::BODY_BYTES_MAX);
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(body.len());
        stream.write_all(body.get(..count).unwrap_or_default())?;
        left -= count as u64;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    // Waits until the peer has received everything.
    stream.read(&mut [0]).map(drop)
}

/// A connection on which messages are exchanged.
#[derive(Debug)]
struct Talk {
    stream: TcpStream,
    /// Length of the messages that are answered; `None` where bytes are echoed.
    asked: Option<usize>,
    /// Bytes received of the next message.
    pending: usize,
}

/// The connections on which messages are exchanged, by socket number.
#[derive(Clone, Debug, Default)]
struct Talks(Arc<Mutex<BTreeMap<u64, Talk>>>);

impl Talks {
    fn add(&self, talk: Talk, epoll: &OwnedFd) -> io::Result<()> {
        let key = u64::try_from(talk.stream.as_raw_fd()).unwrap_or_default();
        let mut talks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        epoll::add(epoll, &talk.stream, epoll::EventData::new_u64(key), epoll::EventFlags::IN)?;
        talks.insert(key, talk);
        Ok(())
    }

    fn serve(&self, epoll: &OwnedFd) {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let mut buffer = vec![0; READ_BYTES];
        let answer = server_message();
        loop {
            events.clear();
            match epoll::wait(epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            let mut talks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for event in &events {
                let key = event.data.u64();
                if talks.get_mut(&key).is_some_and(|talk| talk.turn(&mut buffer, &answer).is_err()) {
                    talks.remove(&key);
                }
            }
        }
    }
}

impl Talk {
    /// Reads once and answers; messages are so few and small that they always fit into the socket buffer.
    fn turn(&mut self, buffer: &mut [u8], answer: &[u8]) -> io::Result<()> {
        let count = match self.stream.read(buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(asked) = self.asked else {
            return self.stream.write_all(buffer.get(..count).unwrap_or_default());
        };
        self.pending += count;
        while self.pending >= asked {
            self.pending -= asked;
            self.stream.write_all(answer)?;
        }
        Ok(())
    }
}

const UPGRADE: &[u8] = b"upgrade: websocket";
const IO_TIMEOUT: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 64 * 1024;
const EVENTS_MAX: usize = 256;

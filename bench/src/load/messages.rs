//! Load on tunnels: bulk transfer, or many small messages in both directions.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::origin::echo;
use crate::pattern;

/// Requests `bytes` bytes through `target` and reads them; the edges of each read are compared with the expected
/// bytes.
///
/// # Errors
/// Returns an error if fewer or other bytes arrive.
pub fn pull(target: SocketAddr, bytes: u64) -> Result<()> {
    let mut stream = connect(target)?;
    stream.write_all(format!("SEND{bytes}\n").as_bytes())?;
    let sequence = pattern::body(pattern::BODY_BYTES_MAX);
    let mut buffer = vec![0; READ_BYTES];
    let mut at = 0_u64;
    loop {
        let count = stream.read(&mut buffer).with_context(|| format!("after {at} of {bytes} bytes"))?;
        if count == 0 {
            break;
        }
        let place =
            |offset: usize| usize::try_from((at + offset as u64) % sequence.len() as u64).unwrap_or(0);
        for offset in [0, count - 1] {
            ensure!(
                buffer.get(offset) == sequence.get(place(offset)),
                "a byte near {at} differs from the sent one"
            );
        }
        at += count as u64;
    }
    ensure!(at == bytes, "{at} of {bytes} bytes arrived");
    Ok(())
}

/// Messages that are exchanged on each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Messages of 100 bytes, echoed unchanged.
    Echo,
    /// WebSocket messages of 100 bytes.
    WebSocket,
}

/// Connections through a target with one message in flight each.
#[derive(Debug)]
pub struct Talkers {
    epoll: OwnedFd,
    talkers: Vec<Talker>,
    message: Vec<u8>,
    answer: Vec<u8>,
}

#[derive(Debug)]
struct Talker {
    stream: TcpStream,
    /// Bytes of the answer received so far.
    heard: usize,
    is_waiting: bool,
}

impl Talkers {
    /// Opens `count` tunnels.
    ///
    /// # Errors
    /// Returns an error if a tunnel cannot be opened or its first answer is wrong.
    pub fn open(target: SocketAddr, talk: Talk, count: usize) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut talkers = Vec::with_capacity(count);
        for index in 0..count {
            let mut stream = connect(target)?;
            match talk {
                Talk::Echo => stream.write_all(echo::ECHO)?,
                Talk::WebSocket => perform_handshake(&mut stream, target)?,
            }
            stream.set_nonblocking(true)?;
            epoll::add(&epoll, &stream, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
            talkers.push(Talker { stream, heard: 0, is_waiting: false });
        }
        let (message, answer) = match talk {
            Talk::Echo => (pattern::body(echo::MESSAGE_BYTES), pattern::body(echo::MESSAGE_BYTES)),
            Talk::WebSocket => (echo::client_message(), echo::server_message()),
        };
        Ok(Self { epoll, talkers, message, answer })
    }

    /// Keeps every tunnel busy for `window`, then waits for the last answers; returns the number of answered
    /// messages.
    ///
    /// # Errors
    /// Returns an error if an answer is wrong or missing.
    pub fn run(&mut self, window: Duration) -> Result<u64> {
        let begun = Instant::now();
        let (mut count, mut waiting) = (0, 0);
        for talker in &mut self.talkers {
            talker.say(&self.message)?;
            waiting += 1;
        }
        let mut events = Vec::with_capacity(self.talkers.len());
        let mut buffer = vec![0; 4096];
        while waiting > 0 {
            let left = (window + GRACE).saturating_sub(begun.elapsed());
            ensure!(!left.is_zero(), "{waiting} messages were not answered");
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&Timespec::try_from(left)?)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).context("cannot wait for events"),
            }
            let goes_on = begun.elapsed() < window;
            for event in &events {
                let index = usize::try_from(event.data.u64())?;
                let talker = self.talkers.get_mut(index).context("a tunnel that does not exist")?;
                if talker.hear(&mut buffer, &self.answer)? {
                    count += 1;
                    if goes_on { talker.say(&self.message)? } else { waiting -= 1 }
                }
            }
        }
        Ok(count)
    }
}

impl Talker {
    fn say(&mut self, message: &[u8]) -> Result<()> {
        self.is_waiting = true;
        // A message is so small that it always fits into the socket buffer.
        self.stream.write_all(message).context("cannot send a message")
    }

    /// Reads available bytes; returns whether the answer is complete.
    fn hear(&mut self, buffer: &mut [u8], answer: &[u8]) -> Result<bool> {
        let count = match self.stream.read(buffer) {
            Ok(0) => bail!("a tunnel was closed"),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error).context("a tunnel broke"),
        };
        let expected = answer.get(self.heard..self.heard + count);
        ensure!(
            self.is_waiting && expected == buffer.get(..count),
            "an echoed message differs from the sent \
                                                                     one"
        );
        self.heard += count;
        if self.heard < answer.len() {
            return Ok(false);
        }
        (self.heard, self.is_waiting) = (0, false);
        Ok(true)
    }
}

fn connect(target: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(target).with_context(|| format!("cannot connect to {target}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GRACE))?;
    Ok(stream)
}

fn perform_handshake(stream: &mut TcpStream, target: SocketAddr) -> Result<()> {
    stream.write_all(format!("{}Host: {target}\r\n\r\n", echo::WEBSOCKET).as_bytes())?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).context("the WebSocket upgrade was not accepted")?;
        head.push(byte[0]);
    }
    ensure!(head.starts_with(b"HTTP/1.1 101 "), "not a WebSocket: {}", String::from_utf8_lossy(&head));
    Ok(())
}

const READ_BYTES: usize = 256 * 1024;
/// Grace period for the last answers after a window, and timeout of every operation.
const GRACE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_are_echoed() {
        let far = echo::start().unwrap();
        for talk in [Talk::Echo, Talk::WebSocket] {
            let mut talkers = Talkers::open(far, talk, 3).unwrap();
            for _ in 0..2 {
                let count = talkers.run(Duration::from_millis(30)).unwrap();
                assert!(count > 3, "{talk:?}: {count}");
            }
        }
    }

    #[test]
    fn the_requested_number_of_bytes_arrives() {
        let far = echo::start().unwrap();
        for bytes in [1, 4096, (9 << 20) + 7] {
            pull(far, bytes).unwrap();
        }
    }
}

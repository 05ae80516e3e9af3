//! Clients that send requests, and often disconnect.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use eddy_upstream::Rng;

use super::book::{Book, word_of};

const CLIENTS: u64 = 12;
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs all clients with this many requests each.
pub(crate) fn clients(seed: u64, rounds: u64, address: SocketAddr, book: &Book) {
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                let mut client =
                    RandomClient { rng: Rng::new(seed ^ client << 40), address, book, stream: None };
                (0..rounds).for_each(|_| client.ask());
            });
        }
    });
}

struct RandomClient<'b> {
    rng: Rng,
    address: SocketAddr,
    book: &'b Book,
    stream: Option<TcpStream>,
}

impl RandomClient<'_> {
    fn ask(&mut self) {
        let number = self.rng.bits() >> 1;
        let word = word_of(number);
        let request = self.request(&word);
        let tally = &self.book.tally;
        tally.requests.fetch_add(1, Relaxed);
        let mut stream = self.stream.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(self.address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.set_write_timeout(Some(PATIENCE)).unwrap();
            stream.set_nodelay(true).unwrap();
            stream
        });
        let leaves = self.rng.below(12);
        if leaves == 0 {
            // In the middle of the request, or just behind it.
            let part = self.rng.index(request.len() + 1);
            let _ = stream.write_all(request.as_bytes().get(..part).unwrap_or_default());
            tally.resets.fetch_add(1, Relaxed);
            return;
        }
        if leaves == 1 {
            let _ = stream.write_all(request.as_bytes());
            tally.resets.fetch_add(1, Relaxed);
            return;
        }
        // A gateway that responds early may close before everything is written.
        let _ = stream.write_all(request.as_bytes());
        let mut held = Vec::new();
        let whole = loop {
            if let Some((_, end)) = message_ends(&held, true) {
                break Some(end);
            }
            let mut bytes = [0; 16 * 1024];
            match stream.read(&mut bytes) {
                Ok(count @ 1..) => held.extend_from_slice(&bytes[..count]),
                Ok(0) => break None,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.book.complain(format!("{number:x} waits for ever"));
                    break None;
                }
                _ => break None,
            }
            if leaves == 2 {
                self.book.look(number, "the first of an answer", &held);
                tally.resets.fetch_add(1, Relaxed);
                return;
            }
        };
        self.book.look(number, "an answer", &held);
        match whole {
            Some(end) => {
                tally.whole.fetch_add(1, Relaxed);
                if end < held.len() {
                    self.book.complain(format!("{number:x} got more than one answer"));
                }
                if field(&held, "connection").is_none_or(|value| value != "close") {
                    self.stream = Some(stream);
                }
            }
            None => {
                tally.cut.fetch_add(1, Relaxed);
            }
        }
    }

    fn request(&mut self, word: &str) -> String {
        let body = word.repeat(if self.rng.below(16) == 0 { 5000 } else { self.rng.index(100) });
        let end = if self.rng.below(8) == 0 { "Connection: close\r\n" } else { "" };
        let lines = format!(" /{word}?{word} HTTP/1.1\r\nHost: a\r\nX-Word: {word}\r\n{end}");
        match self.rng.below(3) {
            0 => format!("GET{lines}\r\n"),
            1 => format!("POST{lines}Content-Length: {}\r\n\r\n{body}", body.len()),
            _ if body.is_empty() => format!("PUT{lines}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            _ => format!(
                "PUT{lines}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\nX-Trailer: {word}\r\n\r\n",
                body.len()
            ),
        }
    }
}

/// Returns the value of a header.
pub(crate) fn field(bytes: &[u8], name: &str) -> Option<String> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").map_or(bytes, |end| &bytes[..end]);
    let text = String::from_utf8_lossy(head).into_owned();
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

/// Returns the ends of the head and of the whole message; `None` when more must come, or only the connection's end
/// marks it.
pub(crate) fn message_ends(bytes: &[u8], is_response: bool) -> Option<(usize, usize)> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    if is_response && bytes.get(9..12) == Some(b"204") {
        return Some((head, head));
    }
    if field(&bytes[..head], "transfer-encoding").is_some() {
        let mut at = head;
        loop {
            let line = bytes[at..].windows(2).position(|end| end == b"\r\n")?;
            let size = usize::from_str_radix(std::str::from_utf8(&bytes[at..at + line]).ok()?, 16).ok()?;
            at += line + 2;
            if size == 0 {
                // Trailers end with an empty line; without trailers, it follows at once.
                let rest = &bytes[at..];
                let end = if rest.starts_with(b"\r\n") {
                    2
                } else {
                    rest.windows(4).position(|end| end == b"\r\n\r\n")? + 4
                };
                return Some((head, at + end));
            }
            at += size + 2;
            if at > bytes.len() {
                return None;
            }
        }
    }
    let length = field(&bytes[..head], "content-length").map(|length| length.parse::<usize>());
    match length {
        Some(Ok(length)) => (bytes.len() >= head + length).then_some((head, head + length)),
        _ if is_response => None,
        _ => Some((head, head)),
    }
}

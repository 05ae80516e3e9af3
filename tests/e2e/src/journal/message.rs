//! Requests and responses generated from a number, so that both ends know what to expect.

use std::io::Write as _;

/// Pseudo-random number generator that depends only on its seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Numbers {
    state: u64,
}

impl Numbers {
    /// Creates a generator seeded with `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next number.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the next number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit.max(1)
    }
}

/// Returns the hash of a body (FNV-1a over eight bytes at a time).
pub fn hash_of(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut pieces = bytes.chunks_exact(8);
    for piece in &mut pieces {
        hash = (hash ^ u64::from_le_bytes(piece.try_into().unwrap_or_default())).wrapping_mul(PRIME);
    }
    for byte in pieces.remainder() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    hash ^ bytes.len() as u64
}

/// Whether request number `id` is a POST; all others are GETs.
pub(super) fn is_post(id: u64) -> bool {
    !id.is_multiple_of(3)
}

/// Returns the body of request number `id`; empty for a GET.
pub(super) fn request_body(id: u64) -> Vec<u8> {
    if !is_post(id) {
        return Vec::new();
    }
    body(id ^ 0x5151_5151, 70_000)
}

/// Returns the body of the response to request number `id`.
pub(super) fn answer_body(id: u64) -> Vec<u8> {
    body(id ^ 0xa5a5_a5a5, 150_000)
}

/// Writes request number `id` in wire format.
pub(super) fn write_request(id: u64, body: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let method = if is_post(id) { "POST" } else { "GET" };
    out.extend_from_slice(format!("{method} /j/{id} HTTP/1.1\r\nHost: journal.example\r\n").as_bytes());
    if is_post(id) {
        write_body(id, body, out);
    } else {
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes the response to request number `id`, whose body had `hash`.
pub(super) fn write_answer(id: u64, hash: u64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(format!("HTTP/1.1 200 OK\r\nX-Id: {id}\r\nX-Hash: {hash:x}\r\n").as_bytes());
    write_body(id, &answer_body(id), out);
}

/// Writes the body: some are chunked, most have a length.
fn write_body(id: u64, body: &[u8], out: &mut Vec<u8>) {
    if !id.is_multiple_of(7) {
        out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        out.extend_from_slice(body);
        return;
    }
    out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
    for chunk in body.chunks(1 + body.len() / 2) {
        // Writing to memory does not fail.
        let _ = write!(out, "{:x}\r\n", chunk.len());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

fn body(seed: u64, large: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(seed);
    let length = match numbers.below(100) {
        0 => large,
        1..=9 => 0,
        10..=29 => 4000,
        _ => usize::try_from(numbers.below(600)).unwrap_or_default(),
    };
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&numbers.draw().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

const PRIME: u64 = 0x0000_0100_0000_01b3;

//! Random sequences of hooks, resumes, replies and resets in Go and Rust filters, on several workers at once: data
//! never leaks between exchanges.
//!
//! Each exchange has its own word, which clients, filters and the origin put wherever they can; each of them reports a
//! word of another exchange. The actions of filters follow from the word; the order of threads does not. `EDDY_SEED`
//! gives other words, `EDDY_SOAK` makes it ten million steps.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use super::kits;
use crate::support::{DEADLINE, EddyProcess, get};

const WORKERS: usize = 4;
const CLIENTS: u64 = 12;
const MARK: &[u8] = b"(word";
const WORD_BYTES: usize = 22;

/// Observations of clients and the origin.
#[derive(Debug, Default)]
struct RandomRunCounts {
    requests: AtomicU64,
    /// Clients that disconnected before their response was complete.
    resets: AtomicU64,
    whole: AtomicU64,
    /// Responses of filters.
    replies: AtomicU64,
    /// Occurrences of another exchange's word.
    wrong: AtomicU64,
}

/// Deterministic pseudo-random numbers.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn word_of(number: u64) -> String {
    format!("(word{number:016x})")
}

fn is_foreign_word(window: &[u8], own: &str) -> bool {
    window.starts_with(MARK) && window.ends_with(b")") && window != own.as_bytes()
}

fn has_foreign_word(bytes: &[u8], own: &str) -> bool {
    bytes.windows(WORD_BYTES).any(|window| is_foreign_word(window, own))
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let at = bytes.get(from..)?.windows(what.len()).position(|window| window == what)?;
    Some(from + at + what.len())
}

/// Returns the end of a message and the end of its head; `None` while it is incomplete.
fn end_of(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = find(bytes, 0, b"\r\n\r\n")?;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    if text.contains("transfer-encoding: chunked") {
        let last = find(bytes, head - 2, b"\r\n0\r\n")?;
        return Some((find(bytes, last - 2, b"\r\n\r\n")?, head));
    }
    let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let end = head + length.unwrap_or(0);
    (bytes.len() >= end).then_some((end, head))
}

/// Starts an origin that answers each request with its word, in bodies of all kinds.
fn start_origin(tally: &Arc<RandomRunCounts>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let tally = Arc::clone(tally);
    std::thread::spawn(move || {
        for link in listener.incoming() {
            let (link, tally) = (link.unwrap(), Arc::clone(&tally));
            std::thread::spawn(move || serve(link, &tally));
        }
    });
    address
}

fn serve(mut link: TcpStream, tally: &RandomRunCounts) {
    let mut held = Vec::new();
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = link.read(&mut bytes) {
        held.extend_from_slice(&bytes[..count]);
        while let Some((end, head)) = end_of(&held) {
            let request: Vec<u8> = held.drain(..end).collect();
            let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
            let word = text.split("x-word: ").nth(1).and_then(|rest| rest.lines().next());
            let word = word.unwrap_or_default().to_owned();
            if word.len() != WORD_BYTES || has_foreign_word(&request, &word) {
                tally.wrong.fetch_add(1, Relaxed);
            }
            let answer = match word.as_bytes().get(WORD_BYTES - 2).unwrap_or(&0) % 3 {
                0 => format!("Content-Length: {}\r\n\r\n<{word}>", WORD_BYTES + 2),
                1 => "Content-Length: 0\r\n\r\n".to_owned(),
                _ => format!(
                    "Transfer-Encoding: chunked\r\n\r\n16\r\n{word}\r\n18\r\n[{word}]\r\n0\r\nX-End: {word}\r\n\r\n"
                ),
            };
            if link.write_all(format!("HTTP/1.1 200 OK\r\nX-Own: {word}\r\n{answer}").as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// Sends this many requests, and often disconnects early.
fn ask(address: SocketAddr, seed: u64, rounds: u64, tally: &RandomRunCounts) {
    let mut draws = Draws(seed);
    let mut kept: Option<TcpStream> = None;
    for _ in 0..rounds {
        let word = word_of(draws.next());
        let request = match draws.below(3) {
            0 => format!("GET /{word} HTTP/1.1\r\nHost: a\r\nX-Word: {word}\r\n\r\n"),
            1 => format!(
                "POST /a HTTP/1.1\r\nHost: a\r\nX-Word: {word}\r\nContent-Length: {WORD_BYTES}\r\n\r\n{word}"
            ),
            _ => format!(
                "POST /a?{word} HTTP/1.1\r\nHost: a\r\nX-Word: {word}\r\nTransfer-Encoding: chunked\r\n\r\n\
                 16\r\n{word}\r\n18\r\n<{word}>\r\n0\r\nX-End: {word}\r\n\r\n"
            ),
        };
        tally.requests.fetch_add(1, Relaxed);
        let mut stream = kept.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(DEADLINE)).unwrap();
            stream.set_nodelay(true).unwrap();
            stream
        });
        let leaves = draws.below(10);
        let sent = if leaves == 0 { draws.below(request.len() as u64) } else { request.len() as u64 };
        // A request that is answered early may find the connection closed.
        let _ = stream.write_all(&request.as_bytes()[..usize::try_from(sent).unwrap()]);
        if leaves < 2 {
            tally.resets.fetch_add(1, Relaxed);
            continue;
        }
        let mut held = Vec::new();
        let mut bytes = [0; 16 * 1024];
        let end = loop {
            if let Some(end) = end_of(&held) {
                break Some(end);
            }
            match stream.read(&mut bytes) {
                Ok(count @ 1..) => held.extend_from_slice(&bytes[..count]),
                Ok(0) => break None,
                Err(error) => {
                    assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no answer in time: {request}");
                    break None;
                }
            }
        };
        if has_foreign_word(&held, &word) {
            tally.wrong.fetch_add(1, Relaxed);
        }
        let Some((end, head)) = end else { continue };
        tally.whole.fetch_add(1, Relaxed);
        let head = String::from_utf8_lossy(&held[..head]).to_ascii_lowercase();
        tally.replies.fetch_add(u64::from(head.contains("x-reply: ")), Relaxed);
        if held.len() == end && !head.contains("connection: close") {
            kept = Some(stream);
        } else if held.len() > end {
            tally.wrong.fetch_add(1, Relaxed);
        }
    }
}

fn config(go: Option<&Path>, rust: &Path, origin: SocketAddr) -> String {
    let rust = rust.display();
    let mut filters = vec![
        format!("r1: {{native: {{filter: random, library: '{rust}'}}, config: r1, timeout: 50ms}}"),
        format!(
            "r2: {{native: {{filter: random, library: '{rust}'}}, config: r2, timeout: 50ms, on_failure: open}}"
        ),
    ];
    let mut chain = "[r1, r2]";
    if let Some(go) = go {
        let go = go.display();
        filters.push(format!("g1: {{go: {{filter: random, library: '{go}'}}, config: g1, timeout: 50ms}}"));
        filters.push(format!(
            "g2: {{go: {{filter: random, library: '{go}'}}, config: g2, timeout: 50ms, on_failure: open}}"
        ));
        filters.push(format!(
            "g3: {{go: {{filter: random, library: '{go}'}}, config: g3, timeout: 50ms, blocking: true}}"
        ));
        chain = "[g1, r1, r2, g2, g3]";
    }
    format!(
        "\
workers: {WORKERS}
limits: {{queue_delay: 0s}}
admin: {{address: '127.0.0.2:0'}}
filters: {{{}}}
listeners: [{{address: '127.0.0.1:0', routes: site, filters: {chain}}}]
routes: {{site: [{{cluster: c}}]}}
clusters: {{c: {{endpoints: ['{origin}']}}}}
",
        filters.join(", ")
    )
}

/// Returns the sum of a metric over its labels.
fn sum(metrics: &str, name: &str) -> u64 {
    let lines = metrics.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('{'));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[expect(clippy::disallowed_methods, reason = "a test that is steered from outside")]
fn seed() -> u64 {
    std::env::var("EDDY_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
fn no_client_gets_the_response_of_another_with_several_workers() {
    let tally = Arc::new(RandomRunCounts::default());
    let origin = start_origin(&tally);
    let go = kits::in_go();
    let mut eddy = EddyProcess::start(&config(go.as_deref(), &kits::in_rust(), origin));
    let (address, admin, gateway) = (eddy.address(), eddy.admin(), eddy.gateway());
    let rounds = super::size(2000, 40_000) as u64;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let tally = &tally;
            scope.spawn(move || ask(address, seed() ^ client << 40, rounds, tally));
        }
    });
    let metrics = || get(admin, "/metrics").text;
    let begun = Instant::now();
    let is_quiet = |text: &str| sum(text, "eddy_worker_exchanges") + sum(text, "eddy_filter_paused") == 0;
    while !is_quiet(&metrics()) && begun.elapsed() < DEADLINE {
        std::thread::yield_now();
    }
    let text = metrics();
    let steps = sum(&text, "eddy_filter_steps") + tally.requests.load(Relaxed);
    println!("{steps} steps in {WORKERS} workers: {tally:?}");
    if sum(&text, "eddy_filter_wrong") > 0 {
        let counts: Vec<_> = text.lines().filter(|line| line.starts_with("eddy_filter_wrong{")).collect();
        println!("{counts:?}");
        let first = eddy.record_where("what is wrong", |record| {
            record["level"] == "error"
                && record["message"].as_str().is_some_and(|text| text.contains("(word"))
        });
        panic!("EDDY_SEED={}: {counts:?}; {first}", seed());
    }
    assert_eq!(tally.wrong.load(Relaxed), 0, "EDDY_SEED={}: clients and the origin", seed());
    assert!(is_quiet(&text), "EDDY_SEED={}: exchanges that never end", seed());
    assert!(text.contains("eddy_panics_total 0\n"), "{text}");
    assert_eq!(eddy.gateway(), gateway, "the gateway has died");
    let least = [&tally.resets, &tally.whole, &tally.replies];
    assert!(least.iter().all(|count| count.load(Relaxed) > rounds / 10), "{tally:?}");
    assert!(steps > rounds * CLIENTS * 2, "{steps}");
    eddy.stop();
}

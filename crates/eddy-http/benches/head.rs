//! Benchmark of scanning, parsing, writing and checking heads, in nanoseconds, compared with `httparse`.
//!
//! `cargo bench -p eddy-http --bench head`; each figure is the best of several rounds on one core.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use eddy_http::{
    ChunkDecoder, ChunkLimits, ChunkStep, Egress, FieldEdits, ForwardedClient, ForwardedPolicy, HeadLimits,
    HeadScanner, Method, RequestHead, RequestId, RequestWrite, ResponseHead, ResponseWrite, Version,
    write_request_head, write_response_head,
};

const SMALL: &[u8] = b"GET /api/v1/items?id=42 HTTP/1.1\r\nHost: www.example.com\r\n\
User-Agent: curl/8.5.0\r\nAccept: */*\r\nX-Trace: 0123456789\r\n\r\n";

const TYPICAL: &[u8] = b"GET /api/v1/items/42?fields=name HTTP/1.1\r\nHost: www.example.com\r\n\
User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
Accept: application/json\r\nAccept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, br\r\n\
Connection: keep-alive\r\nCookie: session=0123456789abcdef\r\nX-Account: 1234567\r\n\r\n";

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: origin/1.0\r\n\
Content-Type: application/json\r\nContent-Length: 1234\r\nCache-Control: no-store\r\n\
ETag: \"0123456789\"\r\nVary: Accept-Encoding\r\n\r\n";

const ROUNDS: u32 = 15;
const ROUND: Duration = Duration::from_millis(40);

fn main() {
    let limits = HeadLimits::default();
    for (name, bytes) in [("small", SMALL), ("typical", TYPICAL)] {
        println!("{name} request head, {} bytes", bytes.len());
        bench_request(bytes, &limits);
    }
    println!("response head, {} bytes", RESPONSE.len());
    bench_response(&limits);
    bench_chunks();
}

fn bench_request(bytes: &[u8], limits: &HeadLimits) {
    let mut head = RequestHead::new();
    show("scan", || {
        let mut scanner = HeadScanner::new();
        black_box(scanner.scan(black_box(bytes), limits)).ok();
    });
    show("parse", || {
        black_box(head.parse(black_box(bytes), limits)).ok();
    });
    show("parse at the start of a buffer", || {
        black_box(head.parse_start(black_box(bytes), limits)).ok();
    });
    show("httparse", || {
        let mut fields = [httparse::EMPTY_HEADER; 128];
        let mut request = httparse::Request::new(&mut fields);
        black_box(request.parse(black_box(bytes))).ok();
    });
    show("httparse, places uninitialised", || {
        let mut fields = [const { std::mem::MaybeUninit::uninit() }; 128];
        let mut request = httparse::Request::new(&mut []);
        black_box(request.parse_with_uninit_headers(black_box(bytes), &mut fields)).ok();
    });
    let mut out = Vec::with_capacity(4096);
    head.parse(bytes, limits).expect("the head is good");
    let write = RequestWrite {
        bytes,
        head: &head,
        target: head.target.of(bytes),
        host: head.authority.of(bytes),
        body: head.body,
        edits: FieldEdits::none(),
        client: ForwardedClient {
            address: b"192.0.2.17",
            scheme: "http",
            certificate: "",
            is_trusted: false,
            policy: ForwardedPolicy::default(),
        },
        via: Some("eddy"),
        request_id: Some(RequestId { name: "x-request-id", value: "0123456789abcdef", replace: true }),
        upgrade: None,
        forwards_expectation: false,
    };
    show("write", || {
        out.clear();
        write_request_head(&mut out, black_box(&write));
    });
    let mut egress = Egress::new();
    show("egress", || {
        black_box(egress.check_request(black_box(&out), b"GET", write.target, write.body)).ok();
    });
    egress.check_request(&out, b"GET", write.target, write.body).expect("what is written is good");
}

fn bench_response(limits: &HeadLimits) {
    let mut head = ResponseHead::new();
    show("scan", || {
        let mut scanner = HeadScanner::for_responses();
        black_box(scanner.scan(black_box(RESPONSE), limits)).ok();
    });
    show("parse", || {
        black_box(head.parse(black_box(RESPONSE), limits, Method::Get)).ok();
    });
    show("httparse", || {
        let mut fields = [httparse::EMPTY_HEADER; 128];
        let mut response = httparse::Response::new(&mut fields);
        black_box(response.parse(black_box(RESPONSE))).ok();
    });
    head.parse(RESPONSE, limits, Method::Get).expect("the head is good");
    let write = ResponseWrite {
        bytes: RESPONSE,
        head: &head,
        edits: FieldEdits::none(),
        body: head.body,
        client_version: Version::Http11,
        keep_alive: true,
        via: None,
        date: b"Sun, 06 Nov 1994 08:49:37 GMT",
        request_id: None,
        switched: None,
    };
    let mut out = Vec::with_capacity(4096);
    show("write", || {
        out.clear();
        write_response_head(&mut out, black_box(&write));
    });
    let mut egress = Egress::new();
    show("egress", || {
        black_box(egress.check_response(black_box(&out), 200, write.body, Method::Get)).ok();
    });
}

fn bench_chunks() {
    let mut body = Vec::new();
    for _ in 0..16 {
        eddy_http::write_chunk_header(&mut body, 1024);
        body.resize(body.len() + 1024, b'x');
        body.extend_from_slice(eddy_http::CHUNK_END);
    }
    body.extend_from_slice(eddy_http::LAST_CHUNK);
    let mut decoder = ChunkDecoder::new(ChunkLimits::default());
    println!("16 chunks of 1 KiB");
    show("decode", || {
        decoder.reset();
        let mut at = 0;
        while let Ok(ChunkStep::Data { skip, len }) =
            decoder.decode(black_box(body.get(at..).unwrap_or_default()))
        {
            at += skip + len;
        }
        black_box(at);
    });
}

/// Runs `work` in rounds and prints the time per run in the best round.
fn show(name: &str, mut work: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut runs = 0_u32;
        while start.elapsed() < ROUND {
            for _ in 0..256 {
                work();
            }
            runs += 256;
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(runs));
    }
    println!("  {name:32} {best:8.1} ns");
}

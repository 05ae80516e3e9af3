//! In steady state a request passes without any allocation.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one only counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use eddy_http::{
    ChunkDecoder, ChunkLimits, ChunkStep, Egress, FieldEdits, ForwardedClient, ForwardedPolicy, HeadLimits,
    HeadScanner, LocalReply, Method, RequestHead, RequestId, RequestWrite, ResponseHead, ResponseWrite,
    Version, write_chunk_header, write_local_head, write_request_head, write_response_head, write_trailers,
};

/// Counts the allocations per thread.
struct ThreadCountingAllocator;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counter itself does not allocate.
unsafe impl GlobalAlloc for ThreadCountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same one.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: ThreadCountingAllocator = ThreadCountingAllocator;

const REQUEST: &[u8] =
    b"POST http://b.example?x=1 HTTP/1.1\r\nHost: a.example\r\nConnection: x-a, keep-alive\r\n\
X-A: 1\r\nX_B: 2\r\nX-Forwarded-For: 3\r\nTE: trailers\r\nExpect: 100-continue\r\nCookie: a=b\r\n\
Transfer-Encoding: chunked\r\n\r\n";

const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: s\r\nConnection: x-a\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n";

const BODY: &[u8] = b"5;a=b\r\nhello\r\n0\r\nX-Sum: 1\r\nHost: a\r\n\r\n";

/// State that is reused from one exchange to the next.
struct ExchangeBuffers {
    scanner: HeadScanner,
    request: RequestHead,
    response: ResponseHead,
    decoder: ChunkDecoder,
    egress: Egress,
    edits: FieldEdits,
    scratch: Vec<u8>,
    out: Vec<u8>,
}

impl ExchangeBuffers {
    fn new() -> Self {
        let mut edits = FieldEdits::new();
        edits.remove("cookie").unwrap();
        edits.set("x-user", "u").unwrap();
        Self {
            scanner: HeadScanner::new(),
            request: RequestHead::new(),
            response: ResponseHead::new(),
            decoder: ChunkDecoder::new(ChunkLimits::default()),
            egress: Egress::new(),
            edits,
            scratch: Vec::new(),
            out: Vec::new(),
        }
    }

    fn pass_request(&mut self, limits: &HeadLimits) {
        self.scanner.reset();
        assert_eq!(self.scanner.scan(REQUEST, limits), Ok(Some(REQUEST.len())));
        self.request.parse(REQUEST, limits).unwrap();
        let target = self.request.origin_target(REQUEST, &mut self.scratch);
        self.out.clear();
        let write = RequestWrite {
            bytes: REQUEST,
            head: &self.request,
            target,
            host: self.request.authority.of(REQUEST),
            body: self.request.body,
            edits: &self.edits,
            client: ForwardedClient {
                address: b"2001:db8::1",
                scheme: "http",
                certificate: "",
                is_trusted: true,
                policy: ForwardedPolicy { forwarded: true, ..ForwardedPolicy::default() },
            },
            via: Some("eddy"),
            request_id: Some(RequestId { name: "x-my-id", value: "1", replace: false }),
            upgrade: None,
            forwards_expectation: false,
        };
        write_request_head(&mut self.out, &write);
        self.egress.check_request(&self.out, b"POST", target, self.request.body).unwrap();
    }

    fn pass_response(&mut self, limits: &HeadLimits) {
        self.response.parse(RESPONSE, limits, Method::Post).unwrap();
        self.out.clear();
        let write = ResponseWrite {
            bytes: RESPONSE,
            head: &self.response,
            edits: &self.edits,
            body: self.response.body,
            client_version: Version::Http11,
            keep_alive: true,
            via: Some("eddy"),
            date: b"now",
            request_id: None,
            switched: None,
        };
        write_response_head(&mut self.out, &write);
        self.egress.check_response(&self.out, 200, self.response.body, Method::Post).unwrap();
    }

    fn pass_body(&mut self) {
        self.out.clear();
        self.decoder.reset();
        let step = self.decoder.decode(BODY).unwrap();
        assert_eq!(step, ChunkStep::Data { skip: 7, len: 5 });
        write_chunk_header(&mut self.out, 5);
        assert!(matches!(self.decoder.decode(&BODY[12..]), Ok(ChunkStep::Done { .. })));
        write_trailers(&mut self.out, self.decoder.trailers());
    }

    fn refuse(&mut self, limits: &HeadLimits) {
        self.request.parse(b"GET / HTTP/1.1\r\n\r\n", limits).unwrap_err();
        self.out.clear();
        write_local_head(&mut self.out, &LocalReply { date: b"now", ..LocalReply::new(400) });
    }
}

#[test]
fn an_exchange_allocates_nothing_after_warm_up() {
    let limits = HeadLimits::default();
    let mut parts = ExchangeBuffers::new();
    let mut pass = |rounds: u32| {
        let before = COUNT.with(Cell::get);
        for _ in 0..rounds {
            parts.pass_request(&limits);
            parts.pass_response(&limits);
            parts.pass_body();
            parts.refuse(&limits);
        }
        COUNT.with(Cell::get) - before
    };
    assert!(pass(1) > 0, "the counter counts");
    assert_eq!(pass(100), 0);
}

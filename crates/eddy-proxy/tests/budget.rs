//! Budgets of a request and of an idle connection: allocations and bytes.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one only counts")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::alloc::{GlobalAlloc, Layout, System};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eddy_filter::{
    Filter, FilterEdit, FilterEvent, FilterInfo, FilterLibrary, FilterLogLevel, FilterPolicy, Interest,
    LibraryCall, LibraryKeepAlive, Phase, Verdict,
};
use eddy_proxy::{FilterHost, Gateway};
use place::{
    NO_ORIGIN, ask, config, connect, listen, start_filtered, start_gateway, start_origin, use_filters,
};

/// Counts the allocations of the whole process; origin and clients of these tests do not allocate while they
/// communicate.
struct ProcessCountingAllocator;

static COUNT: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for ProcessCountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        HELD.fetch_add(i64::try_from(layout.size()).unwrap_or(0), Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(i64::try_from(layout.size()).unwrap_or(0), Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`, which is the same one.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: ProcessCountingAllocator = ProcessCountingAllocator;

/// The tests of this file count for the whole process, so they run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

const SITE: &str = "
routes: {site: [{match: {path: {prefix: /}}, cluster: origin}]}
clusters: {origin: {endpoints: ['ORIGIN']}}
";

/// Number of requests over which allocations per request are measured.
const REQUESTS: u64 = 5_000;
/// Allocations per second that do not depend on the number of requests: those of each tick and of the memory monitor.
/// On a busy machine requests take long, and these would count as theirs.
const BY_CLOCK_A_SECOND_MAX: f64 = 500.0;

fn allocations_per_request(request: &'static [u8], end: &'static [u8], answer: &'static [u8]) -> f64 {
    let _alone = ALONE.lock().expect("a test that failed poisons the others, which is as well");
    let origin = start_origin(end, answer);
    let (_gateway, address) = start_gateway(origin, SITE);
    count_allocations(address, request, b"hello")
}

/// Returns the allocations per request in steady state, without those of the clock.
fn count_allocations(address: SocketAddr, request: &[u8], end: &[u8]) -> f64 {
    let mut client = connect(address);
    (0..200).for_each(|_| ask(&mut client, request, end));
    let (before, begun) = (COUNT.load(Relaxed), Instant::now());
    (0..REQUESTS).for_each(|_| ask(&mut client, request, end));
    let by_clock = begun.elapsed().as_secs_f64() * BY_CLOCK_A_SECOND_MAX;
    ((COUNT.load(Relaxed) - before) as f64 - by_clock) / REQUESTS as f64
}

#[test]
fn a_get_allocates_nothing_in_steady_state() {
    let request =
        b"GET /some/path?x=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n";
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: origin\r\n\r\nhello";
    let count = allocations_per_request(request, b"\r\n\r\n", answer);
    assert!(count < 0.05, "{count} allocations a request");
}

#[test]
fn a_post_with_a_body_allocates_nothing_in_steady_state() {
    let request = b"POST /form HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 7\r\n\r\nbody=ok";
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let count = allocations_per_request(request, b"body=ok", answer);
    assert!(count < 0.05, "{count} allocations a request");
}

/// Handles every phase and sets a header in each head.
#[derive(Debug)]
struct Setter;

impl FilterLibrary for Setter {
    fn name(&self) -> &str {
        "setter"
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        let Some(view) = call.view else { return };
        call.stopped = call.steps.len();
        for index in 0..call.steps.len() {
            call.steps[index].state = 7;
            if matches!(view.phase, Phase::RequestHead | Phase::ResponseHead) {
                let step = u16::try_from(index).unwrap();
                call.edits.push(step, &FilterEdit::Set { name: b"x-set", value: b"value" }).unwrap();
            }
        }
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}

/// Buffers the body of a request and replaces it.
#[derive(Debug)]
struct Collector;

impl FilterLibrary for Collector {
    fn name(&self) -> &str {
        "collector"
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        let Some(view) = call.view else { return };
        call.stopped = call.steps.len();
        if view.phase == Phase::RequestHead && !view.is_end {
            call.stopped = 0;
            call.steps[0].verdict = Verdict::Buffer;
        }
        if view.phase == Phase::RequestBody {
            call.edits.push(0, &FilterEdit::BodySet(view.body)).unwrap();
        }
    }

    fn event(&self, _event: &FilterEvent<'_>) {}
}

/// Starts a gateway with a chain of three filters from `library`.
fn start_chain(origin: SocketAddr, library: Arc<dyn FilterLibrary>, rest: &str) -> (Gateway, SocketAddr) {
    let listener = listen();
    let address = listener.address;
    let mut config = config(address, origin, "", rest);
    let host = FilterHost::new(1, 16, FilterLogLevel::Info);
    let filter = |name: &str| Filter {
        id: host.number(name),
        name: name.into(),
        library: Arc::clone(&library),
        number: 1,
        info: FilterInfo { interest: Interest::from_bits(0x7f), keeps_length: false, expects_tunnels: false },
        policy: FilterPolicy::default(),
        owner: LibraryKeepAlive::default(),
    };
    let set = use_filters(&mut config, ["f0", "f1", "f2"].map(filter).into());
    (start_filtered(listener, config, &set, host), address)
}

#[test]
fn filters_make_the_host_allocate_nothing_in_steady_state() {
    let _alone = ALONE.lock().expect("a test that failed poisons the others, which is as well");
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let request = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\nbody=ok";
    let origin = start_origin(b"0\r\n\r\n", answer);
    let (_gateway, address) = start_chain(origin, Arc::new(Setter), SITE);
    let count = count_allocations(address, request, b"hello\r\n0\r\n\r\n");
    assert!(count < 0.05, "{count} allocations a request");
}

#[test]
fn buffers_of_filters_are_released_after_the_exchange() {
    const BODY_BYTES: usize = 1_000_000;
    /// A large buffer returns to the pool, and some memory is kept for the next exchange.
    const KEPT_BYTES_MAX: i64 = 128 * 1024;
    /// After the large buffer was unused for a while.
    const KEPT_LATER_BYTES_MAX: i64 = 32 * 1024;
    let _alone = ALONE.lock().expect("a test that failed poisons the others, which is as well");
    let rest = "routes: {site: [{respond: {status: 200, body: one}}]}";
    let (_gateway, address) = start_chain(NO_ORIGIN, Arc::new(Collector), rest);
    let small = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut large =
        format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY_BYTES}\r\n\r\n").into_bytes();
    large.resize(large.len() + BODY_BYTES, b'a');
    let mut client = connect(address);
    (0..10).for_each(|_| ask(&mut client, small, b"one"));
    let before = HELD.load(Relaxed);
    ask(&mut client, &large, b"one");
    // The next exchange of a connection begins when the previous one has ended.
    ask(&mut client, small, b"one");
    let kept = HELD.load(Relaxed) - before;
    assert!(kept <= KEPT_BYTES_MAX, "{kept} bytes kept");
    let until = Instant::now() + Duration::from_secs(10);
    while HELD.load(Relaxed) - before > KEPT_LATER_BYTES_MAX {
        assert!(Instant::now() < until, "{} bytes kept for long", HELD.load(Relaxed) - before);
        std::thread::yield_now();
    }
}

#[test]
fn an_idle_connection_holds_at_most_1440_bytes() {
    const CONNECTIONS: usize = 400;
    let _alone = ALONE.lock().expect("a test that failed poisons the others, which is as well");
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let origin = start_origin(b"\r\n\r\n", answer);
    let (_gateway, address) = start_gateway(origin, SITE);
    let mut clients = Vec::with_capacity(CONNECTIONS + 1);
    clients.push(connect(address));
    ask(&mut clients[0], request, b"hello");
    let before = HELD.load(Relaxed);
    for index in 1..=CONNECTIONS {
        clients.push(connect(address));
        ask(&mut clients[index], request, b"hello");
    }
    let bytes = (HELD.load(Relaxed) - before) / i64::try_from(CONNECTIONS).unwrap();
    println!("{bytes} bytes an idle connection");
    assert!(bytes <= 1440, "{bytes} bytes an idle connection");
}

//! Async Rust methods called over a ring from Rust: panics and cancelled calls.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod waiting;

use std::future::pending;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use eddy_bridge::{BoundService, BridgeError, BridgeErrorKind, ServiceImplementation};
use eddy_bridge_apart::{RemoteProcess, ServiceHandler};
use eddy_bridge_ring::{LinkLimits, NoCalls, ProcessLink, accept_stream, connect_stream};

use crate::waiting::{until, wait};

/// Async methods implemented in Rust.
#[eddy_bridge::rust]
pub trait Slow {
    /// Returns the text at once.
    async fn echo(&self, text: &str) -> String;
    /// Never completes.
    async fn never(&self);
    /// Panics.
    async fn explode(&self, text: &str);
    /// Returns the number of live futures.
    fn alive(&self) -> u64;
}

const ECHO: u32 = 0;
const NEVER: u32 = 1;
const EXPLODE: u32 = 2;
const ALIVE: u32 = 3;

#[derive(Default)]
struct Sloth {
    alive: Arc<AtomicUsize>,
}

/// Counts live instances.
struct LiveCountGuard(Arc<AtomicUsize>);

impl LiveCountGuard {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, SeqCst);
        Self(Arc::clone(alive))
    }
}

impl Drop for LiveCountGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
        assert!(self.0.load(SeqCst) != 0, "nobody notices a panic in the drop of the last one");
    }
}

impl Slow for Sloth {
    async fn echo(&self, text: &str) -> String {
        text.to_owned()
    }

    async fn never(&self) {
        let _counted = LiveCountGuard::new(&self.alive);
        pending::<()>().await;
    }

    #[expect(clippy::panic, reason = "panics are what this is about")]
    async fn explode(&self, text: &str) {
        panic!("{text}");
    }

    fn alive(&self) -> u64 {
        self.alive.load(SeqCst) as u64
    }
}

/// Returns a service, the live count of its implementation, and the link's other end.
fn slow(timeout: Duration) -> (BoundService, Arc<AtomicUsize>, ProcessLink) {
    let sloth = Sloth::default();
    let alive = Arc::clone(&sloth.alive);
    let served: ServiceImplementation = serve_slow(sloth);
    let shape = served.shape();
    let answers = ServiceHandler::start(vec![served], 1, 16).unwrap();
    let (left, right) = UnixStream::pair().unwrap();
    let other = thread::spawn(move || accept_stream(right, LinkLimits::default(), answers).unwrap());
    let link = connect_stream(left, LinkLimits::default(), NoCalls).unwrap();
    let other = other.join().unwrap();
    (RemoteProcess::new(link, timeout).bind("Slow", shape).unwrap(), alive, other)
}

#[test]
fn a_future_returns_its_result() {
    let (service, _, _other) = slow(LONG);
    let long = "long ".repeat(100_000);
    for text in ["", "short", &long] {
        assert_eq!(wait(service.start(ECHO, &(text,)).answer::<String>()).unwrap(), text);
        // Whether the caller blocks is up to the caller.
        assert_eq!(service.call::<_, String>(ECHO, &(text,)).unwrap(), text);
    }
}

#[test]
fn a_panic_in_a_future_is_an_error_with_its_text() {
    let (service, _, _other) = slow(LONG);
    let fault = wait(service.start(EXPLODE, &("the end",)).answer::<()>()).unwrap_err();
    assert_eq!(fault, BridgeError::new(BridgeErrorKind::Panic, "the end"));
}

#[test]
fn dropping_a_call_drops_its_future_on_the_other_side() {
    let (service, alive, _other) = slow(LONG);
    let calls: Vec<_> = (0..1000).map(|_| service.start(NEVER, &()).answer::<()>()).collect();
    until(|| alive.load(SeqCst) == 1000);
    // They occupy none of the threads that other calls need.
    assert_eq!(service.call::<_, u64>(ALIVE, &()).unwrap(), 1000);
    drop(calls);
    until(|| alive.load(SeqCst) == 0);
    assert_eq!(service.call::<_, u64>(ALIVE, &()).unwrap(), 0);
}

#[test]
fn the_end_of_a_link_drops_its_futures() {
    let (service, alive, _other) = slow(LONG);
    let calls: Vec<_> = (0..100).map(|_| service.start(NEVER, &()).answer::<()>()).collect();
    until(|| alive.load(SeqCst) == 100);
    drop(service);
    assert_eq!(alive.load(SeqCst), 100, "a call that is under way keeps its link");
    drop(calls);
    until(|| alive.load(SeqCst) == 0);

    let (service, alive, other) = slow(LONG);
    let call = service.start(NEVER, &()).answer::<()>();
    until(|| alive.load(SeqCst) == 1);
    other.close();
    assert_eq!(wait(call).unwrap_err().kind, BridgeErrorKind::Closed);
    until(|| alive.load(SeqCst) == 0);
}

#[test]
fn a_deadline_drops_the_future() {
    let (service, alive, _other) = slow(Duration::from_secs(1));
    let fault = wait(service.start(NEVER, &()).answer::<()>()).unwrap_err();
    assert_eq!(fault.kind, BridgeErrorKind::Deadline, "{fault}");
    until(|| alive.load(SeqCst) == 0);
}

#[test]
fn invalid_requests_are_malformed() {
    let (service, _, _other) = slow(LONG);
    let fault = wait(service.start(ECHO, &()).answer::<String>()).unwrap_err();
    assert_eq!(fault.kind, BridgeErrorKind::Malformed, "{fault}");
    let fault = wait(service.start(99, &()).answer::<()>()).unwrap_err();
    assert_eq!(fault, BridgeError::new(BridgeErrorKind::Unknown, "`Slow` has no method 99"));
}

/// Longer than any successful operation takes.
const LONG: Duration = Duration::from_secs(60);

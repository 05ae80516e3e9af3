//! Links with a peer that violates the protocol: every violation ends the link with its reason, and has no other
//! effect.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use super::fixture::{Dice, SOON, echo, small};
use crate::fault::{CallError, LinkEndReason, Misconduct};
use crate::frame::{RingFrameHeader, RingFrameKind};
use crate::hello;
use crate::memory::Memory;
use crate::ring::{LinkRole, Producer, split};
use crate::socket::PeerWaker;
use crate::{LinkLimits, ProcessLink, accept_stream};

/// A link, and the state of the peer at its other end.
struct MisbehavingPeer {
    link: ProcessLink,
    producer: Producer,
    memory: Arc<Memory>,
    bell: PeerWaker,
    socket: Arc<UnixStream>,
}

fn liar(limits: LinkLimits) -> MisbehavingPeer {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let other = thread::spawn(move || accept_stream(theirs, limits, echo).unwrap());
    let (memory, agreed) = hello::offer(&ours, &limits).unwrap();
    let memory = Arc::new(memory);
    let (producer, _) = split(Arc::clone(&memory), agreed.ring_bytes, LinkRole::Connector);
    let socket = Arc::new(ours);
    let bell = PeerWaker::new(Arc::clone(&socket));
    MisbehavingPeer { link: other.join().unwrap(), producer, memory, bell, socket }
}

impl MisbehavingPeer {
    fn push(&mut self, frame: &RingFrameHeader, bytes: &[u8]) {
        assert!(self.producer.try_push(frame, bytes).unwrap());
        self.bell.ring();
    }

    /// Waits until the link ends and returns the reason.
    fn fault(&self) -> LinkEndReason {
        wait_for("the link goes on", || self.link.fault())
    }
}

/// Polls `look` until it returns a value, and returns that.
fn wait_for<T>(otherwise: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < SOON, "{otherwise}");
        thread::yield_now();
    }
}

fn call(call: u64, bytes: u32) -> RingFrameHeader {
    RingFrameHeader {
        kind: RingFrameKind::Call,
        bytes,
        call,
        detail: 1,
        timeout_ms: 60_000,
        total: bytes.into(),
    }
}

#[test]
fn an_invalid_ring_position_ends_the_link() {
    let liar = liar(small());
    liar.memory.words()[0].store(10_000, Relaxed);
    liar.bell.ring();
    let expected = Misconduct::Position { used: 10_000, capacity: 512 };
    assert_eq!(liar.fault(), LinkEndReason::Misconduct(expected));
    let error = liar.link.call(1, b"", SOON).unwrap_err();
    assert_eq!(error, CallError::Ended(LinkEndReason::Misconduct(expected)));
}

#[test]
fn responses_to_unknown_calls_end_the_link() {
    let mut liar = liar(small());
    liar.push(&RingFrameHeader { kind: RingFrameKind::Answer, ..call(5, 0) }, &[]);
    assert_eq!(liar.fault(), LinkEndReason::Misconduct(Misconduct::NeverCalled(5)));
}

#[test]
fn messages_announced_as_too_long_end_the_link() {
    let mut liar = liar(small());
    liar.push(&RingFrameHeader { total: (1 << 20) + 1, ..call(1, 1024) }, &[0; 1024]);
    let expected = Misconduct::Length { bytes: (1 << 20) + 1, limit: 1 << 20 };
    assert_eq!(liar.fault(), LinkEndReason::Misconduct(expected));
}

#[test]
fn a_duplicate_call_id_ends_the_link() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    // A handler that keeps its calls.
    let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
    let keeper = Arc::clone(&kept);
    let other = thread::spawn(move || {
        accept_stream(theirs, small(), move |call| keeper.lock().unwrap().push(call)).unwrap()
    });
    let (memory, agreed) = hello::offer(&ours, &small()).unwrap();
    let memory = Arc::new(memory);
    let (producer, _) = split(Arc::clone(&memory), agreed.ring_bytes, LinkRole::Connector);
    let socket = Arc::new(ours);
    let bell = PeerWaker::new(Arc::clone(&socket));
    let mut liar = MisbehavingPeer { link: other.join().unwrap(), producer, memory, bell, socket };
    liar.push(&call(3, 0), &[]);
    liar.push(&call(3, 0), &[]);
    assert_eq!(liar.fault(), LinkEndReason::Misconduct(Misconduct::Twice(3)));
    // The reason is set first; the end of the link's calls follows at once.
    let cancellation = kept.lock().unwrap()[0].cancellation();
    wait_for("the call is served on", || cancellation.is_cancelled().then_some(()));
    // A call holds its link, and the link holds its handler.
    kept.lock().unwrap().clear();
}

#[test]
fn a_peer_that_reads_no_responses_is_disconnected() {
    let mut liar = liar(LinkLimits { stall: Duration::from_millis(300), ..small() });
    let begun = Instant::now();
    let mut number = 0;
    while liar.link.fault().is_none() {
        assert!(begun.elapsed() < SOON, "the link goes on");
        if liar.producer.try_push(&call(number, 0), &[]).unwrap() {
            number += 1;
        }
        liar.bell.ring();
    }
    let fault = liar.fault();
    let is_expected =
        matches!(fault, LinkEndReason::Stalled(_) | LinkEndReason::Misconduct(Misconduct::Flood));
    assert!(is_expected, "{fault}");
}

#[test]
fn a_peer_that_does_not_read_stalls_the_link() {
    let liar = liar(LinkLimits { stall: Duration::from_millis(200), ..small() });
    let begun = Instant::now();
    let error = liar.link.call(1, &[0; 100_000], SOON).unwrap_err();
    assert_eq!(error, CallError::Ended(LinkEndReason::Stalled(Duration::from_millis(200))));
    assert!(begun.elapsed() < SOON);
}

#[test]
fn a_call_ends_at_its_deadline_whatever_the_peer_does() {
    let liar = liar(LinkLimits { stall: 2 * SOON, ..small() });
    for bytes in [0, 100_000] {
        let begun = Instant::now();
        let error = liar.link.call(1, &vec![0; bytes], Duration::from_millis(100)).unwrap_err();
        assert_eq!(error, CallError::Timeout(Duration::from_millis(100)));
        assert!(begun.elapsed() < SOON);
    }
}

#[test]
fn arbitrary_bytes_on_the_socket_only_wake_the_reader() {
    use std::io::Write;
    let mut liar = liar(small());
    (&*liar.socket).write_all(&[0xff; 10_000]).unwrap();
    liar.push(&call(1, 3), b"abc");
    let begun = Instant::now();
    // The answer is the first frame of the other ring.
    while liar.memory.words()[64].load(Relaxed) == 0 {
        assert!(begun.elapsed() < SOON);
        thread::yield_now();
    }
    assert_eq!(liar.link.fault(), None);
}

/// Whatever the shared memory contains: the link ends or goes on, and calls return.
#[test]
fn random_words_in_shared_memory_are_handled_safely() {
    for seed in 1..=300_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let liar = liar(LinkLimits { stall: Duration::from_millis(20), ..small() });
        for _ in 0..40 {
            let words = liar.memory.words();
            let place = match dice.below(3) {
                0 => dice.below(8) * 16,
                1 => 512 + dice.below(16),
                _ => dice.below(words.len()),
            };
            let value = match dice.below(4) {
                0 => dice.roll(),
                1 => dice.roll() % 600,
                2 => (dice.roll() % 600) | ((dice.roll() % 8) << 32),
                _ => 1 << dice.below(64),
            };
            words[place].store(value, Relaxed);
            liar.bell.ring();
            if dice.below(4) == 0 {
                let _ = liar.link.call(1, &vec![1; dice.below(3000)], Duration::from_millis(1));
            }
        }
        liar.link.close();
        assert!(liar.link.fault().is_some());
    }
}

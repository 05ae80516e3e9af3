//! Links within one process: calls, answers, cancellation, deadlines.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use super::fixture::{Dice, SOON, echo, linked, small};
use crate::slot::OneshotSlot;
use crate::{
    CallError, CallFailure, Incoming, LinkEndReason, LinkLimits, NoCalls, PendingCall, ProcessLink, Workers,
};

/// Returns the result of a future, within the timeout of a test.
fn wait(pending: PendingCall) -> Result<Vec<u8>, CallError> {
    let slot = Arc::new(OneshotSlot::new());
    let filled = Arc::clone(&slot);
    thread::spawn(move || {
        let waker = Waker::from(Arc::new(LinkTestWaker(thread::current())));
        let mut pending = std::pin::pin!(pending);
        loop {
            if let std::task::Poll::Ready(outcome) = pending.as_mut().poll(&mut Context::from_waker(&waker)) {
                filled.fill(outcome);
                return;
            }
            thread::park();
        }
    });
    slot.wait(Instant::now() + SOON).expect("it ends in time")
}

struct LinkTestWaker(thread::Thread);

impl std::task::Wake for LinkTestWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON, "it never holds");
        thread::yield_now();
    }
}

#[test]
fn sent_bytes_are_returned() {
    for limits in [small(), LinkLimits::default(), LinkLimits { spin: Duration::ZERO, ..small() }] {
        let (link, _other) = linked(limits, NoCalls, echo);
        let mut dice = Dice(3);
        for length in [0, 1, 7, 8, 9, 1023, 1024, 1025, 4096, 65_536, 1 << 20] {
            let bytes: Vec<u8> = (0..length).map(|_| dice.roll().to_le_bytes()[0]).collect();
            assert!(link.call(1, &bytes, SOON).unwrap() == bytes, "{length} bytes");
            assert!(
                wait(link.call_async(1, bytes.clone(), SOON).unwrap()).unwrap() == bytes,
                "{length} bytes"
            );
        }
    }
}

#[test]
fn responses_arrive_in_any_order() {
    let kept = Arc::new(Mutex::new(HashMap::new()));
    let keeper = Arc::clone(&kept);
    let (link, _other) = linked(small(), NoCalls, move |call: Incoming| {
        keeper.lock().unwrap().insert(call.method(), call);
    });
    let calls: Vec<_> = (0..16).map(|method| link.call_async(method, Vec::new(), SOON).unwrap()).collect();
    assert_eq!(link.call_async(16, Vec::new(), SOON).unwrap_err(), CallError::Busy(16));
    until(|| kept.lock().unwrap().len() == 16);
    for method in (0..16).rev() {
        let call = kept.lock().unwrap().remove(&method).unwrap();
        call.answer(vec![method.to_le_bytes()[0]]);
    }
    for (method, call) in calls.into_iter().enumerate() {
        assert_eq!(wait(call).unwrap(), [u8::try_from(method).unwrap()]);
    }
}

#[test]
fn both_sides_call_concurrently() {
    let workers = || Workers::start(2, 16, |call| Ok(call.bytes().to_vec())).unwrap();
    let (left, right) = linked(small(), workers(), workers());
    let threads: Vec<_> = (0..4)
        .map(|index| {
            let link = if index % 2 == 0 { left.clone() } else { right.clone() };
            thread::spawn(move || {
                let mut dice = Dice(index + 1);
                for _ in 0..300 {
                    let bytes = vec![dice.roll().to_le_bytes()[0]; dice.below(20_000)];
                    assert!(link.call(1, &bytes, SOON).unwrap() == bytes);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Long answers in both directions at once, by handlers on the threads that would have to make room for them.
#[test]
fn long_responses_do_not_block_each_other() {
    let (left, right) = linked(small(), echo, echo);
    let calls: Vec<_> = (0..8)
        .flat_map(|_| [&left, &right].map(|link| link.call_async(1, vec![1; 100_000], SOON).unwrap()))
        .collect();
    for call in calls {
        assert_eq!(wait(call).unwrap().len(), 100_000);
    }
}

#[test]
fn a_callback_succeeds() {
    let slot: Arc<Mutex<Option<ProcessLink>>> = Arc::default();
    let back = Arc::clone(&slot);
    let workers = Workers::start(1, 16, move |call: &Incoming| {
        let link = back.lock().unwrap().clone().expect("the link is there before it is called");
        link.call(2, call.bytes(), SOON)
            .map_err(|error| CallFailure::new(CallFailure::FAILED, error.to_string()))
    });
    let (link, other) = linked(small(), echo, workers.unwrap());
    *slot.lock().unwrap() = Some(other);
    assert_eq!(link.call(1, b"there and back", SOON).unwrap(), b"there and back");
    *slot.lock().unwrap() = None;
}

#[test]
fn a_handler_on_the_link_thread_cannot_block_on_the_link() {
    let slot: Arc<Mutex<Option<ProcessLink>>> = Arc::default();
    let back = Arc::clone(&slot);
    let (link, other) = linked(small(), echo, move |call: Incoming| {
        let link = back.lock().unwrap().clone().expect("the link is there before it is called");
        call.answer(link.call(2, b"", SOON).unwrap_err().to_string().into_bytes());
    });
    *slot.lock().unwrap() = Some(other);
    let said = String::from_utf8(link.call(1, b"", SOON).unwrap()).unwrap();
    assert_eq!(said, CallError::OnReader.to_string());
    *slot.lock().unwrap() = None;
}

#[test]
fn failures_report_their_reason() {
    let (link, _other) = linked(small(), NoCalls, |call: Incoming| match call.method() {
        1 => call.fail(CallFailure::new(77, "out of order")),
        2 => panic!("the handler itself"),
        3 => call.answer_with(|_| panic!("number {}", 3)),
        4 => drop(call),
        5 => call.answer(vec![0; (1 << 20) + 1]),
        _ => call.fail(CallFailure::new(78, "é".repeat(4000))),
    });
    let failed = |method| match link.call(method, b"", SOON) {
        Err(CallError::Failed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    assert_eq!(failed(1), CallFailure::new(77, "out of order"));
    assert_eq!(failed(2), CallFailure::new(CallFailure::PANICKED, "the handler panicked"));
    assert_eq!(failed(3), CallFailure::new(CallFailure::PANICKED, "the handler panicked: number 3"));
    assert_eq!(failed(4), CallFailure::new(CallFailure::UNANSWERED, "the handler did not answer"));
    assert_eq!(failed(5).code, CallFailure::ANSWER_TOO_LONG);
    assert_eq!(failed(6).text.len(), 4096);
    let error = link.call(1, &vec![0; (1 << 20) + 1], SOON).unwrap_err();
    assert_eq!(error, CallError::TooLong { bytes: (1 << 20) + 1, limit: 1 << 20 });
}

#[test]
fn a_cancelled_call_is_not_served_any_more() {
    let (sender, cancelled) = channel();
    let sender = Mutex::new(sender);
    let (link, _other) = linked(small(), NoCalls, move |call: Incoming| {
        let sender = sender.lock().unwrap().clone();
        thread::spawn(move || {
            until(|| call.cancellation().is_cancelled());
            sender.send(call.method()).unwrap();
        });
    });
    let limit = Duration::from_millis(50);
    assert_eq!(link.call(1, b"", limit), Err(CallError::Timeout(limit)));
    assert_eq!(cancelled.recv_timeout(SOON), Ok(1));
    drop(link.call_async(2, Vec::new(), SOON).unwrap());
    assert_eq!(cancelled.recv_timeout(SOON), Ok(2));
    // The link's own thread abandons futures, also an earlier one after a later one.
    let later = link.call_async(3, Vec::new(), 2 * limit).unwrap();
    let earlier = link.call_async(4, Vec::new(), limit).unwrap();
    assert_eq!(wait(earlier), Err(CallError::Timeout(limit)));
    assert_eq!(wait(later), Err(CallError::Timeout(2 * limit)));
    let mut both = [cancelled.recv_timeout(SOON).unwrap(), cancelled.recv_timeout(SOON).unwrap()];
    both.sort_unstable();
    assert_eq!(both, [3, 4]);
}

#[test]
fn a_cancellation_can_be_awaited() {
    let (sender, cancelled) = channel();
    let sender = Mutex::new(sender);
    let (link, _other) = linked(small(), NoCalls, move |call: Incoming| {
        let sender = sender.lock().unwrap().clone();
        thread::spawn(move || {
            let waker = Waker::from(Arc::new(LinkTestWaker(thread::current())));
            let mut cancellation = std::pin::pin!(call.cancellation());
            while cancellation.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                thread::park();
            }
            sender.send(()).unwrap();
        });
    });
    drop(link.call_async(1, Vec::new(), SOON).unwrap());
    assert_eq!(cancelled.recv_timeout(SOON), Ok(()));
}

#[test]
fn pending_calls_end_with_the_link() {
    let (link, other) = linked(small(), NoCalls, |call: Incoming| {
        // Kept until the caller no longer waits.
        thread::spawn(move || until(|| call.cancellation().is_cancelled()));
    });
    let pending = link.call_async(1, Vec::new(), SOON).unwrap();
    let waiting = {
        let link = link.clone();
        thread::spawn(move || link.call(2, b"", SOON))
    };
    drop(other);
    assert_eq!(wait(pending), Err(CallError::Ended(LinkEndReason::Gone)));
    assert_eq!(waiting.join().unwrap(), Err(CallError::Ended(LinkEndReason::Gone)));
    assert_eq!(link.call(1, b"", SOON), Err(CallError::Ended(LinkEndReason::Gone)));
    assert_eq!(link.fault(), Some(LinkEndReason::Gone));
}

#[test]
fn a_response_sent_before_the_link_ends_arrives() {
    for _ in 0..100 {
        let (link, other) = linked(small(), NoCalls, echo);
        let pending = link.call_async(1, b"last".to_vec(), SOON).unwrap();
        // Answered before this call is, on the same thread.
        let _ = link.call(1, b"", SOON);
        other.close();
        assert_eq!(wait(pending).unwrap(), b"last");
    }
}

#[test]
fn bytes_of_unanswered_calls_are_limited() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeper = Arc::clone(&kept);
    let limits = LinkLimits { calls_bytes_max: 1000, ..small() };
    let (link, _other) = linked(limits, NoCalls, move |call: Incoming| keeper.lock().unwrap().push(call));
    let first = link.call_async(1, vec![0; 5000], SOON).unwrap();
    until(|| kept.lock().unwrap().len() == 1);
    let refused = link.call(2, b"one more", SOON);
    assert!(
        matches!(&refused, Err(CallError::Failed(failure)) if failure.code == CallFailure::BUSY),
        "{refused:?}"
    );
    kept.lock().unwrap().pop().unwrap().answer(Vec::new());
    assert!(wait(first).is_ok());
    let next = link.call_async(3, vec![0; 900], SOON).unwrap();
    until(|| kept.lock().unwrap().len() == 1);
    kept.lock().unwrap().pop().unwrap().answer(Vec::new());
    assert!(wait(next).is_ok());
}

#[test]
fn workers_refuse_calls_when_the_queue_is_full() {
    let begun = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(Mutex::new(()));
    let (count, closed) = (Arc::clone(&begun), Arc::clone(&gate));
    let held = gate.lock().unwrap();
    let workers = Workers::start(1, 1, move |call| {
        count.fetch_add(1, SeqCst);
        drop(closed.lock().unwrap());
        Ok(call.bytes().to_vec())
    });
    let (link, _other) = linked(small(), NoCalls, workers.unwrap());
    let first = link.call_async(1, b"1".to_vec(), SOON).unwrap();
    until(|| begun.load(SeqCst) == 1);
    let second = link.call_async(1, b"2".to_vec(), SOON).unwrap();
    let third = link.call_async(1, b"3".to_vec(), SOON).unwrap();
    assert!(matches!(wait(third), Err(CallError::Failed(failure)) if failure.code == CallFailure::BUSY));
    drop(held);
    assert_eq!(wait(first).unwrap(), b"1");
    assert_eq!(wait(second).unwrap(), b"2");
}

/// Many threads, many sizes and many concurrent calls; some are abandoned.
#[test]
fn many_concurrent_calls_leak_nothing() {
    let workers = Workers::start(2, 64, |call| Ok(call.bytes().to_vec())).unwrap();
    let (link, other) = linked(LinkLimits { calls_max: 64, ..small() }, NoCalls, workers);
    let threads: Vec<_> = (1..=4)
        .map(|seed| {
            let link = link.clone();
            thread::spawn(move || {
                let mut dice = Dice(seed);
                for _ in 0..500 {
                    let bytes = vec![dice.roll().to_le_bytes()[0]; dice.below(3000)];
                    match dice.below(4) {
                        0 => drop(link.call_async(1, bytes, SOON)),
                        1 => drop(link.call(1, &bytes, Duration::from_micros(dice.roll() % 100))),
                        2 => assert!(link.call(1, &bytes, SOON).unwrap() == bytes),
                        _ => {
                            let pending = link.call_async(1, bytes.clone(), SOON).unwrap();
                            assert!(wait(pending).unwrap() == bytes);
                        }
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(link.call(1, b"still there", SOON).unwrap(), b"still there");
    assert_eq!((link.fault(), other.fault()), (None, None));
}

//! Model check of the ring over every order of its steps and every permitted memory view: no side keeps sleeping
//! while there is a message or room, and the bytes read are the bytes written.
//!
//! It compiles the ring's own source with the memory of the model checker, where a process that sleeps forever is a
//! deadlock.

#![allow(
    dead_code,
    unnameable_types,
    unreachable_pub,
    reason = "the sources are those of a library, of which the model uses some"
)]

#[path = "../src/fault.rs"]
mod fault;
#[path = "../src/frame.rs"]
mod frame;
#[path = "../src/ring.rs"]
mod ring;

use std::sync::Arc;

use loom::model::Builder;
use loom::sync::mpsc::channel;
use loom::thread;

use crate::frame::{RingFrameHeader, RingFrameKind};
use crate::memory::Memory;
use crate::ring::{Consumer, Producer, LinkRole, memory_bytes, split};

/// Memory of the model checker, initially zero.
mod memory {
    pub(crate) use loom::sync::atomic::{AtomicU64, fence};

    #[derive(Debug)]
    pub(crate) struct Memory(Vec<AtomicU64>);

    impl Memory {
        pub(crate) fn new(bytes: usize) -> Self {
            Self((0..bytes / 8).map(|_| AtomicU64::new(0)).collect())
        }

        pub(crate) fn words(&self) -> &[AtomicU64] {
            &self.0
        }
    }
}

/// Checks all orders in which threads are preempted at most `interruptions_max` times.
fn check(interruptions_max: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(interruptions_max);
    builder.max_branches = 10_000;
    builder.check(run);
}

/// Creates a ring with room for two frames without bytes, or for one with some.
fn ring() -> (Producer, Consumer) {
    let memory = Arc::new(Memory::new(memory_bytes(RING_BYTES)));
    let (producer, _) = split(Arc::clone(&memory), RING_BYTES, LinkRole::Connector);
    let (_, consumer) = split(memory, RING_BYTES, LinkRole::Acceptor);
    (producer, consumer)
}

fn frame(call: u64, bytes: u32) -> RingFrameHeader {
    RingFrameHeader { kind: RingFrameKind::Call, bytes, call, detail: 0, timeout_ms: 0, total: bytes.into() }
}

#[test]
fn a_reader_never_sleeps_over_a_message() {
    check(3, || {
        let (mut producer, mut consumer) = ring();
        let (bell, woken) = channel();
        consumer.rest();
        let writer = thread::spawn(move || {
            for call in 1..=2 {
                assert!(producer.try_push(&frame(call, 0), &[]).unwrap());
                if producer.must_wake_reader() {
                    // Like a byte on a socket: it stays until it is read.
                    bell.send(()).unwrap();
                }
            }
        });
        let mut taken = 0;
        while taken < 2 {
            consumer.watch();
            while let Some(next) = consumer.peek().unwrap() {
                taken += 1;
                assert_eq!(next, frame(taken, 0));
                consumer.take(&next, &mut Vec::new());
            }
            if taken < 2 && consumer.rest() {
                woken.recv().unwrap();
            }
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_writer_never_sleeps_while_there_is_room() {
    check(3, || {
        let (mut producer, mut consumer) = ring();
        let (bell, woken) = channel();
        for call in 1..=2 {
            assert!(producer.try_push(&frame(call, 0), &[]).unwrap());
        }
        let reader = thread::spawn(move || {
            for call in 1..=2 {
                let next = consumer.peek().unwrap().unwrap();
                assert_eq!(next, frame(call, 0));
                consumer.take(&next, &mut Vec::new());
                if consumer.must_wake_writer() {
                    bell.send(()).unwrap();
                }
            }
        });
        while !producer.try_push(&frame(3, 24), &[3; 24]).unwrap() {
            producer.request_writer_wake();
            if producer.try_push(&frame(3, 24), &[3; 24]).unwrap() {
                break;
            }
            woken.recv().unwrap();
        }
        reader.join().unwrap();
    });
}

#[test]
fn a_message_is_read_as_written() {
    check(3, || {
        let (mut producer, mut consumer) = ring();
        let writer = thread::spawn(move || {
            // The second message reuses the place of the first and wraps around the end of the ring.
            for (call, bytes) in [(1, vec![1; 9]), (2, vec![2; 24])] {
                while !producer.try_push(&frame(call, u32::try_from(bytes.len()).unwrap()), &bytes).unwrap() {
                    thread::yield_now();
                }
            }
        });
        for (call, bytes) in [(1, vec![1; 9]), (2, vec![2; 24])] {
            let next = loop {
                match consumer.peek().unwrap() {
                    Some(next) => break next,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(next.call, call);
            let mut got = Vec::new();
            consumer.take(&next, &mut got);
            assert_eq!(got, bytes);
        }
        writer.join().unwrap();
    });
}

const RING_BYTES: usize = 64;

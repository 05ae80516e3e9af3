//! Rings, frames and the assembly of messages.

use std::sync::atomic::Ordering::Relaxed;

use super::fixture::{Dice, ring};
use crate::assembler::Assembler;
use crate::fault::Misconduct;
use crate::frame::{RingFrameHeader, RingFrameKind};

fn frame(bytes: usize) -> RingFrameHeader {
    let bytes = u32::try_from(bytes).unwrap();
    RingFrameHeader {
        kind: RingFrameKind::Call,
        bytes,
        call: 7,
        detail: 9,
        timeout_ms: 11,
        total: bytes.into(),
    }
}

#[test]
fn frames_of_all_lengths_arrive_in_order() {
    let (mut producer, mut consumer, _) = ring(4096);
    let mut dice = Dice(1);
    let mut under_way = std::collections::VecDeque::new();
    let mut passed = 0;
    while passed < 20_000 {
        let bytes: Vec<u8> = (0..dice.below(1025)).map(|_| dice.roll().to_le_bytes()[0]).collect();
        if producer.try_push(&frame(bytes.len()), &bytes).unwrap() {
            under_way.push_back(bytes);
            if dice.below(3) > 0 {
                continue;
            }
        }
        let expected = under_way.pop_front().unwrap();
        let next = consumer.peek().unwrap().unwrap();
        assert_eq!(next, frame(expected.len()));
        let mut got = b"before".to_vec();
        consumer.take(&next, &mut got);
        assert_eq!(got.strip_prefix(b"before"), Some(&expected[..]));
        passed += 1;
    }
}

#[test]
fn a_full_ring_accepts_no_frames() {
    let (mut producer, mut consumer, _) = ring(4096);
    let mut count = 0;
    while producer.try_push(&frame(96), &[1; 96]).unwrap() {
        count += 1;
    }
    assert_eq!(count, 4096 / 128);
    let next = consumer.peek().unwrap().unwrap();
    consumer.take(&next, &mut Vec::new());
    assert!(producer.try_push(&frame(96), &[1; 96]).unwrap());
    assert!(!producer.try_push(&frame(0), &[]).unwrap());
}

#[test]
fn a_sleeping_reader_is_woken_once() {
    let (mut producer, consumer, _) = ring(4096);
    assert!(!producer.must_wake_reader());
    assert!(consumer.rest());
    producer.try_push(&frame(0), &[]).unwrap();
    assert!(producer.must_wake_reader());
    assert!(!producer.must_wake_reader());
    assert!(!consumer.rest(), "there is something to read");
}

#[test]
fn a_writer_that_waits_for_room_is_woken_once() {
    let (mut producer, mut consumer, _) = ring(4096);
    producer.try_push(&frame(0), &[]).unwrap();
    producer.request_writer_wake();
    let next = consumer.peek().unwrap().unwrap();
    consumer.take(&next, &mut Vec::new());
    assert!(consumer.must_wake_writer());
    assert!(!consumer.must_wake_writer());
}

#[test]
fn impossible_positions_are_refused() {
    let (mut producer, consumer, memory) = ring(4096);
    for tail in [513, u64::MAX, 1 << 63] {
        memory.words()[0].store(tail, Relaxed);
        assert_eq!(consumer.peek(), Err(Misconduct::Position { used: tail, capacity: 512 }));
    }
    memory.words()[0].store(3, Relaxed);
    assert_eq!(consumer.peek(), Err(Misconduct::Truncated { words: 4, used: 3 }));
    memory.words()[16].store(1, Relaxed);
    let refused = producer.try_push(&frame(0), &[]);
    assert_eq!(refused, Err(Misconduct::Position { used: u64::MAX, capacity: 512 }));
}

#[test]
fn truncated_frames_are_refused() {
    let (mut producer, consumer, memory) = ring(4096);
    producer.try_push(&frame(8), &[0; 8]).unwrap();
    for (bytes, words) in [(9, 6), (u32::MAX, 4 + (1 << 29))] {
        memory.words()[512].store(u64::from(bytes) | 1 << 32, Relaxed);
        assert_eq!(consumer.peek(), Err(Misconduct::Truncated { words, used: 5 }));
    }
    memory.words()[512].store(8 | 6 << 32, Relaxed);
    assert_eq!(consumer.peek(), Err(Misconduct::Kind(6)));
    memory.words()[512].store(8 | 1 << 32 | 1 << 40, Relaxed);
    assert_eq!(consumer.peek(), Err(Misconduct::Reserved));
}

#[test]
fn a_frame_header_round_trips() {
    for kind in [
        RingFrameKind::Call,
        RingFrameKind::Answer,
        RingFrameKind::Failure,
        RingFrameKind::Cancel,
        RingFrameKind::More,
    ] {
        let frame = RingFrameHeader { kind, bytes: 1, call: 2, detail: 3, timeout_ms: 4, total: 5 };
        assert_eq!(RingFrameHeader::parse(frame.to_words()), Ok(frame));
    }
}

#[test]
fn fragments_are_assembled_into_a_message() {
    let mut assembler = Assembler::new(100, 8);
    let first = RingFrameHeader {
        kind: RingFrameKind::Answer,
        bytes: 8,
        call: 1,
        detail: 0,
        timeout_ms: 0,
        total: 20,
    };
    assembler.accept(&first).unwrap().extend([1; 8]);
    assert_eq!(assembler.take_whole(), None);
    let more = RingFrameHeader { kind: RingFrameKind::More, ..first };
    assembler.accept(&more).unwrap().extend([2; 8]);
    assembler.accept(&RingFrameHeader { bytes: 4, ..more }).unwrap().extend([3; 4]);
    let message = assembler.take_whole().unwrap();
    assert_eq!((message.kind, message.call, message.bytes.len()), (RingFrameKind::Answer, 1, 20));
    assert_eq!(assembler.accept(&more).unwrap_err(), Misconduct::Stray);
}

#[test]
fn a_cancelled_message_leaves_no_fragments() {
    let mut assembler = Assembler::new(100, 8);
    let first =
        RingFrameHeader { kind: RingFrameKind::Call, bytes: 8, call: 1, detail: 0, timeout_ms: 0, total: 20 };
    assembler.accept(&first).unwrap().extend([1; 8]);
    let other = RingFrameHeader { bytes: 3, call: 2, total: 3, ..first };
    assembler.accept(&other).unwrap().extend([2; 3]);
    assert_eq!(assembler.take_whole().unwrap().bytes, [2; 3]);
}

#[test]
fn mismatched_fragments_are_refused() {
    let first =
        RingFrameHeader { kind: RingFrameKind::Call, bytes: 8, call: 1, detail: 0, timeout_ms: 0, total: 20 };
    let more = RingFrameHeader { kind: RingFrameKind::More, ..first };
    let refused = |frames: &[RingFrameHeader]| {
        let mut assembler = Assembler::new(100, 8);
        frames.iter().find_map(|frame| match assembler.accept(frame) {
            Ok(bytes) => {
                bytes.resize(bytes.len() + frame.bytes as usize, 0);
                None
            }
            Err(misconduct) => Some(misconduct),
        })
    };
    assert_eq!(refused(&[more]), Some(Misconduct::Stray));
    assert_eq!(
        refused(&[RingFrameHeader { total: 101, ..first }]),
        Some(Misconduct::Length { bytes: 101, limit: 100 })
    );
    assert_eq!(
        refused(&[RingFrameHeader { bytes: 7, ..first }]),
        Some(Misconduct::Piece { bytes: 7, expected: 8 })
    );
    assert_eq!(refused(&[first, RingFrameHeader { call: 2, ..more }]), Some(Misconduct::Stray));
    assert_eq!(refused(&[first, RingFrameHeader { total: 21, ..more }]), Some(Misconduct::Stray));
    assert_eq!(refused(&[first, more, more]), Some(Misconduct::Piece { bytes: 8, expected: 4 }));
}

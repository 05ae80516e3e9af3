//! Frames for tests of both sides: as bytes and in readable form.

use std::ops::ControlFlow;

use super::Http2Fault;
use super::frame::{self, FrameHead, write_frame};
use super::hpack::Decoder;

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Flags of a head that ends its stream.
pub(super) const ENDS: u8 = 0x5;
/// Flags of a head with more to follow.
pub(super) const OPEN: u8 = 0x4;

/// Returns a frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame(&mut out, kind, flags, stream, payload);
    out
}

/// Encodes fields without compression.
pub(super) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        for text in [name, value] {
            assert!(text.len() < 127);
            out.push(u8::try_from(text.len()).unwrap());
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}

/// Returns a request head that adds an `x-big` header of this size to the dynamic table and references it `repeats`
/// times.
pub(super) fn head_with_repeats(value_bytes: usize, repeats: usize) -> Vec<u8> {
    // The static table has GET, http and /; the authority and the header are new, the header last and so the first
    // entry.
    [&[0x82, 0x86, 0x84, 0x01, 1, b'x'], fields_with_repeats(value_bytes, repeats).as_slice()].concat()
}

/// Returns the header alone, without the rest of the request head.
pub(super) fn fields_with_repeats(value_bytes: usize, repeats: usize) -> Vec<u8> {
    assert!((127 + 128..127 + 128 * 128).contains(&value_bytes));
    let mut out = b"\x40\x05x-big\x7f".to_vec();
    let beyond = value_bytes - 127;
    out.extend([u8::try_from(beyond % 128).unwrap() | 0x80, u8::try_from(beyond / 128).unwrap()]);
    out.resize(out.len() + value_bytes, b'v');
    out.resize(out.len() + repeats, 0xbe);
    out
}

/// Returns a request head that references the header, which must be in the dynamic table, `count` times.
pub(super) fn repeats(count: usize) -> Vec<u8> {
    [[0x82, 0x86, 0x84, 0x01, 1, b'x'].as_slice(), &vec![0xbe; count]].concat()
}

/// Returns frames in readable form; fields are decoded with `decoder`.
pub(super) fn words(out: &[u8], decoder: &mut Decoder) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = out;
    while let Some(head) = FrameHead::parse(rest) {
        let payload = &rest[9..9 + head.length];
        rest = &rest[9 + head.length..];
        let word = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
        let (stream, flags) = (head.stream, head.flags);
        words.push(match head.kind {
            frame::DATA => format!("data {stream} {} end={}", payload.len(), flags & 1),
            frame::HEADERS => {
                let mut text = format!("head {stream} end={}", flags & 1);
                let decoded = decoder.decode(payload, |name, value| {
                    text += &format!(" {}={}", str::from_utf8(name).unwrap(), str::from_utf8(value).unwrap());
                    ControlFlow::Continue(())
                });
                decoded.unwrap();
                text
            }
            frame::RST_STREAM => format!("reset {stream} {}", word(0)),
            frame::SETTINGS => format!("settings ack={}", flags & 1),
            frame::PING => format!("ping ack={}", flags & 1),
            frame::GOAWAY => format!("goaway {} {}", word(0), word(4)),
            frame::WINDOW_UPDATE => format!("window {stream} {}", word(0)),
            other => format!("frame {other}"),
        });
    }
    words
}

/// Repeats an attack, with the number of repetitions so far, until it fails; returns how often it succeeded.
pub(super) fn until_fault<T>(mut attack: impl FnMut(u32) -> Result<T, Http2Fault>) -> (u32, Http2Fault) {
    let mut count = 0;
    loop {
        match attack(count) {
            Ok(_) => count += 1,
            Err(fault) => return (count, fault),
        }
        assert!(count <= 1_000, "the budget is used up before");
    }
}

/// Returns a generator of numbers below a limit.
pub(super) fn random_numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Returns up to 19 bytes.
pub(super) fn random_bytes(random: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    (0..random(20)).map(|_| u8::try_from(random(256)).unwrap()).collect()
}

/// Appends a frame; the kinds that belong to the connection get no stream.
pub(super) fn push_frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let of_connection = matches!(kind, 4 | 6 | 7);
    bytes.extend(frame(kind, flags, if of_connection { 0 } else { stream }, payload));
}

/// Changes a byte in every fourth case.
pub(super) fn damage(bytes: &mut [u8], random: &mut impl FnMut(u64) -> u64) {
    if random(4) == 0 {
        let at = usize::try_from(random(bytes.len() as u64)).unwrap();
        bytes[at] = u8::try_from(random(256)).unwrap();
    }
}

/// Checks that the output of a connection is whole frames of valid kinds and lengths.
pub(super) fn check_whole_frames(out: &[u8]) {
    let mut rest = out;
    while let Some(head) = FrameHead::parse(rest) {
        assert!(head.kind <= frame::CONTINUATION && head.length <= 16 * 1024);
        rest = &rest[9 + head.length..];
    }
    assert!(rest.is_empty(), "whole frames are written");
}

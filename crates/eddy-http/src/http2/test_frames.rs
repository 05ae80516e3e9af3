//! What tests of both halves say and hear: frames as bytes, and in words.

use super::frame::{self, FrameHead, write_frame};
use super::hpack::Decoder;

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Flags of a head that nothing follows.
pub(super) const ENDS: u8 = 0x5;
/// Flags of a head that something follows.
pub(super) const OPEN: u8 = 0x4;

/// A frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame(&mut out, kind, flags, stream, payload);
    out
}

/// Fields, as they are written without being compressed.
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

/// Frames in words; what they say of fields goes through `decoder`.
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

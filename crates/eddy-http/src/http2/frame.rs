//! HTTP/2 frame header.

/// Length of a frame header: length, type, flags, stream.
pub(super) const FRAME_HEAD_BYTES: usize = 9;
/// Maximum frame size, both received and sent: the minimum that the protocol requires a peer to support.
pub(super) const FRAME_BYTES_MAX: usize = 16 * 1024;

pub(super) const DATA: u8 = 0x0;
pub(super) const HEADERS: u8 = 0x1;
pub(super) const PRIORITY: u8 = 0x2;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const SETTINGS: u8 = 0x4;
pub(super) const PUSH_PROMISE: u8 = 0x5;
pub(super) const PING: u8 = 0x6;
pub(super) const GOAWAY: u8 = 0x7;
pub(super) const WINDOW_UPDATE: u8 = 0x8;
pub(super) const CONTINUATION: u8 = 0x9;

pub(super) const FLAG_ACK: u8 = 0x1;
pub(super) const FLAG_END_STREAM: u8 = 0x1;
pub(super) const FLAG_END_HEADERS: u8 = 0x4;
pub(super) const FLAG_PADDED: u8 = 0x8;
pub(super) const FLAG_PRIORITY: u8 = 0x20;

/// A frame header.
///
/// # Spec
/// [RFC 9113 §4.1](https://www.rfc-editor.org/rfc/rfc9113#section-4.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl FrameHead {
    /// Parses the frame header at the beginning of `bytes`; `None` while it is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, s0, s1, s2, s3] = *bytes.first_chunk::<FRAME_HEAD_BYTES>()?;
        Some(Self {
            length: usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c),
            kind,
            flags,
            // The first bit is reserved.
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & STREAM_MAX,
        })
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Writes a frame header.
pub(super) fn write_frame_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    debug_assert!(length <= FRAME_BYTES_MAX, "no longer frames are sent");
    let length = u32::try_from(length).expect("a frame has at most 16 KiB").to_be_bytes();
    out.extend(length.iter().skip(1));
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Writes a frame.
pub(super) fn write_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    write_frame_head(out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
}

/// Parses a four-byte number without its first bit; `None` for another length.
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(payload.try_into().ok()?) & STREAM_MAX)
}

/// Converts a length for a window, which may become negative.
pub(super) fn signed(length: usize) -> i64 {
    i64::try_from(length).expect("nothing in memory is that long")
}

/// Highest stream ID, and largest window.
pub(super) const STREAM_MAX: u32 = (1 << 31) - 1;

//! What each side tells the other of itself.

use super::code::{ErrorCode, Refused};
use super::connection::Http2Role;
use super::frame::{self, FLAG_ACK, FRAME_BYTES_MAX, STREAM_MAX, write_frame};
use super::limits::Http2Limits;

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;
/// Extended `CONNECT` (RFC 8441 §3).
const ENABLE_CONNECT_PROTOCOL: u16 = 0x8;
/// How many streams a peer takes at once that has not said it (RFC 9113 §6.5.2 would have it take at least so many).
const STREAMS_UNTOLD: u32 = 100;
/// Longest frame that any side may ask for.
const MAX_FRAME_SIZE_MAX: u32 = (1 << 24) - 1;
/// The window of a connection until it is told otherwise.
pub(super) const WINDOW: u32 = 65_535;

/// What the peer tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerSettings {
    /// What may be sent on a new stream.
    pub(super) stream_window: u32,
    /// How many streams it takes at once.
    pub(super) streams_max: u32,
    /// Whether it takes extended `CONNECT`.
    pub(super) takes_tunnels: bool,
}

impl Default for PeerSettings {
    fn default() -> Self {
        Self { stream_window: WINDOW, streams_max: STREAMS_UNTOLD, takes_tunnels: false }
    }
}

impl PeerSettings {
    /// Takes note of what the peer tells. Longer frames than usual are never sent, and nothing that we send is
    /// remembered, so what it allows of that matters to nobody.
    ///
    /// # Errors
    /// What is no setting.
    ///
    /// # Spec
    /// RFC 9113 §6.5.2, RFC 8441 §3
    pub(super) fn take(&mut self, payload: &[u8], role: Http2Role) -> Result<(), Refused> {
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(Refused::FRAME_SIZE);
        }
        for [i0, i1, v0, v1, v2, v3] in settings {
            let value = u32::from_be_bytes([*v0, *v1, *v2, *v3]);
            match u16::from_be_bytes([*i0, *i1]) {
                // A server may say that there is none (RFC 9113 §6.5.2).
                ENABLE_PUSH if value > u32::from(role == Http2Role::Server) => return Err(Refused::PROTOCOL),
                INITIAL_WINDOW_SIZE if value > STREAM_MAX => {
                    return Err(Refused::Connection(ErrorCode::FlowControl));
                }
                INITIAL_WINDOW_SIZE => self.stream_window = value,
                MAX_FRAME_SIZE if !(16_384..=MAX_FRAME_SIZE_MAX).contains(&value) => {
                    return Err(Refused::PROTOCOL);
                }
                MAX_CONCURRENT_STREAMS => self.streams_max = value,
                ENABLE_CONNECT_PROTOCOL if value > 1 => return Err(Refused::PROTOCOL),
                // Once said it holds.
                ENABLE_CONNECT_PROTOCOL => self.takes_tunnels |= value == 1,
                HEADER_TABLE_SIZE | ENABLE_PUSH | MAX_FRAME_SIZE | MAX_HEADER_LIST_SIZE => {}
                // What nobody knows is to be let be.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Writes what we tell of ourselves, and the window of the connection.
pub(super) fn write_own(out: &mut Vec<u8>, limits: &Http2Limits, role: Http2Role) {
    let of_role: &[(u16, u32)] = match role {
        Http2Role::Server => &[(MAX_CONCURRENT_STREAMS, limits.streams_max), (ENABLE_CONNECT_PROTOCOL, 1)],
        Http2Role::Client { .. } => &[(ENABLE_PUSH, 0)],
    };
    let of_both =
        [(INITIAL_WINDOW_SIZE, limits.stream_window), (MAX_HEADER_LIST_SIZE, limits.head.head_bytes_max)];
    let mut payload = Vec::with_capacity(6 * (of_role.len() + of_both.len()));
    for (id, value) in of_role.iter().chain(&of_both) {
        payload.extend_from_slice(&id.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    const { assert!(FRAME_BYTES_MAX >= 16_384, "the least that the protocol allows is not told") };
    write_frame(out, frame::SETTINGS, 0, 0, &payload);
    if let Some(more) = limits.connection_window.checked_sub(WINDOW).filter(|more| *more > 0) {
        write_frame(out, frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
    }
}

/// Writes that the peer's settings were taken.
pub(super) fn write_ack(out: &mut Vec<u8>) {
    write_frame(out, frame::SETTINGS, FLAG_ACK, 0, &[]);
}

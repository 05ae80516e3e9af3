//! HTTP/2 SETTINGS.

use super::code::{ErrorCode, Refused};
use super::frame::{self, FLAG_ACK, FRAME_BYTES_MAX, STREAM_MAX, write_frame};
use super::limits::Http2Limits;
use super::role::Http2Role;

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;
/// Extended `CONNECT` (RFC 8441 §3).
const ENABLE_CONNECT_PROTOCOL: u16 = 0x8;
/// Maximum concurrent streams of a peer that has not announced any (RFC 9113 §6.5.2 recommends at least as many).
const STREAMS_DEFAULT: u32 = 100;
/// Largest frame size that may be announced.
const MAX_FRAME_SIZE_MAX: u32 = (1 << 24) - 1;
/// Initial window of a connection.
pub(super) const WINDOW: u32 = 65_535;

/// Settings of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerSettings {
    /// Initial send window of a new stream.
    pub(super) stream_window: u32,
    /// Maximum concurrent streams.
    pub(super) streams_max: u32,
    /// Whether the peer accepts extended `CONNECT`.
    pub(super) supports_tunnels: bool,
}

impl Default for PeerSettings {
    fn default() -> Self {
        Self { stream_window: WINDOW, streams_max: STREAMS_DEFAULT, supports_tunnels: false }
    }
}

impl PeerSettings {
    /// Applies a SETTINGS payload. Limits on frame size and header table do not matter, because eddy sends no longer
    /// frames than the default and does not use the dynamic table.
    ///
    /// # Errors
    /// For an invalid setting.
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
                // A server may announce that it does not push (RFC 9113 §6.5.2).
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
                // Cannot be withdrawn.
                ENABLE_CONNECT_PROTOCOL => self.supports_tunnels |= value == 1,
                HEADER_TABLE_SIZE | ENABLE_PUSH | MAX_FRAME_SIZE | MAX_HEADER_LIST_SIZE => {}
                // Unknown settings are ignored.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Writes the own settings, and the window of the connection.
pub(super) fn write_local_settings(out: &mut Vec<u8>, limits: &Http2Limits, role: Http2Role) {
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
    const {
        assert!(FRAME_BYTES_MAX >= 16_384, "MAX_FRAME_SIZE is not announced, so the default must be accepted")
    };
    write_frame(out, frame::SETTINGS, 0, 0, &payload);
    if let Some(more) = limits.connection_window.checked_sub(WINDOW).filter(|more| *more > 0) {
        write_frame(out, frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
    }
}

/// Writes the acknowledgement of the peer's settings.
pub(super) fn write_ack(out: &mut Vec<u8>) {
    write_frame(out, frame::SETTINGS, FLAG_ACK, 0, &[]);
}

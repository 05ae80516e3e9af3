//! Downstream connections: one exchange after the other or several at once, in any HTTP version; or forwarding
//! unchanged.

mod announced;
mod datagram;
mod forward;
mod handshake;
mod http2;
mod listener;
mod serve;

pub(crate) use datagram::{SessionFlows, take_datagrams};
pub(crate) use listener::{ListenerHandle, has_room};
pub(crate) use serve::{ConnectionSlot, DRAIN_IDLE_TIMEOUT, serve};

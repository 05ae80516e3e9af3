//! Downstream connections: one exchange after the other or several at once, in any HTTP version; or forwarding
//! unchanged.

mod announced;
mod client;
mod datagram;
mod downstream;
mod duplex;
mod forward;
mod handshake;
mod http2;
mod rate;
mod relay;
mod serve;
mod wire;

pub(crate) use datagram::{Flows, take_datagrams};
pub(crate) use downstream::Downstream;
pub(crate) use duplex::DuplexStream;
pub(crate) use handshake::SecureClient;
pub(crate) use rate::RateGuard;
pub(crate) use relay::{DuplexRelay, RelayDeadlines, RelayEnd};
pub(crate) use serve::{ConnectionSlot, serve};
pub(crate) use wire::Wire;

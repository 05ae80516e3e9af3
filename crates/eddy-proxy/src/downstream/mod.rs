//! The client side of a session: its connection, what is known of the client, and relays between two connections.

mod client;
mod connection;
mod rate;
mod relay;
mod wire;

pub(crate) use client::{AddressKey, DownstreamClient, SecureClient};
pub(crate) use connection::{Downstream, Wake};
pub(crate) use rate::RateGuard;
pub(crate) use relay::{DuplexRelay, RelayDeadlines, RelayEnd};
pub(crate) use wire::Wire;

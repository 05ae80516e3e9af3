//! The client side of a session: its connection, what is known of the client, and relays between two connections.

mod address_key;
mod client;
mod connection;
mod rate;
mod relay;
mod secure;
mod wire;

pub(crate) use address_key::AddressKey;
pub(crate) use client::DownstreamClient;
pub(crate) use connection::{Downstream, Wake};
pub(crate) use rate::RateGuard;
pub(crate) use relay::{DuplexRelay, RelayDeadlines, RelayEnd};
pub(crate) use secure::SecureClient;
pub(crate) use wire::Wire;

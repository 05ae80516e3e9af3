//! Listening sockets: bound once, held by address, and lent to one gateway process after another.

mod bind;
mod holder;
mod store;

pub(crate) use bind::SocketBindError;
pub(crate) use holder::explain_address_in_use;
pub(crate) use store::{HeldSockets, SocketStore};

#[cfg(test)]
mod tests;

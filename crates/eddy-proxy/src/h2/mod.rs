//! Connections over HTTP/2, to clients and endpoints alike, as their tasks and exchanges use them.
//!
//! [`eddy_http::Http2`] speaks the protocol. A connection's task reads and writes for it; an exchange has a [`H2Stream`];
//! both share a [`H2Connection`]. All run on one worker, so nothing is locked.

mod shared;
mod stream;

pub(crate) use shared::H2Connection;
pub(crate) use stream::H2Stream;

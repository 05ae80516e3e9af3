//! HTTP/2 connections to clients and endpoints, as their tasks and exchanges use them.
//!
//! [`eddy_http::Http2`] implements the protocol. A connection's task reads and writes for it; an exchange has a
//! [`H2Stream`]; both share a [`H2Connection`]. All run on one worker, so there are no locks.

mod shared;
mod stream;
mod transport;

pub(crate) use shared::H2Connection;
pub(crate) use stream::{AfterData, H2Stream};
pub(crate) use transport::H2Transport;

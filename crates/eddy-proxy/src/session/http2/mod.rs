//! A client's connection over HTTP/2: many exchanges at once, each on a stream of its own.
//!
//! [`eddy_http::Http2`] speaks the protocol. [`serve::serve_framed`] is the connection's task, which reads and writes for it; an
//! exchange is a task beside it that has a [`FramedStream`]; both share a [`connection::Connection`]. All run on the
//! worker that has accepted the client, so nothing is locked.

mod begin;
mod connection;
mod serve;
mod stream;

pub(crate) use begin::begins_framed;
pub(crate) use serve::serve_framed;
pub(crate) use stream::FramedStream;

//! A client's connection over HTTP/2: many exchanges at once, each on a stream of its own.
//!
//! [`serve::serve_framed`] is the connection's task, which reads and writes for it; an exchange is a task beside it that has a
//! [`crate::h2::H2Stream`].

mod begin;
mod connection;
mod serve;

pub(crate) use begin::begins_framed;
pub(crate) use serve::serve_framed;

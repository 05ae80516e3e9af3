//! HTTP/2 connection of a client: many concurrent exchanges, each on its own stream.
//!
//! [`serve::serve_framed`] is the connection's task, which reads and writes for it. Each exchange is a task of its own
//! that uses a [`crate::h2::H2Stream`].

mod serve;

pub(crate) use serve::serve_framed;

//! HTTP/2 from either side, without I/O: bytes in, messages and bytes out.
//!
//! [`Http2`] is a connection. It is fed what the peer sends, tells which requests have come or what of answers, and keeps what
//! is to be written; the bodies of its streams are read and written through it. Heads come out as the text that all heads of
//! eddy are, to be read by [`crate::RequestHead::parse_framed`] or [`crate::ResponseHead`], and go in as such.

mod client;
mod code;
mod connection;
mod fields;
mod frame;
mod hpack;
mod limits;
mod meter;
mod preface;
mod receive;
mod send;
mod settings;
mod stream;

#[cfg(test)]
mod client_tests;
#[cfg(test)]
mod test_frames;
#[cfg(test)]
mod tests;

pub use client::OpenedStream;
pub use code::{ErrorCode, Http2Fault};
pub use connection::Http2;
pub use limits::Http2Limits;
pub use meter::{ABUSE_LABELS, Abuse};
pub use preface::{Spoken, spoken};
pub use stream::{BodyReadResult, Gone, H2Head, Loss, Unread};

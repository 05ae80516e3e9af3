//! HTTP/2 for both sides, without I/O: bytes in, messages and bytes out.
//!
//! [`Http2`] is a connection. It is fed the received bytes, reports new requests or response data, and collects the
//! output; stream bodies are read and written through it. Heads are converted from and to the text form that all heads
//! in eddy have, for [`crate::RequestHead::parse_http2`] or [`crate::ResponseHead`].

mod client;
mod code;
mod connection;
mod fields;
mod frame;
mod growth;
#[cfg(test)]
mod growth_tests;
mod hpack;
mod limits;
mod meter;
mod preface;
mod receive;
mod role;
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
pub use preface::{DetectedProtocol, spoken};
pub use stream::{BodyReadResult, Gone, H2Head, Loss, Unread};

//! HTTP/1.1 as bytes on a socket: a strict reader of its own, a raw client and what the kernel knows of a socket.

mod client;
mod diag;
mod message;
mod reader;

pub use client::{Answer, Client, DEADLINE, End, Next, Segments, get, reset, within, within_for};
pub use diag::SocketDiag;
pub use message::{Fields, Framing, Request, Response};
pub use reader::{Reading, read_request, read_response};

//! HTTP/1.1 as bytes on a socket: an independent strict parser, a raw client and socket queries to the kernel.

mod client;
mod diag;
mod message;
mod reader;

pub use client::{
    ClientEvent, ConnectionEnd, DEADLINE, FinalResponse, Segments, WireClient, get, reset, within, within_for,
};
pub use diag::SocketDiag;
pub use message::{WireBodyFraming, WireFields, WireRequest, WireResponse};
pub use reader::{ParseOutcome, read_request, read_response};

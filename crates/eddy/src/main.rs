//! The eddy program: an L7 gateway.

#![forbid(unsafe_code)]

mod control;
mod log;
mod notify;
mod parent;
mod signals;
mod sockets;

fn main() {}

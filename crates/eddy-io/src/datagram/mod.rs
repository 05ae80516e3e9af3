//! UDP sockets.

mod sockets;
#[cfg(test)]
mod tests;

pub use sockets::{DATAGRAM_BYTES_MAX, DatagramLink, DatagramListener, Flow};

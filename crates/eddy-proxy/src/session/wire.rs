//! What a request comes by and its answer goes by.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use eddy_io::Stream;

use crate::h2::H2Stream;

/// What a request comes by and its answer goes by.
#[derive(Debug)]
pub(crate) enum Wire {
    /// A connection of HTTP/1, on which messages follow each other.
    Connection(Stream),
    /// A stream of a connection of HTTP/2, which has one request and its answer.
    Framed(H2Stream),
}

impl Wire {
    /// Waits until there may be something to read, without a buffer to read it into.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Connection(stream) => stream.poll_readable(cx),
            Self::Framed(_) => Poll::Ready(Ok(())),
        }
    }

    /// Whether the peer of a connection has ended its side, as far as the loop has been told.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self, Self::Connection(stream) if stream.is_ended())
    }

    /// Ends our side of a connection; a stream is ended by its answer.
    ///
    /// # Errors
    /// When the peer has already reset the connection.
    pub(crate) fn shutdown_write(&mut self) -> io::Result<()> {
        match self {
            Self::Connection(stream) => stream.shutdown_write(),
            Self::Framed(_) => Ok(()),
        }
    }

    /// Says the end inside of a connection that has a way to say it, as TLS has.
    pub(crate) fn say_end(&mut self) {
        if let Self::Connection(stream) = self {
            stream.say_end();
        }
    }

    /// The address on our side of a connection, where it has one.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Connection(stream) => stream.local_address(),
            Self::Framed(_) => None,
        }
    }

    /// Makes the close that follows a reset; what the kernel says to that changes nothing.
    pub(crate) fn reset_on_close(&self) {
        if let Self::Connection(stream) = self {
            // A peer that has gone already has nothing to be told.
            let _ = stream.reset_on_close();
        }
    }
}

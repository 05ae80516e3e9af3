//! Limits of an HTTP/2 connection.

use crate::head::HeadLimits;

/// Limits on memory and work of an HTTP/2 connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http2Limits {
    /// Maximum concurrent streams. Default 100.
    pub streams_max: u32,
    /// Initial flow-control window per stream, bytes: request body data that may arrive before it is read. Default 64
    /// KiB.
    pub stream_window: u32,
    /// Limit to which the window of a stream grows with the bandwidth-delay product, bytes. Default 64 KiB: it does not
    /// grow.
    pub stream_window_max: u32,
    /// Flow-control window of the connection: the same for all streams together. Default 1 MiB.
    pub connection_window: u32,
    /// Bytes by which the windows of all streams grow together at most; the window of the connection grows as much.
    /// Default 0.
    pub growth_max: u32,
    /// Abuse budget for frames other than requests and bodies; see [`super::Abuse`]. Default 1000.
    pub budget: u32,
    /// Limits on a request head, counted after decompression.
    pub head: HeadLimits,
}

impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            streams_max: 100,
            stream_window: 64 * 1024,
            stream_window_max: 64 * 1024,
            connection_window: 1024 * 1024,
            growth_max: 0,
            budget: 1000,
            head: HeadLimits::default(),
        }
    }
}

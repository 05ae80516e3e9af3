//! How much a connection may hold.

use crate::head::HeadLimits;

/// How much a connection of HTTP/2 may hold and ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http2Limits {
    /// Most streams at once. Default 100.
    pub streams_max: u32,
    /// How much of a request's body may come before its exchange takes it, bytes. Default 64 KiB.
    pub stream_window: u32,
    /// The same for all streams together. Default 1 MiB.
    pub connection_window: u32,
    /// What frames that are neither requests nor bodies may cost at once; see [`super::Abuse`]. Default 1000.
    pub budget: u32,
    /// How large the head of a request may be, counted as it comes out.
    pub head: HeadLimits,
}

impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            streams_max: 100,
            stream_window: 64 * 1024,
            connection_window: 1024 * 1024,
            budget: 1000,
            head: HeadLimits::default(),
        }
    }
}

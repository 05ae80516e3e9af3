//! Host functions for filters besides the call itself; counterpart of `eddy_host` in the filter ABI.

use std::fmt;
use std::sync::Weak;

use eddy_ids::Millis;

use crate::filter::FilterLibrary;
use crate::handle::Handle;
use crate::host_error::HostError;
use crate::metric::MetricRegistry;
use crate::phase::Verdict;

/// Host functions that filters can call, from any thread.
///
/// The default methods are those of a host without traffic: no exchange waits, no cluster is configured, and log
/// messages are discarded.
pub trait HostApi: Send + Sync {
    /// Returns the number of workers.
    fn workers(&self) -> usize;

    /// Returns the lowest level that is logged.
    fn level(&self) -> FilterLogLevel;

    /// Returns the registry for filter metrics.
    fn metrics(&self) -> &MetricRegistry;

    /// Resumes a paused exchange; `edits` are records like those of the call with this turn.
    ///
    /// # Errors
    /// [`HostError::Gone`], [`HostError::Stale`], [`HostError::TooLarge`], [`HostError::Full`]; and
    /// [`HostError::Invalid`] for [`Verdict::Pause`].
    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let _ = (exchange, turn, verdict, edits);
        Err(HostError::Gone)
    }

    /// Writes a message to eddy's log.
    ///
    /// # Errors
    /// [`HostError::Full`] when the message was dropped because the filter logs too much.
    fn log(&self, filter: u32, level: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        let _ = (filter, level, text);
        Ok(())
    }

    /// Sends an outbound request to a cluster; its outcome is reported by [`FilterLibrary::event`].
    ///
    /// # Errors
    /// [`HostError::Unknown`] for an unknown cluster, [`HostError::Full`] for too many concurrent requests,
    /// [`HostError::Invalid`] and [`HostError::TooLarge`] for a request that cannot be sent, [`HostError::Gone`].
    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        let _ = request;
        Err(HostError::Unknown)
    }

    /// Sends an outbound request whose body goes on with [`Self::send_data`] behind that of the request, and whose
    /// response is reported piece by piece by [`FilterLibrary::stream_event`], both on this worker. The cluster must
    /// support HTTP/2. A timeout of [`Millis::ZERO`] means no timeout.
    ///
    /// # Errors
    /// As [`Self::send`].
    fn open_stream(&self, request: &FilterOutboundRequest<'_>, worker: u16) -> Result<(), HostError> {
        let _ = (request, worker);
        Err(HostError::Unknown)
    }

    /// Adds data to the body of a streamed request.
    ///
    /// # Errors
    /// [`HostError::Unknown`] when the request does not exist, [`HostError::Full`] when more than 4 MiB wait to be
    /// sent, [`HostError::Invalid`] behind the end of the body.
    fn send_data(&self, filter: u32, token: u64, data: StreamData<'_>) -> Result<(), HostError> {
        let _ = (filter, token, data);
        Err(HostError::Unknown)
    }

    /// Cancels an outbound request.
    ///
    /// # Errors
    /// [`HostError::Unknown`] when the request does not exist, or its outcome was already reported.
    fn cancel(&self, filter: u32, token: u64) -> Result<(), HostError> {
        let _ = (filter, token);
        Err(HostError::Unknown)
    }

    /// Returns the soft memory limit for a language runtime in a library, in bytes; 0 for none. It is queried once.
    fn memory_soft_bytes(&self) -> u64 {
        0
    }

    /// Wakes a library once on a worker's thread, with [`EventKind::Woken`]. Nothing happens if the library has been
    /// dropped by then.
    ///
    /// # Errors
    /// [`HostError::Unknown`] for a worker that does not exist, [`HostError::Full`] for too many requests at once.
    fn wake(&self, wake: Wake) -> Result<(), HostError> {
        drop(wake);
        Err(HostError::Unknown)
    }
}

/// Request to wake a library.
#[derive(Clone)]
pub struct Wake {
    /// Library.
    pub library: Weak<dyn FilterLibrary>,
    /// The host's number of the filter; returned in the event.
    pub filter: u32,
    /// Token, returned in the event.
    pub token: u64,
    /// Worker on whose thread the library is woken.
    pub worker: u16,
    /// Minimum delay; with [`Millis::ZERO`], as soon as the worker can.
    pub after: Millis,
}

/// Outbound request of a filter to one of eddy's clusters.
#[derive(Clone, Debug)]
pub struct FilterOutboundRequest<'a> {
    /// The host's number of the filter.
    pub filter: u32,
    /// Token, returned in the event.
    pub token: u64,
    /// Exchange in which the request is made, if any.
    pub exchange: Option<Handle>,
    /// Relation of the request to that exchange.
    pub bond: CallBond,
    /// Name of the cluster.
    pub cluster: &'a str,
    /// Method.
    pub method: &'a [u8],
    /// Path and query.
    pub target: &'a [u8],
    /// Authority; if empty, the cluster's name is sent.
    pub authority: &'a [u8],
    /// Header names and values.
    pub fields: Vec<(&'a [u8], &'a [u8])>,
    /// Body.
    pub body: &'a [u8],
    /// Timeout until the response is complete; [`Millis::ZERO`] for the host's default.
    pub timeout: Millis,
}

/// Data of a streamed request's body.
#[derive(Clone, Copy, Debug)]
pub struct StreamData<'a> {
    /// Bytes.
    pub bytes: &'a [u8],
    /// Whether they are the last ones.
    pub is_end: bool,
}

/// Relation of an outbound request to the exchange in which it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallBond {
    /// The exchange waits for the request, which is cancelled when the exchange ends.
    #[default]
    Awaited,
    /// The exchange may wait for the request, which continues as a background call when the exchange ends.
    Lasting,
    /// No exchange waits for the request: a background call.
    Background,
}

/// Log level; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum FilterLogLevel {
    /// Trace.
    Trace = 0,
    /// Debug.
    Debug = 1,
    /// Information.
    Info = 2,
    /// Warning.
    Warn = 3,
    /// Error.
    Error = 4,
    /// Nothing is logged.
    Off = 5,
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { filter, token, worker, after, .. } = self;
        write!(f, "Wake(filter {filter}, token {token}, worker {worker}, in {} ms)", after.get())
    }
}

impl FilterLogLevel {
    /// Returns the level with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Trace),
            1 => Some(Self::Debug),
            2 => Some(Self::Info),
            3 => Some(Self::Warn),
            4 => Some(Self::Error),
            5 => Some(Self::Off),
            _ => None,
        }
    }
}

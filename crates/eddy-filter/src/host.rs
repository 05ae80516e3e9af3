//! What eddy offers to filters beside the call itself; the other side of `eddy_host`.

use std::fmt;
use std::sync::Weak;

use thiserror::Error;

use crate::filter::FilterLibrary;
use crate::handle::Handle;
use crate::metric::{MetricError, MetricRegistry};
use crate::phase::Verdict;

/// What filters can ask of eddy, from any thread.
///
/// What is left as it stands here is that of a host without traffic: no exchange waits, no cluster is configured, and
/// nobody reads what is logged.
pub trait HostApi: Send + Sync {
    /// How many workers there are.
    fn workers(&self) -> usize;

    /// The least level that is logged.
    fn level(&self) -> FilterLogLevel;

    /// Where filters define their metrics.
    fn metrics(&self) -> &MetricRegistry;

    /// Goes on with a paused exchange; `edits` are records as those of the call with this turn.
    ///
    /// # Errors
    /// [`HostError::Gone`], [`HostError::Stale`], [`HostError::TooLarge`], [`HostError::Full`]; and
    /// [`HostError::Invalid`] for [`Verdict::Pause`].
    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let _ = (exchange, turn, verdict, edits);
        Err(HostError::Gone)
    }

    /// Writes a record to eddy's log.
    ///
    /// # Errors
    /// [`HostError::Full`] when it was dropped because the filter writes too many.
    fn log(&self, filter: u32, level: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        let _ = (filter, level, text);
        Ok(())
    }

    /// Sends a request to a cluster; its end is told by [`crate::Library::event`].
    ///
    /// # Errors
    /// [`HostError::Unknown`] for a cluster that is not configured, [`HostError::Full`] for too many at once,
    /// [`HostError::Invalid`] and [`HostError::TooLarge`] for what cannot be sent, [`HostError::Gone`].
    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        let _ = request;
        Err(HostError::Unknown)
    }

    /// Gives a request up.
    ///
    /// # Errors
    /// [`HostError::Unknown`] when there is none, or its end was told already.
    fn cancel(&self, filter: u32, token: u64) -> Result<(), HostError> {
        let _ = (filter, token);
        Err(HostError::Unknown)
    }

    /// Memory that a runtime in a library should stay below, as far as it can; 0 for no wish. Asked once.
    fn memory_soft_bytes(&self) -> u64 {
        0
    }

    /// Has a library woken on a worker's thread by [`EventKind::Woken`], once. Nothing comes of it when the library is
    /// gone by then.
    ///
    /// # Errors
    /// [`HostError::Unknown`] for a worker that there is not, [`HostError::Full`] for too many at once.
    fn wake(&self, wake: Wake) -> Result<(), HostError> {
        drop(wake);
        Err(HostError::Unknown)
    }
}

/// When and where a library wants to be woken.
#[derive(Clone)]
pub struct Wake {
    /// The library.
    pub library: Weak<dyn FilterLibrary>,
    /// The host's number of the filter; comes back in the event.
    pub filter: u32,
    /// Comes back in the event.
    pub token: u64,
    /// On whose thread.
    pub worker: u16,
    /// After how many milliseconds at the least; with 0 as soon as the worker gets to it.
    pub after_ms: u32,
}

/// A request of a filter's own to one of eddy's clusters.
#[derive(Clone, Debug)]
pub struct FilterOutboundRequest<'a> {
    /// The host's number of the filter.
    pub filter: u32,
    /// Comes back in the event.
    pub token: u64,
    /// The exchange that it was made in, if any.
    pub exchange: Option<Handle>,
    /// What ties it to that exchange.
    pub bond: CallBond,
    /// The cluster's name.
    pub cluster: &'a str,
    /// The method.
    pub method: &'a [u8],
    /// Path and query.
    pub target: &'a [u8],
    /// The host sent; empty for the cluster's name.
    pub authority: &'a [u8],
    /// Names and values.
    pub fields: Vec<(&'a [u8], &'a [u8])>,
    /// The body.
    pub body: &'a [u8],
    /// Longest time until the whole answer is there, milliseconds.
    pub timeout_ms: u32,
}

/// What ties a filter's request to the exchange that it was made in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallBond {
    /// The exchange waits for it: when that is over, the request is given up.
    #[default]
    Awaited,
    /// The exchange may wait for it: when that is over, it goes on as a background call.
    Lasting,
    /// No exchange waits for it: a background call.
    Background,
}

/// Something that happened for a filter.
#[derive(Clone, Copy, Debug)]
pub struct FilterEvent<'a> {
    /// What happened.
    pub kind: EventKind,
    /// The host's number of the filter.
    pub filter: u32,
    /// What the filter gave the request.
    pub token: u64,
    /// The worker on whose thread it is told.
    pub worker: u16,
    /// The response's status.
    pub status: u16,
    /// The response's fields.
    pub fields: eddy_http::Fields<'a>,
    /// The response's body, or a word that tells why there is none.
    pub body: &'a [u8],
}

/// What happened; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum EventKind {
    /// The answer to an outbound request is there.
    Response = 1,
    /// There will be none.
    Failed = 2,
    /// The library wanted to be woken.
    Woken = 3,
}

/// How grave a record of the log is; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum FilterLogLevel {
    /// Every step.
    Trace = 0,
    /// For those who look for a mistake.
    Debug = 1,
    /// Worth knowing.
    Info = 2,
    /// Something is odd.
    Warn = 3,
    /// Something failed.
    Error = 4,
    /// Nothing.
    Off = 5,
}

/// Why the host did not do what it was asked; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[repr(i32)]
pub enum HostError {
    /// The exchange is over.
    #[error("the exchange is over")]
    Gone = -1,
    /// The exchange does not wait for this turn.
    #[error("the exchange does not wait for this: it was resumed before, answered, or timed out")]
    Stale = -2,
    /// More bytes than the limit.
    #[error("too large")]
    TooLarge = -3,
    /// A queue or table is full.
    #[error("there is no room for it now")]
    Full = -4,
    /// An argument makes no sense.
    #[error("an argument makes no sense")]
    Invalid = -5,
    /// No such cluster, filter or call.
    #[error("there is no such thing")]
    Unknown = -6,
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { filter, token, worker, after_ms, .. } = self;
        write!(f, "Wake(filter {filter}, token {token}, worker {worker}, in {after_ms} ms)")
    }
}

impl From<MetricError> for HostError {
    fn from(error: MetricError) -> Self {
        match error {
            MetricError::Full => Self::Full,
            MetricError::BadName | MetricError::BadBounds | MetricError::Differs => Self::Invalid,
        }
    }
}

impl FilterLogLevel {
    /// The level with this number.
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

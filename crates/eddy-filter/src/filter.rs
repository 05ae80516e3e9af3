//! Configured filters and their libraries.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::call::LibraryCall;
use crate::event::{FilterEvent, StreamEvent};
use crate::phase::Interest;

/// Library that runs filters: built-in ones, or those of a guest.
///
/// It is entered by several workers at once.
pub trait FilterLibrary: Send + Sync + fmt::Debug {
    /// Returns the library's name for messages and metrics.
    fn name(&self) -> &str;

    /// Enters the filters of a call until one does not continue, and writes their results into it.
    ///
    /// Never panics and never blocks: a library converts both to [`crate::Verdict::Fault`] where it can.
    fn run(&self, call: &mut LibraryCall<'_>);

    /// Whether its filters may give a message without a body one, by [`crate::FilterEdit::BodySet`] in the head phase.
    fn supplies_bodies(&self) -> bool {
        self.is_own()
    }

    /// Delivers an event to a filter, on a worker's thread.
    fn event(&self, event: &FilterEvent<'_>);

    /// Delivers a part of the response to a request that was sent with [`crate::HostApi::open_stream`], on the thread of
    /// the worker that the request named.
    fn stream_event(&self, event: &StreamEvent<'_>) {
        let _ = event;
    }

    /// Whether its filters are built in, and may use functions beyond the filter ABI.
    fn is_own(&self) -> bool {
        false
    }
}

/// Keeps a resource of a library alive; the library decides what dropping the last clone frees.
#[derive(Clone, Default)]
pub struct LibraryKeepAlive(Option<Arc<dyn Any + Send + Sync>>);

/// Configured filter.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Name in the configuration.
    pub name: Arc<str>,
    /// The host's number of the filter, never reused in this process.
    pub id: u32,
    /// Library that runs the filter.
    pub library: Arc<dyn FilterLibrary>,
    /// The library's number of the filter.
    pub number: u64,
    /// Properties reported by the filter.
    pub info: FilterInfo,
    /// Settings from the configuration.
    pub policy: FilterPolicy,
    /// Frees the filter in the library when the last plan that uses it is dropped.
    pub owner: LibraryKeepAlive,
}

/// Properties reported by a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterInfo {
    /// Phases in which the filter is entered.
    pub interest: Interest,
    /// Whether bodies passed piece by piece keep their length, so that their framing can be kept; the host enforces it.
    /// A filter is exempt for a message from which it has removed `Content-Length`.
    pub keeps_length: bool,
    /// Whether its body hooks are meant for the data of tunnels, too, which does not pass the filters: there is no
    /// tunnel under rules in which the filter runs.
    pub expects_tunnels: bool,
}

/// Settings of a filter from the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterPolicy {
    /// Handling of an exchange in which the filter fails.
    pub on_failure: FailurePolicy,
    /// Maximum duration of a pause. Default 30 s.
    pub pause_timeout: Duration,
    /// Maximum size in bytes of a body that the filter may have buffered. Default 1 MiB.
    pub body_bytes_max: u64,
    /// Limits of the filter's own outbound requests.
    pub calls: CallLimits,
    /// Whether the filter runs on other threads than the worker's.
    pub is_blocking: bool,
    /// Whether the filter is disabled except where a rule enables it.
    pub is_disabled: bool,
}

/// Maximum number of concurrent outbound requests of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Requests made in one exchange. Default 16.
    pub per_exchange: u32,
    /// Background requests that no exchange waits for, of all workers. Default 128.
    pub background: u32,
}

/// Handling of an exchange in which a filter fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The client gets a 500 response, or the response is cut off if it has begun.
    #[default]
    Closed,
    /// The filter is skipped for the rest of the exchange; if it has changed anything, same as `Closed`.
    Open,
}

/// Result of loading a library or creating a filter.
pub type LoadResult<T = ()> = Result<T, LoadError>;

/// Error of loading a library or creating a filter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// The library has no filter of this name.
    #[error("the library \"{library}\" has no filter \"{name}\"; it has: {known}")]
    UnknownFilter {
        /// Library.
        library: String,
        /// Requested name.
        name: String,
        /// Names of the library's filters.
        known: String,
    },
    /// The filter refused its configuration.
    #[error("{message}")]
    Refused {
        /// Message of the filter.
        message: String,
    },
    /// A message path that the filter needs does not exist.
    #[error("{message}")]
    Path {
        /// Path, as configured.
        path: String,
        /// Error description.
        message: String,
    },
    /// The library cannot be loaded.
    #[error("{message}")]
    Library {
        /// Reason, and how to fix it.
        message: String,
    },
}

impl Default for FilterPolicy {
    fn default() -> Self {
        Self {
            on_failure: FailurePolicy::Closed,
            pause_timeout: Duration::from_secs(30),
            body_bytes_max: 1024 * 1024,
            calls: CallLimits::default(),
            is_blocking: false,
            is_disabled: false,
        }
    }
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { per_exchange: 16, background: 128 }
    }
}

impl LibraryKeepAlive {
    /// Creates a value that drops `owned` with its last clone.
    pub fn of(owned: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(owned)))
    }
}

impl fmt::Debug for LibraryKeepAlive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Owner" } else { "Owner(nothing)" })
    }
}

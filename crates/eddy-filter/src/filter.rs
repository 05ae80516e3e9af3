//! A configured filter, and the library that it comes from.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::call::LibraryCall;
use crate::host::FilterEvent;
use crate::phase::Interest;

/// What runs filters: the built-in ones, or a guest's.
///
/// Entered by several workers at once.
pub trait FilterLibrary: Send + Sync + fmt::Debug {
    /// Names the library in messages and metrics.
    fn name(&self) -> &str;

    /// Enters the filters of a call until one does not continue, and writes what they said into it.
    ///
    /// Never panics and never blocks: a library turns both into [`crate::Verdict::Fault`] where it can.
    fn run(&self, call: &mut LibraryCall<'_>);

    /// Tells of something that happened for a filter, on a worker's thread.
    fn event(&self, event: &FilterEvent<'_>);

    /// Whether its filters come with eddy, and may do what the contract has not.
    fn is_own(&self) -> bool {
        false
    }
}

/// Keeps something of a library alive; what it frees at the end is the library's matter.
#[derive(Clone, Default)]
pub struct LibraryKeepAlive(Option<Arc<dyn Any + Send + Sync>>);

/// A configured filter.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// The host's number of it, never used again in this process.
    pub id: u32,
    /// What runs it.
    pub library: Arc<dyn FilterLibrary>,
    /// The library's number of it.
    pub number: u64,
    /// What it says of itself.
    pub info: FilterInfo,
    /// What the configuration says of its place.
    pub policy: FilterPolicy,
    /// Frees it in the library when the last plan that has it is gone.
    pub owner: LibraryKeepAlive,
}

/// What a filter says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterInfo {
    /// In which phases it is entered.
    pub interest: Interest,
    /// Whether bodies that it is shown piece by piece keep their length, so that their framing can stay; it is held to
    /// that. For one message it is free once it has removed `content-length` from the head.
    pub keeps_length: bool,
}

/// What the configuration says of a filter's place in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterPolicy {
    /// What becomes of an exchange in which it fails.
    pub on_failure: FailurePolicy,
    /// Longest time of a pause. Default 30 s.
    pub pause_timeout: Duration,
    /// Largest body that it may have collected, bytes. Default 1 MiB.
    pub body_bytes_max: u64,
    /// Most requests of its own that it has under way.
    pub calls: CallLimits,
    /// Whether its hooks run elsewhere than on the worker's thread.
    pub is_blocking: bool,
    /// Whether it is entered only where a rule says so.
    pub is_disabled: bool,
}

/// Most requests of a filter's own that are under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Those made in one exchange. Default 16.
    pub per_exchange: u32,
    /// Those that no exchange waits for, of all workers. Default 128.
    pub background: u32,
}

/// What becomes of an exchange in which a filter fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The client is answered 500, or cut off where the answer had begun.
    #[default]
    Closed,
    /// The filter is left out for the rest of the exchange, unless it had changed something: then as `Closed`.
    Open,
}

/// Why a library or a filter of it cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// The library has no filter of this name.
    #[error("the library \"{library}\" has no filter \"{name}\"; it has: {known}")]
    UnknownFilter {
        /// The library.
        library: String,
        /// The name asked for.
        name: String,
        /// The names it has.
        known: String,
    },
    /// The filter refused its configuration.
    #[error("{message}")]
    Refused {
        /// What the filter said.
        message: String,
    },
    /// A path in messages that the filter is to read leads nowhere.
    #[error("{message}")]
    Path {
        /// The path, as the configuration has it.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The library cannot be loaded.
    #[error("{message}")]
    Library {
        /// Why, and what to do.
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
    /// An owner that drops `owned` with its last clone.
    pub fn of(owned: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(owned)))
    }
}

impl fmt::Debug for LibraryKeepAlive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Owner" } else { "Owner(nothing)" })
    }
}

//! Errors of the host functions that filters call.

use thiserror::Error;

use crate::metric::MetricError;

/// Error of a host function; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[repr(i32)]
pub enum HostError {
    /// The exchange has ended.
    #[error("the exchange has ended")]
    Gone = -1,
    /// The exchange does not wait for this turn.
    #[error("the exchange is not paused for this token: it was resumed, answered, or timed out")]
    Stale = -2,
    /// The data is larger than the limit.
    #[error("too large")]
    TooLarge = -3,
    /// A queue or table is full.
    #[error("a queue or table is full")]
    Full = -4,
    /// An argument is invalid.
    #[error("an argument is invalid")]
    Invalid = -5,
    /// The cluster, filter or call does not exist.
    #[error("it does not exist")]
    Unknown = -6,
}

impl From<MetricError> for HostError {
    fn from(error: MetricError) -> Self {
        match error {
            MetricError::Full => Self::Full,
            MetricError::BadName | MetricError::BadLabel | MetricError::BadBounds | MetricError::Differs => {
                Self::Invalid
            }
        }
    }
}

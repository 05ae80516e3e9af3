//! Kinds of filter failures, for the counters.

/// Kind of a filter failure, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The filter reported a failure, or panicked.
    Fault = 0,
    /// It requested an impossible edit.
    Edit = 1,
    /// It did not resume in time.
    Timeout = 2,
    /// It buffered more of a body than its limit.
    Body = 3,
    /// It reached its memory limit.
    Memory = 4,
    /// It reached its CPU time limit.
    Cpu = 5,
}

//! Status codes of host functions.

use thiserror::Error;
use wasm_sandbox::Beyond;

use super::wire_enum;

/// Result of a host function.
pub type HostResult<T = ()> = Result<T, Status>;

wire_enum! {
    /// Error status of a host function. Success is the `Ok` of a [`HostResult`] and the number 0.
    #[derive(Error)]
    Status {
        /// The requested item does not exist.
        #[error("not found")]
        NotFound = 1,
        /// An argument is invalid.
        #[error("bad argument")]
        BadArgument = 2,
        /// A value cannot be serialized in the requested form.
        #[error("serialization failure")]
        SerializationFailure = 3,
        /// A value cannot be parsed.
        #[error("parse failure")]
        ParseFailure = 4,
        /// A pointer or length reaches beyond the module's memory, or the module's allocator returned no memory.
        #[error("invalid memory access")]
        InvalidMemoryAccess = 6,
        /// The queue is empty.
        #[error("empty")]
        Empty = 7,
        /// The value was changed by another writer (compare-and-swap mismatch).
        #[error("compare-and-swap mismatch")]
        CasMismatch = 8,
        /// The host failed.
        #[error("internal failure")]
        InternalFailure = 10,
        /// The host does not implement the function.
        #[error("unimplemented")]
        Unimplemented = 12,
    }
}

impl From<Beyond> for Status {
    fn from(_: Beyond) -> Self {
        Self::InvalidMemoryAccess
    }
}

/// Converts a result to its status code, 0 for success.
pub(crate) fn wire(answer: HostResult) -> u32 {
    answer.map_or_else(Status::wire, |()| 0)
}

//! How host functions answer.

use thiserror::Error;
use wasm_sandbox::Beyond;

use super::wire_enum;

/// What a host function gives, or the status that says why not.
pub type HostResult<T = ()> = Result<T, Status>;

wire_enum! {
    /// Why a host function did not do what it was asked; success is the `Ok` of an [`Answer`] and the number 0.
    #[derive(Error)]
    Status {
        /// There is no such thing.
        #[error("not found")]
        NotFound = 1,
        /// An argument that makes no sense.
        #[error("bad argument")]
        BadArgument = 2,
        /// Something could not be written in the form that was asked for.
        #[error("serialization failure")]
        SerializationFailure = 3,
        /// Something could not be read.
        #[error("parse failure")]
        ParseFailure = 4,
        /// A pointer or a length beyond the module's memory, or the module gave none.
        #[error("invalid memory access")]
        InvalidMemoryAccess = 6,
        /// A queue without items.
        #[error("empty")]
        Empty = 7,
        /// Someone else has written since.
        #[error("compare-and-swap mismatch")]
        CasMismatch = 8,
        /// The host could not.
        #[error("internal failure")]
        InternalFailure = 10,
        /// The host does not offer this.
        #[error("unimplemented")]
        Unimplemented = 12,
    }
}

impl From<Beyond> for Status {
    fn from(_: Beyond) -> Self {
        Self::InvalidMemoryAccess
    }
}

/// The number of an answer.
pub(crate) fn wire(answer: HostResult) -> u32 {
    answer.map_or_else(Status::wire, |()| 0)
}

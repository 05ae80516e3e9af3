//! Binding of a service of the other side, before its first call.

use std::{error, fmt};

/// Request for a service, filled in by the other side. It contains no pointers into Go memory.
#[repr(C)]
pub(crate) struct Bind {
    /// If Go asks, the ABI version; set by the other side to the outcome.
    pub(crate) outcome: u64,
    /// Requested shape; set to the shape found.
    pub(crate) shape: u64,
    /// Set to the number of the first method, for Go as callee; to the ABI version found, if it differs.
    pub(crate) number: u64,
    /// Set to the address of the [`MethodEntryPoint`]s, for Rust as callee.
    pub(crate) entries: u64,
    /// Set to the number of methods.
    pub(crate) entries_len: u64,
    /// Set to the context that calls are made with, for Rust as callee.
    pub(crate) context: u64,
    /// Set to the address of the function that cancels calls by their ticket, for Rust as callee.
    pub(crate) cancel: u64,
    /// Address of Go's function that receives the results of asynchronous calls, for Rust as callee.
    pub(crate) complete: u64,
    /// Length of the name in bytes.
    pub(crate) name_len: u64,
    /// Name of the service.
    pub(crate) name: [u8; NAME_BYTES_MAX],
}

/// Entry point by which Go calls a Rust method: a function of the words of a call, or of the block of an asynchronous
/// call, and the context.
pub(crate) type MethodEntryPoint = unsafe extern "C" fn(*mut u64, usize) -> usize;

impl Bind {
    /// Creates a request for a service.
    ///
    /// # Errors
    ///
    /// The name is too long.
    pub(crate) fn of(name: &str, shape: u64) -> Result<Self, BindError> {
        let mut bytes = [0; NAME_BYTES_MAX];
        let Some(to) = bytes.get_mut(..name.len()) else {
            return Err(BindError::Name { name: name.to_owned() });
        };
        to.copy_from_slice(name.as_bytes());
        Ok(Self {
            outcome: 0,
            shape,
            number: 0,
            entries: 0,
            entries_len: 0,
            context: 0,
            cancel: 0,
            complete: 0,
            name_len: name.len() as u64,
            name: bytes,
        })
    }

    /// Returns the requested name.
    pub(crate) fn name(&self) -> &[u8] {
        let length = usize::try_from(self.name_len).unwrap_or(usize::MAX);
        self.name.get(..length).unwrap_or_default()
    }
}

/// Outcome: the service is bound.
pub(crate) const BOUND: u64 = 0;
/// Outcome: there is no service of this name.
pub(crate) const ABSENT: u64 = 1;
/// Outcome: the service of this name has another declaration.
pub(crate) const DIFFERENT: u64 = 2;

/// Outcome: the caller has another ABI version.
pub(crate) const OTHER_VERSION: u64 = 3;

/// Maximum length of a service name.
const NAME_BYTES_MAX: usize = 128;

/// Why a service can't be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The other side has no service of this name.
    Absent {
        /// Service name.
        name: String,
    },
    /// The other side was generated from another declaration.
    Different {
        /// Service name.
        name: String,
    },
    /// The name is longer than 128 bytes.
    Name {
        /// Service name.
        name: String,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { name } => {
                write!(f, "the Go library has no service `{name}`; call Register{name} in its init function")
            }
            Self::Different { name } => write!(
                f,
                "`{name}` of the Go library was generated from another declaration; run `eddy-bridge \
                 generate` and build it again"
            ),
            Self::Name { name } => write!(f, "the name `{name}` is longer than {NAME_BYTES_MAX} bytes"),
        }
    }
}

impl error::Error for BindError {}

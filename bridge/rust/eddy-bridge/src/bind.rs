//! Finding a service on the other side, before its first call.

use std::{error, fmt};

/// What one side asks for a service, and what the other answers. It has no pointers of Go's memory in it.
#[repr(C)]
pub(crate) struct Bind {
    /// Where Go asks, the version of all that crosses; set by the other side to how it went.
    pub(crate) outcome: u64,
    /// The shape that is wanted; set to the one that is there.
    pub(crate) shape: u64,
    /// Set to the number of its first method, for Go as callee; to the version that is there, where it is another.
    pub(crate) number: u64,
    /// Set to the address of [`Entry`]s, for Rust as callee.
    pub(crate) entries: u64,
    /// Set to how many methods there are.
    pub(crate) entries_len: u64,
    /// Set to what calls are made with as context, for Rust as callee.
    pub(crate) context: u64,
    /// Set to the address of the function that gives up calls by their ticket, for Rust as callee.
    pub(crate) cancel: u64,
    /// The address of Go's function that is told the ends of calls, for Rust as callee.
    pub(crate) complete: u64,
    /// Bytes of the name.
    pub(crate) name_len: u64,
    /// The name of the service.
    pub(crate) name: [u8; NAME_BYTES_MAX],
}

/// How Go calls a method of Rust: a function that takes the words of a call, or the block of one that is answered later, and
/// the context.
pub(crate) type MethodEntryPoint = unsafe extern "C" fn(*mut u64, usize) -> usize;

impl Bind {
    /// A question for a service.
    ///
    /// # Errors
    ///
    /// Its name is too long.
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

    /// The name that is asked for.
    pub(crate) fn name(&self) -> &[u8] {
        let length = usize::try_from(self.name_len).unwrap_or(usize::MAX);
        self.name.get(..length).unwrap_or_default()
    }
}

/// Outcome: the service is bound.
pub(crate) const BOUND: u64 = 0;
/// Outcome: there is none of this name.
pub(crate) const ABSENT: u64 = 1;
/// Outcome: the one of this name was made from another declaration.
pub(crate) const DIFFERENT: u64 = 2;

/// Outcome: the caller is of another version.
pub(crate) const OTHER_VERSION: u64 = 3;

/// The longest name of a service.
const NAME_BYTES_MAX: usize = 128;

/// Why a service can't be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The other side serves none of this name.
    Absent {
        /// The service.
        name: String,
    },
    /// The other side was generated from another declaration.
    Different {
        /// The service.
        name: String,
    },
    /// The name is longer than 128 bytes.
    Name {
        /// The service.
        name: String,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { name } => write!(
                f,
                "the Go library serves no `{name}`; it has to call Register{name} when it is initialized"
            ),
            Self::Different { name } => write!(
                f,
                "the Go library's `{name}` was generated from another declaration; run `eddy-bridge generate` and build it again"
            ),
            Self::Name { name } => write!(f, "the name `{name}` is longer than {NAME_BYTES_MAX} bytes"),
        }
    }
}

impl error::Error for BindError {}

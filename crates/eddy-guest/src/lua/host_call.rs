//! Host call of a VM.

use super::numbers::HostCallKind;

/// Host call from a VM.
pub(super) struct HostCall<'a> {
    pub(super) kind: HostCallKind,
    pub(super) first: &'a [u8],
    pub(super) second: &'a [u8],
    pub(super) numbers: [f64; 3],
}

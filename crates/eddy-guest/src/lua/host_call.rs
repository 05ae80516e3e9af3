//! Host call of a VM, and the kinds of its answers.

/// Host call from a VM.
pub(super) struct HostCall<'a> {
    pub(super) what: u32,
    pub(super) first: &'a [u8],
    pub(super) second: &'a [u8],
    pub(super) numbers: [f64; 3],
}

pub(super) const NOTHING: i32 = 0;

pub(super) const TEXT: i32 = 1;

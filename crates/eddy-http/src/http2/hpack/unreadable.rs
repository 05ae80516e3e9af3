//! Error of the HPACK decoder.

/// Invalid compressed fields; further blocks cannot be decoded either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Unreadable;

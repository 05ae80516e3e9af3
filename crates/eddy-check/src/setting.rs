//! Settings whose default a written value replaces.

use std::time::Duration;

use eddy_spec::read::Spanned;
use eddy_spec::value::{Number, Time};

/// Sets a value that is given; otherwise the target keeps its default.
pub(crate) fn set_time<const LEAST: u64, const MOST: u64>(
    target: &mut Duration,
    written: Option<Spanned<Time<LEAST, MOST>>>,
) {
    if let Some(written) = written {
        *target = written.value.0;
    }
}

/// Sets a value that is given; otherwise the target keeps its default.
pub(crate) fn set_number<const LEAST: u64, const MOST: u64>(
    target: &mut u32,
    written: Option<Spanned<Number<LEAST, MOST>>>,
) {
    if let Some(written) = written {
        *target = written.value.to_u32();
    }
}

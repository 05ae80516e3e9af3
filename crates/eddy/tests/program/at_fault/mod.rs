//! Failing filters under load: only their own requests suffer.

mod deaths;
mod illegal;
mod kits;
mod origin;
mod panics;
mod random;

/// Returns the size of a run: the short one for every change, the long one for a release.
fn size(short: usize, long: usize) -> usize {
    if std::env::var_os("EDDY_SOAK").is_some() { long } else { short }
}

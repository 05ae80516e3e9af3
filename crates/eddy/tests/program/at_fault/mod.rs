//! Filters at fault under load: only the requests that are theirs suffer.

mod deaths;
mod illegal;
mod kits;
mod origin;
mod panics;
mod random;

/// How much of a run is done: the short form for every change, the long one for a release.
fn size(short: usize, long: usize) -> usize {
    if std::env::var_os("EDDY_SOAK").is_some() { long } else { short }
}

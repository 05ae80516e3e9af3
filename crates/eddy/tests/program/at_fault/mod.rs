//! Filters at fault under load: only the requests that are theirs suffer.

mod illegal;
mod origin;
mod panics;

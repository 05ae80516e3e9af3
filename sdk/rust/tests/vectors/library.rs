//! The filter of the vectors as a library that eddy loads.

mod filter;
#[allow(dead_code, reason = "the filter needs no more of it than how texts are written")]
mod format;

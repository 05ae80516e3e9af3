//! The filter of the vectors as eddy loads it.

mod filter;
#[allow(dead_code, reason = "the filter needs no more of it than how texts are written")]
mod format;

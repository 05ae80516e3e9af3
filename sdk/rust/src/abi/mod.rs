//! The filter ABI of `abi/eddy_filter.h` in Rust: the same structures and numbers with Rust names.
//!
//! Filters do not need it: it is meant for tools that load libraries, and for tests. A test compiles the header and
//! compares every size, offset and number with these definitions.

mod fields;
mod numbers;
mod structures;

pub use fields::{NAMES as FIELD_NAMES, *};
pub use numbers::*;
pub use structures::*;

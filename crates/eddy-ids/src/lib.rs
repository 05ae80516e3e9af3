//! Counted references and typed identifiers of a configuration and its plan.

#![forbid(unsafe_code)]

mod shared;

pub use shared::{Shared, shared_clones};

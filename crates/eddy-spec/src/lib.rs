//! The configuration as written: from a text to values with their positions, and the problems found on the way.
//!
//! [`yaml`] parses a text into a tree, [`read`] and the declarations in [`spec`] turn the tree into a spec whose
//! scalars are the types of [`value`]. The published schema and reference are generated from the same declarations
//! ([`reference`]). This crate reads no file, no clock and no environment.

#![forbid(unsafe_code)]

mod leniency;
pub mod problem;
pub mod read;
pub mod reference;
pub mod spec;
mod status;
pub mod value;
mod version;
pub mod yaml;

pub use leniency::Leniency;
pub use status::{ObjectStatus, PartStatus, StatusCondition};
pub use version::version_of;

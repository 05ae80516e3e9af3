//! Tasks of the workspace, called as `cargo xtask TASK`.

#![forbid(unsafe_code)]

pub mod docs;
pub mod metadata;
pub mod runs;
pub mod tidy;
pub mod tree;

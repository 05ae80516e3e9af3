//! Wasm modules that use the ABI of `abi/eddy_filter.h` over linear memory: filters in Go, built for `wasip1`.
//!
//! A [`LinearModule`] is compiled once; a [`LinearLibrary`] is a module with one instance per worker. A call is laid
//! out in the module's memory as it would be in a process, so a crossing costs only one copy in and reading the edits.
//! `abi/linear-memory.md` describes both sides.

mod crossing;
mod host_query;
mod image;
mod inside;
mod instance;
mod lane;
mod layout;
mod library;
mod module;

pub use library::LinearLibrary;
pub use module::{LinearLimits, LinearModule};

//! Modules of Wasm that speak the contract of `abi/eddy_filter.h` over their own memory: filters in Go, built for
//! `wasip1`.
//!
//! A [`LinearModule`] is compiled once, a [`LinearLibrary`] is a module with an instance for each worker. A call is laid
//! out in the module's memory as it would be in a process, so one copy in and one look at the edits out is all that a
//! crossing costs. `abi/linear-memory.md` tells what both sides do.

mod crossing;
mod image;
mod inside;
mod instance;
mod lane;
mod layout;
mod library;
mod module;
mod question;

pub use library::LinearLibrary;
pub use module::{LinearLimits, LinearModule};

//! Shared libraries by the contract of `abi/eddy_filter.h`: in Go, Rust, C, or whatever else can build one.
//!
//! [`NativeLibrary`] opens a file and turns the safe [`eddy_filter::Call`] into the `eddy_call` of the contract, in
//! which the guest reads heads in place. What a guest answers is checked before anything is made of it. Libraries stay
//! until the process ends.

pub(crate) mod abi;
pub(crate) mod answer;
pub(crate) mod crossing;
mod elf;
mod host;
mod identity;
mod library;
mod load;
mod registry;

pub use elf::{GoRuntime, go_runtime};
pub use identity::FileIdentity;
pub use library::NativeLibrary;
pub use registry::needs_new_process;
pub(crate) use registry::stop_all;

//! Shared libraries that implement the ABI of `abi/eddy_filter.h`: in Go, Rust, C, or any other language.
//!
//! [`NativeLibrary`] opens a file and converts the safe [`eddy_filter::LibraryCall`] to the `eddy_call` of the ABI, in
//! which the guest reads heads in place. A guest's results are validated before they are used. Libraries stay open
//! until the process ends.

pub(crate) mod abi;
pub(crate) mod answer;
pub(crate) mod crossing;
pub(crate) mod elf;
pub(crate) mod host;
mod identity;
mod library;
mod load;
mod registry;

pub use elf::{GoRuntime, go_runtime};
pub use identity::FileIdentity;
pub use library::NativeLibrary;
pub(crate) use registry::{claim_go_runtime, needs_new_process, stop_all};

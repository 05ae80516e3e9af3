//! Filters in other tongues: shared libraries behind the contract of `abi/eddy_filter.h`.
//!
//! [`NativeLibrary`] opens a file and turns the safe [`eddy_filter::Call`] into the `eddy_call` of the contract, in
//! which the guest reads heads in place. What a guest answers is checked before anything is made of it. Libraries stay
//! until the process ends; what they made is freed on one thread, by way of the [`Graveyard`].
//!
//! With `eddy-io` one of the two crates of the product that contain `unsafe`.

mod abi;
mod answer;
mod crossing;
mod elf;
mod graveyard;
mod host;
mod identity;
mod library;
mod load;
mod registry;
mod thread;

pub use elf::{GoRuntime, go_runtime};
pub use graveyard::Graveyard;
pub use identity::FileIdentity;
pub use library::{MadeFilter, NativeLibrary};
pub use registry::{needs_new_process, stop_all};
pub use thread::{exit_now, prepare_thread, signal_stack_bytes};

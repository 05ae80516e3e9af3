//! Filters in other tongues, one folder a tongue, all of one shape.
//!
//! A [`Guest`] is an [`eddy_filter::Library`] that makes filters from a configuration: it is *loaded* from a file or a
//! text, makes *filters* of it, is entered with *calls*, and what it made is freed on one thread, by way of the
//! [`ReclaimQueue`]. Whatever a guest answers is checked before anything is made of it.
//!
//! With `eddy-io` one of the two crates of the product that contain `unsafe`.

mod engine;
mod failure;
mod guest;
mod linear;
mod lua;
mod native;
mod reclaim;
mod signature;
mod stop;
mod thread;
mod wasm;

pub use guest::{Guest, MadeFilter};
pub use linear::{LinearLibrary, LinearLimits, LinearModule};
pub use lua::{LuaLimits, LuaScript, LuaSource, LuaSpec, SharedLimits, SpecPart};
pub use native::{FileIdentity, GoRuntime, NativeLibrary, go_runtime, needs_new_process};
pub use reclaim::ReclaimQueue;
pub use stop::stop_all;
pub use thread::{exit_now, prepare_thread, signal_stack_bytes};
pub use wasm::{Isolation, WasmLibrary, WasmSettings};

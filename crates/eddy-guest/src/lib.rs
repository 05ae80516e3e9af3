//! Filters in other languages, one module per language, all with the same structure.
//!
//! A [`Guest`] is an [`eddy_filter::FilterLibrary`] that creates filters from a configuration. It is loaded from a file
//! or a text, creates filters, and is entered with calls. Whatever it created is freed on one thread, through the
//! [`ReclaimQueue`]. All results of a guest are validated before they are used.
//!
//! The crate may contain `unsafe`, because guests are entered through C interfaces; `xtask/src/tidy/unsafety.rs` lists
//! the folders that may.

mod dynamic_module;
mod engine;
mod failure;
mod guest;
mod linear;
mod lock;
mod lua;
mod message_view;
mod metric;
mod native;
mod reclaim;
mod signature;
mod steps;
mod stop;
mod thread;
mod wasm;

pub use dynamic_module::{DynamicModule, SymbolScope, needs_new_process};
pub use guest::{CreatedFilter, Guest};
pub use linear::{LinearLibrary, LinearLimits, LinearModule};
pub use lua::{LuaLimits, LuaScript, LuaSource, LuaSpec, SharedLimits, SpecPart};
pub use native::{FileIdentity, GoRuntime, NativeLibrary, go_runtime};
pub use reclaim::ReclaimQueue;
pub use stop::stop_all;
pub use thread::{exit_now, prepare_thread};
pub use wasm::{Isolation, WasmLibrary, WasmSettings};

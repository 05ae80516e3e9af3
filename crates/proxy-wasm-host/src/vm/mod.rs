//! VM: an instance of a module with its contexts.

mod callbacks;
mod contexts;
mod entry;
mod exports;
mod machine;
mod memory;
mod plugin;
mod state;

pub use machine::{StartError, Vm};
pub use plugin::{Plugin, PluginStartError};

pub(crate) use memory::{
    Given, Guest, ReturnPointers, call_host, call_host_without_context, give, put, return_bytes,
    return_filled, return_map, return_number,
};
pub(crate) use state::{ImageShared, VmState};
pub(crate) use wasm_sandbox::Region;

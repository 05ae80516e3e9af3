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
    Given, Guest, HostCallCx, ReturnPointers, cross, cross_without_context, give, give_bytes, give_filled,
    give_map, put,
};
pub(crate) use state::{ImageShared, VmState};
pub(crate) use wasm_sandbox::Region;

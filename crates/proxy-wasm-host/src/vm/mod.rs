//! A machine: an instance of a module with its contexts.

mod callbacks;
mod contexts;
mod entry;
mod exports;
mod limiter;
mod machine;
mod memory;
mod meter;
mod plugin;
mod printed;
mod state;

pub use machine::Vm;
pub use plugin::{Plugin, Refusal};

pub(crate) use memory::{
    Crossing, Given, Guest, Place, Region, cross, cross_without_context, give, give_bytes, give_filled,
    give_map, memory_of, put,
};
pub(crate) use state::State;

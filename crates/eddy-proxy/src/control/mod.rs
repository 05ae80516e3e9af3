//! What goes on beside the workers: names are resolved, memory is watched.

mod memory;
mod names;

pub(crate) use memory::{limit_bytes, watch};
pub(crate) use names::Names;

//! What goes on beside the workers: names are resolved, memory is watched.

mod memory;
mod names;

pub(crate) use memory::watch;
pub(crate) use names::Names;

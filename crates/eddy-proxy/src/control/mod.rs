//! What goes on beside the workers: names are resolved, endpoints are asked how they are, memory is watched.

mod health;
mod memory;
mod names;

pub(crate) use health::{HealthChecks, ToCheck};
pub(crate) use memory::{limit_bytes, watch};
pub(crate) use names::Names;

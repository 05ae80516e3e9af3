//! What goes on beside the workers: names are resolved, endpoints are asked how they are, memory is watched.

mod cgroup;
mod health;
mod memory;
mod names;
mod throttle;

pub(crate) use health::{HealthChecks, ToCheck};
pub(crate) use memory::{limit_bytes, watch};
pub(crate) use names::ClusterResolver;
pub(crate) use throttle::watch_throttling;

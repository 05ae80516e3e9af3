//! Control thread: work beside the workers, such as name resolution, health checks and memory monitoring.

mod cgroup;
mod health;
mod memory;
mod names;
mod throttle;

pub(crate) use health::{HealthChecks, ToCheck};
pub(crate) use memory::{limit_bytes, watch};
pub(crate) use names::ClusterResolver;
pub(crate) use throttle::watch_throttling;

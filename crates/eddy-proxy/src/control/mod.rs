//! Control thread: work beside the workers, such as name resolution, health checks and memory monitoring.

mod cgroup;
mod health;
mod names;
mod resources;

pub(crate) use health::{CheckedCluster, HealthChecks};
pub(crate) use names::ClusterResolver;
pub(crate) use resources::{limit_bytes, watch};

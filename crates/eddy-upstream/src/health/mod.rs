//! Active health checks: endpoints are probed periodically, independent of requests.

mod checks;
mod config;
mod conversation;
mod grpc;
mod probe;
mod state;

pub use checks::Checks;
pub use config::{GrpcProbe, HealthConfig, HealthProbe, HttpProbe};
pub use state::UnhealthySet;

pub use crate::endpoint::UnhealthyReason;

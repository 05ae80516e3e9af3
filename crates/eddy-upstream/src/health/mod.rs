//! Active health checks: endpoints are probed periodically, independent of requests.

mod checks;
mod grpc;
mod probe;
mod state;

pub use checks::Checks;
pub use state::UnhealthySet;

pub use crate::endpoint::UnhealthyReason;

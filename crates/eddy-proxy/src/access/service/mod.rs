//! Access log over gRPC: Envoy's access log service.

mod entry;
mod flags;
mod plan;
mod queue;
mod ship;

pub(crate) use plan::ServicePlan;
pub(crate) use queue::RecordQueue;
pub(crate) use ship::{settle, ship};

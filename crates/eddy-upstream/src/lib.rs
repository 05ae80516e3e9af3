//! Clusters, balancing, endpoint health, connection pools and upstream connections.

#![forbid(unsafe_code)]

pub mod balance;
mod budget;
pub mod client;
mod cluster;
mod connect;
pub mod eject;
mod endpoint;
mod endpoint_set;
pub mod health;
mod limits;
mod link;
mod pool;
pub mod resolve;
mod rng;

pub use budget::RetryBudgetWindow;
pub use cluster::{ClusterState, Lease};
pub use connect::{connect, http_version, perform_handshake};
pub use endpoint::{
    EndpointId, EndpointState, EndpointStats, ResolvedAddress, ResolvedEndpoint, TRIED_MAX, TriedEndpoints,
};
pub use endpoint_set::EndpointSet;
pub use limits::{InUse, LimitPermit};
pub use link::{Link, LinkPermit, LinkQueue};
pub use pool::{LinkCount, LinkPool, LinkPools};
pub use rng::Rng;

#[cfg(test)]
mod tests;

//! Clusters, balancing, endpoint health, connection pools and upstream connections.

#![forbid(unsafe_code)]

pub mod balance;
mod budget;
mod cluster;
mod config;
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
mod tls;

pub use budget::RetryBudgetWindow;
pub use cluster::{ClusterState, Lease};
pub use config::*;
pub use connect::{connect, shake_hands};
pub use endpoint::{
    EndpointId, EndpointState, EndpointStats, ResolvedAddress, ResolvedEndpoint, TRIED_MAX, Tried,
};
pub use endpoint_set::EndpointSet;
pub use limits::{InUse, LimitKind, LimitPlace, LimitsConfig};
pub use link::{Link, LinkPlace, LinkQueue};
pub use pool::{LinkCount, LinkPool, LinkPools};
pub use rng::Rng;
pub use tls::{ClusterTlsConfig, IdentityFiles};

#[cfg(test)]
mod tests;

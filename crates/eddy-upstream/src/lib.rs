//! Where requests go: clusters, balancing, health, pools, links.

#![forbid(unsafe_code)]

pub mod balance;
mod budget;
mod cluster;
mod config;
pub mod eject;
mod endpoint;
mod link;
mod pool;
pub mod resolve;
mod rng;

pub use budget::Budget;
pub use cluster::{ClusterState, Lease};
pub use config::*;
pub use endpoint::{
    EndpointId, EndpointSet, EndpointState, EndpointStats, ResolvedAddress, ResolvedEndpoint, TRIED_MAX,
    Tried,
};
pub use link::{Link, LinkPlace};
pub use pool::{LinkCount, LinkPool, LinkPools};
pub use rng::Rng;

#[cfg(test)]
mod tests;

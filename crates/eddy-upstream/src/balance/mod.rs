//! Load balancing: selection of the endpoint of a cluster for each request.

mod balancer;
mod crc;
mod draw;
mod eligible;
mod hash;
mod keyed;
mod least_request;
mod levels;
mod maglev;
mod ring;
mod round_robin;
mod tables;
mod xxhash;

pub use balancer::Balancer;
pub use tables::BalanceTables;

//! Which endpoint of a cluster a request goes to.

mod address_hash;
mod balancer;
mod crc;
mod draw;
mod eligible;
mod key_hash;
mod keyed;
mod least_request;
mod random;
mod ring;
mod round_robin;
mod share;

pub use balancer::Balancer;

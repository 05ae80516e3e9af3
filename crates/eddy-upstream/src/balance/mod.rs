//! Which endpoint of a cluster a request goes to.

mod balancer;
mod draw;
mod eligible;
mod least_request;
mod random;
mod round_robin;

pub use balancer::Balancer;
pub use least_request::LeastRequest;
pub use random::Random;
pub use round_robin::RoundRobin;

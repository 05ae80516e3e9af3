//! Requests of filters' own to eddy's clusters: the same endpoints, balancing, links and health as everybody's.

mod fetch;
mod order;
mod serve;

pub(crate) use order::{Order, Orders};
pub(crate) use serve::serve;

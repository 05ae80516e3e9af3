//! What filters do beside exchanges: requests of their own to eddy's clusters, with the same endpoints, balancing, links
//! and health as everybody's, and being woken.

mod fetch;
mod mirror;
mod order;
mod serve;
mod wake;

pub(crate) use fetch::{FetchRequest, send};
pub(crate) use mirror::{Copied, mirror};
pub(crate) use order::{OrderRefusal, Orders, OutboundOrder};
pub(crate) use serve::serve;
pub(crate) use wake::wake;

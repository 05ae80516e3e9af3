//! Activity of filters outside of exchanges: their own requests to clusters, with the same endpoints, balancing, links
//! and health as other requests, and wake-ups.

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

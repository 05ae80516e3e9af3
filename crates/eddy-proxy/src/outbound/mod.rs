//! Activity of filters outside of exchanges: their own requests to clusters, with the same endpoints, balancing, links
//! and health as other requests, and wake-ups.

mod fetch;
mod mirror;
mod serve;
mod ship;
mod stream;

pub(crate) use mirror::{Copied, mirror};
pub(crate) use serve::{serve, wake};
pub(crate) use ship::{settle, ship};
pub(crate) use stream::serve_stream;

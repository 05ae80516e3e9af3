//! What requests go to endpoints by: a link of HTTP/1 that an exchange has to itself, or a stream of a link of HTTP/2 that it
//! shares with others of its worker.
//!
//! An exchange has an [`Upstream`] and does not ask which it is. [`shared::SharedLink`] is a link of HTTP/2, [`serve`] its task,
//! [`registry::SharedLinks`] are those of a cluster, and [`open`] makes one.

mod open;
mod registry;
mod serve;
mod shared;
mod upstream;

pub(crate) use open::Opening;
pub(crate) use registry::{EndpointKey, LinkLookup, SharedLinks};
pub(crate) use shared::LinkStream;
pub(crate) use upstream::UpstreamChannel;

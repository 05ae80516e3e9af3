//! Channels from requests to endpoints: an HTTP/1 link that an exchange has to itself, or a stream of an HTTP/2 link
//! that it shares with other exchanges of its worker.
//!
//! An exchange uses an [`UpstreamChannel`] and does not depend on which of them it is. [`shared::SharedLink`] is an
//! HTTP/2 link, [`serve`] its task, [`registry::SharedLinks`] holds the links of a cluster, and [`open`] establishes
//! one.

mod open;
mod registry;
mod serve;
mod shared;
mod upstream;

pub(crate) use open::Opening;
pub(crate) use registry::{EndpointKey, LinkLookup, SharedLinks};
pub(crate) use shared::LinkStream;
pub(crate) use upstream::UpstreamChannel;

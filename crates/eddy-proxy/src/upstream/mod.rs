//! Endpoints of one worker: clusters, and channels to their endpoints: an HTTP/1 link that an exchange has to itself, or
//! a stream of an HTTP/2 link that it shares with other exchanges of its worker.
//!
//! An exchange uses an [`UpstreamChannel`] and does not depend on which of them it is. [`shared::SharedLink`] is an
//! HTTP/2 link, [`serve`] its task, [`registry::SharedLinks`] holds the links of a cluster, and [`open`] establishes
//! one.

mod channel;
mod cluster;
mod clusters;
mod connect;
mod guard;
mod open;
mod registry;
mod serve;
mod shared;
mod uploads;

pub(crate) use channel::UpstreamChannel;
pub(crate) use cluster::WorkerCluster;
pub(crate) use clusters::{EndpointSets, WorkerClusters};
pub(crate) use guard::{EndpointGuard, LinkRequirement};
pub(crate) use shared::LinkStream;
pub(crate) use uploads::{Upload, UploadSlot};

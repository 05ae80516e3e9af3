//! Total order of rules: for each dialect a comparison of the rules of a table, and the host and table steps shared by
//! all.

mod dialect;
mod eddy;
mod entry;
mod gateway_api;
mod istio;
mod step;

pub(crate) use entry::{HostEntries, RouteEntries, RouteEntry};
pub use istio::CATCH_ALL_RANK;
pub use step::PrecedenceStep;

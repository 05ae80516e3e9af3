//! The total order of rules: one way to compare the rules of a table for each dialect, and the host and table steps
//! that all share.

mod dialect;
mod eddy;
mod entry;
mod gateway_api;
mod istio;
mod step;
mod written;

pub(crate) use entry::{HostEntries, RouteEntries, RouteEntry};
pub use istio::CATCH_ALL_RANK;
pub use step::PrecedenceStep;

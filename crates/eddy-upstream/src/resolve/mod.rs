//! From the names of a cluster to the addresses behind them, and again when their records expire.

pub(crate) mod client;
mod follow;
pub(crate) mod name;
pub(crate) mod resolver;
mod source;

pub use follow::{NameReport, Resolution};
pub use name::ADDRESSES_MAX;
pub use resolver::{LOOKUPS_MAX, ResolveError, Resolver};

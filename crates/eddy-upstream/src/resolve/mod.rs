//! Resolution of endpoint names to addresses, repeated when the records expire.

pub(crate) mod client;
mod follow;
pub(crate) mod name;
pub(crate) mod resolver;
mod source;

pub use follow::{NameReport, Resolution};
pub use name::ADDRESSES_MAX;
pub use resolver::{LOOKUPS_MAX, ResolveError, Resolver};

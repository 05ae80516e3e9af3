//! Resolution of endpoint names to addresses, repeated when the records expire.

pub(crate) mod client;
mod follow;
mod lock;
pub(crate) mod name;
pub(crate) mod resolver;
mod source;
pub(crate) mod state;

pub use follow::{NameReport, Resolution};
pub use name::ADDRESSES_MAX;
pub use resolver::{ResolveError, Resolver};
pub use state::LOOKUPS_MAX;

//! Requests that show something of a rule: short ones are made first, and each is tried before it is told.

mod paths;
mod request;
mod search;
mod values;

pub use request::Witness;
pub(crate) use search::WitnessSearch;

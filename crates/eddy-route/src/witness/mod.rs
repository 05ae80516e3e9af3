//! Example requests for rules: short ones are generated first, and each is tested before it is reported.

mod paths;
mod request;
mod search;
mod values;

pub use request::Witness;
pub(crate) use search::WitnessSearch;

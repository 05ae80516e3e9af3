//! Path normalisers, one per dialect: they derive the path that rules are compared with from the path as sent.

mod eddy;
mod envoy;
mod nginx;
mod normaliser;
#[cfg(test)]
mod tests;

pub(crate) use eddy::hex_value;
pub use eddy::{Normal, PathFault, check, eddy};
pub use envoy::{EnvoyPaths, EscapedSlashes, envoy};
pub use nginx::{Slashes, Spelling, nginx};
pub use normaliser::Normaliser;

//! The path that rules are compared with, derived from the path as sent: one normaliser a dialect.

mod eddy;
mod nginx;
#[cfg(test)]
mod tests;

pub(crate) use eddy::hex_value;
pub use eddy::{Normal, PathFault, check, eddy};
pub use nginx::{Slashes, Spelling, nginx};

//! The path that rules are compared with, derived from the path as sent: one normaliser a dialect.

mod eddy;
#[cfg(test)]
mod tests;

pub(crate) use eddy::hex_value;
pub use eddy::{Normal, PathFault, check, eddy};

//! Translation of rules to other dialects, to find out which of them would win there.

mod other;
mod rule;
mod whole;

pub use other::OtherDialect;
pub use whole::{Translation, Untranslatable, translate};

#[cfg(test)]
mod tests;

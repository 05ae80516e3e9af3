//! Rules as they would be in another dialect, to learn which of them would win there.

mod other;
mod said;
mod whole;

pub use other::OtherDialect;
pub use whole::{Retold, Unsaid, retell};

#[cfg(test)]
mod tests;

//! Parts of a configuration by identifier, and the draft that makes those of the next configuration.

mod draft;
mod table;

pub use draft::{DuplicateKey, SlotsDraft};
pub use table::{SlotChanges, Slots};

#[cfg(test)]
mod tests;

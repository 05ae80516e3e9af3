//! Planted faults: each is a small change that some test must notice.

mod format;
mod run;

pub use format::{Check, Mutant, read_mutants};
pub use run::{Outcome, Workshop};

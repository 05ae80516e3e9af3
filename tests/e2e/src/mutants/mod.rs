//! Mutation tests: each planted fault is a small change that some test must detect.

mod format;
mod run;
mod select;
mod table;

pub use format::{Check, FOLDER, Mutant, read_mutants};
pub use run::{MutantOutcome, Workshop, describe};
pub use select::MutantSelection;
pub use table::{MutantRun, MutantTable};

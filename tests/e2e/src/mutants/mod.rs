//! Mutation tests: each planted fault is a small change that some test must detect.

mod format;
mod report;
mod run;

pub use format::{Check, Mutant, read_mutants};
pub use report::MutantReport;
pub use run::{MutantOutcome, Workshop, describe};

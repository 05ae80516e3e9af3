//! The long runs: what takes too long for every change, and leaves its last result in the tree.

mod step;
mod tasks;

pub use step::{RunStep, StepOutcome, StepStatus};
pub use tasks::{Nightly, mutants, soak};

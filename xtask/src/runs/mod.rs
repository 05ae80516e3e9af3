//! Long runs: tests that take too long for every change; the last result is kept in the tree.

mod step;
mod tasks;

pub use step::{RunStep, StepOutcome, StepStatus};
pub use tasks::{Nightly, mutants, soak};

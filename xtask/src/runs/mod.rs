//! Long runs: tests that take too long for every change; the last result is kept in the tree.

mod mutants;
mod nightly;
mod result;
mod soak;
mod step;

pub use mutants::mutants;
pub use nightly::{Nightly, NightlyPart};
pub use soak::{soak, soak_table};
pub use step::{RunStep, StepOutcome, StepStatus};

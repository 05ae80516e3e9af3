//! Problems of a configuration: collected by the checks, shown to people and programs.

mod found;
mod origin;
mod render;
mod report;
mod suggest;

pub use found::{Problem, Severity, SourceText};
pub use origin::{origin_of, place_of};
pub use render::{Colour, render, to_json};
pub use report::{PendingProblem, ProblemReport, SourceSpan, shown};
pub(crate) use suggest::COMPARISON;
pub use suggest::closest;

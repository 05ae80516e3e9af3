//! What is wrong with a configuration: found by the checks, told to people and programs.

mod found;
mod render;
mod report;
mod suggest;

pub use found::{Problem, Severity, SourceText};
pub use render::{Colour, render, to_json};
pub(crate) use report::{ProblemReport, SourceSpan, shown};
pub(crate) use suggest::{COMPARISON, closest};

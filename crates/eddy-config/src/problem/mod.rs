//! Problems of a configuration: collected by the checks, shown to people and programs.

mod found;
mod render;
mod report;
mod suggest;

pub use found::{Problem, Severity, SourceText};
pub use render::{Colour, render, to_json};
pub(crate) use report::{ProblemReport, SourceSpan, shown};
pub(crate) use suggest::{COMPARISON, closest};

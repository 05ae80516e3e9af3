//! Explains which rule wins for a request: for `eddy explain`, and for the plan in force.

mod answer;
mod asked;
mod other;
mod question;

pub(crate) use answer::{action_text, explain, named};
pub(crate) use question::{Question, parse_dialect};

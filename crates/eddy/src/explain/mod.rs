//! Which rule a request meets, and why: asked on the command line of a configuration, and of the plan in force.

mod answer;
mod asked;
mod other;
mod question;

pub(crate) use answer::{action_text, explain, named};
pub(crate) use question::{Question, parse_dialect};

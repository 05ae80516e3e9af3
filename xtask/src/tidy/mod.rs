//! Rules about the tree that neither the compiler nor clippy knows.

mod check;
mod cycles;
mod divergences;
mod documents;
mod edges;
mod examples;
mod files;
mod imports;
mod literals;
mod markers;
mod modules;
mod names;
mod problem;
mod purity;
mod reference;
mod references;
mod sizes;
mod source;
mod unsafety;
mod words;

pub use check::check;
pub use problem::Problem;

//! Command line: arguments, and the commands that finish at once.

mod arguments;
mod check;
mod convert;
mod descriptors;
mod diff;
mod duration;
mod explain;
mod filter;
mod routes;
mod run;
mod start;

pub(crate) use start::main;

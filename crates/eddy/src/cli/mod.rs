//! Command line: arguments, and the commands that finish at once.

mod arguments;
mod check;
mod convert;
mod descriptors;
mod diff;
mod duration;
mod error;
mod explain;
mod filter;
mod load;
mod routes;
mod run;
mod start;

pub(crate) use start::main;

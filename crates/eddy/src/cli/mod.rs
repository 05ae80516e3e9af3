//! The command line: what can be asked of the program, and the commands that answer at once.

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

//! The eddy program: an L7 gateway.

#![forbid(unsafe_code)]

mod admin;
mod bundle;
mod child;
mod cli;
mod control;
mod descriptors;
mod explain;
mod filter_test;
mod filters;
mod log;
mod notify;
mod parent;
mod signals;
mod sockets;
mod terminal;
mod tls;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}

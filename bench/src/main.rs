//! The benchmark program; see `eddy-bench --help`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    eddy_bench::command::main()
}

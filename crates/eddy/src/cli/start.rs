//! From the arguments to an exit code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use super::arguments::{Arguments, Command};
use super::{check, convert, descriptors, explain, filter, routes, run};
use crate::filters;
use crate::terminal::print_error;

/// Why a command failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// What was given is wrong; the problems have been shown.
    Shown,
    /// What was given is wrong, in these words.
    Input(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Input(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Input(error.into())
    }
}

/// The whole program.
pub(crate) fn main() -> ExitCode {
    // Usage errors and `--help` are answered in here, with the codes 2 and 0.
    let arguments = Arguments::parse();
    let outcome = catch_unwind(AssertUnwindSafe(|| match arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Gateway(arguments) => run::gateway(arguments),
        Command::ProbeFilters => filters::run_probe(),
        Command::Check(arguments) => code_of(check::run(&arguments)),
        Command::Convert(arguments) => code_of(convert::run(&arguments)),
        Command::Descriptors(arguments) => code_of(descriptors::run(&arguments.command)),
        Command::Filter(arguments) => code_of(filter::run(&arguments.command)),
        Command::Explain(arguments) => code_of(explain::run(&arguments)),
        Command::Routes(arguments) => code_of(routes::run(&arguments)),
    }));
    ExitCode::from(outcome.unwrap_or_else(|_| {
        print_error("eddy: this is a fault of eddy itself; please report it with the lines above\n");
        OUR_FAULT
    }))
}

fn code_of(outcome: Result<(), Failure>) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(Failure::Shown) => WRONG_INPUT,
        Err(Failure::Input(error)) => {
            print_error(&format!("eddy: {error:#}\n"));
            WRONG_INPUT
        }
    }
}

/// The configuration or the input is wrong.
const WRONG_INPUT: u8 = 1;
/// eddy itself is wrong.
pub(super) const OUR_FAULT: u8 = 70;

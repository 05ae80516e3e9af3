//! Runs the command given by the arguments and returns its exit code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use super::arguments::{Arguments, CliCommand};
use super::error::{CommandError, OUR_FAULT};
use super::{check, convert, descriptors, explain, filter, routes, run};
use crate::filters;
use crate::terminal::print_error;

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    // Usage errors and `--help` exit in here, with codes 2 and 0.
    let arguments = Arguments::parse();
    let outcome = catch_unwind(AssertUnwindSafe(|| match arguments.command {
        CliCommand::Run(arguments) => run::run(arguments),
        CliCommand::Gateway(arguments) => run::gateway(arguments),
        CliCommand::ProbeFilters => filters::run_probe(),
        CliCommand::Check(arguments) => code_of(check::run(&arguments)),
        CliCommand::Convert(arguments) => code_of(convert::run(&arguments)),
        CliCommand::Descriptors(arguments) => code_of(descriptors::run(&arguments.command)),
        CliCommand::Filter(arguments) => code_of(filter::run(&arguments.command)),
        CliCommand::Explain(arguments) => code_of(explain::run(&arguments)),
        CliCommand::Routes(arguments) => code_of(routes::run(&arguments)),
    }));
    ExitCode::from(outcome.unwrap_or_else(|_| {
        print_error("eddy: internal error; please report it with the lines above\n");
        OUR_FAULT
    }))
}

fn code_of(outcome: Result<(), CommandError>) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(CommandError::Shown) => WRONG_INPUT,
        Err(CommandError::Input(error)) => {
            print_error(&format!("eddy: {error:#}\n"));
            WRONG_INPUT
        }
    }
}

/// Exit code for an invalid configuration or input.
const WRONG_INPUT: u8 = 1;

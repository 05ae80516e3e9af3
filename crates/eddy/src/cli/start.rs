//! Runs the command given by the arguments and returns its exit code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use super::arguments::{Arguments, CliCommand, Descriptors, DescriptorsCommand, FilterArgs, FilterCommand};
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
        CliCommand::Descriptors(Descriptors { command }) => code_of(match command {
            DescriptorsCommand::Fetch(arguments) => descriptors::run_fetch(&arguments),
            DescriptorsCommand::Openapi(arguments) => descriptors::run_openapi(&arguments),
        }),
        CliCommand::Filter(FilterArgs { command }) => code_of(match command {
            FilterCommand::New(arguments) => filter::run_new(&arguments),
            FilterCommand::Build(arguments) => filter::run_build(&arguments),
            FilterCommand::Test(arguments) => filter::run_test(&arguments),
        }),
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
        Err(CommandError::Reported) => WRONG_INPUT,
        Err(CommandError::Input(error)) => {
            print_error(&format!("eddy: {error:#}\n"));
            WRONG_INPUT
        }
    }
}

/// Exit code for an invalid configuration or input.
const WRONG_INPUT: u8 = 1;

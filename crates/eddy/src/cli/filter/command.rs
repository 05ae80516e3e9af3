//! Dispatch of the `eddy filter` subcommands.

use super::{build, new, test};
use crate::cli::arguments::FilterCommand;
use crate::cli::error::CommandError;

/// Runs one of the subcommands.
///
/// # Errors
/// When the input is invalid, or a build or a test fails.
pub(in crate::cli) fn run(command: &FilterCommand) -> Result<(), CommandError> {
    match command {
        FilterCommand::New(arguments) => new::run(arguments),
        FilterCommand::Build(arguments) => build::run(arguments),
        FilterCommand::Test(arguments) => test::run(arguments),
    }
}

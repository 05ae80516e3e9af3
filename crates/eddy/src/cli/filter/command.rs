//! Dispatch of the `eddy filter` subcommands, and their common output.

use std::io::stderr;

use eddy_config::render;

use super::{build, new, test};
use crate::bundle::BundleFailure;
use crate::cli::arguments::FilterCommand;
use crate::cli::start::CommandError;
use crate::terminal::{colour_of, print_error};

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

/// Tells the user that a long build is running.
pub(in crate::cli) fn say_linking() {
    print_error("eddy: building the Go filters; the first build takes up to a minute\n");
}

/// Prints a failure that is unrelated to a configuration file.
pub(super) fn show(failure: &BundleFailure) -> CommandError {
    match failure {
        BundleFailure::Code { problems, sources } => {
            print_error(&render(problems, sources, colour_of(&stderr())));
        }
        BundleFailure::Other { message, hint } => {
            let hint = hint.as_ref().map(|hint| format!("  hint: {hint}\n")).unwrap_or_default();
            print_error(&format!("eddy: {message}\n{hint}"));
        }
    }
    CommandError::Shown
}

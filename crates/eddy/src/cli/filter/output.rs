//! Common output of the `eddy filter` subcommands.

use crate::bundle::BundleFailure;
use crate::cli::error::CommandError;
use crate::terminal::{print_error, print_problems};

/// Tells the user that a long build is running.
pub(in crate::cli) fn print_linking() {
    print_error("eddy: building the Go filters; the first build takes up to a minute\n");
}

/// Prints a failure that is unrelated to a configuration file.
pub(super) fn show(failure: &BundleFailure) -> CommandError {
    match failure {
        BundleFailure::Code { problems, sources } => print_problems(problems, sources),
        BundleFailure::Other { message, hint } => {
            let hint = hint.as_ref().map(|hint| format!("  hint: {hint}\n")).unwrap_or_default();
            print_error(&format!("eddy: {message}\n{hint}"));
        }
    }
    CommandError::Reported
}

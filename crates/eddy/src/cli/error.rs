//! Why a command failed.

/// Error of a command.
#[derive(Debug)]
pub(super) enum CommandError {
    /// The input is invalid; the problems have been printed.
    Reported,
    /// The input is invalid; the error is to be printed.
    Input(anyhow::Error),
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        Self::Input(error)
    }
}

/// Exit code for a fault of eddy itself.
pub(super) const OUR_FAULT: u8 = 70;

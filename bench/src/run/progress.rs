//! Progress messages: one line rewritten on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write, stderr};
use std::time::Instant;

/// Writer of progress messages.
#[derive(Debug)]
pub(super) struct ProgressReporter {
    is_terminal: bool,
    begun: Instant,
}

impl ProgressReporter {
    /// Creates a reporter that writes to standard error.
    pub(super) fn new() -> Self {
        Self { is_terminal: stderr().is_terminal(), begun: Instant::now() }
    }

    /// Writes a message that is not overwritten.
    pub(super) fn say(&self, text: &str) {
        let clear = if self.is_terminal { CLEAR } else { "" };
        // A closed standard error is no reason to fail.
        let _ = writeln!(stderr(), "{clear}{} {text}", self.clock());
    }

    /// Writes the current step; on a terminal the next message overwrites it.
    pub(super) fn step(&self, text: &str) {
        if self.is_terminal {
            let _ = write!(stderr(), "{CLEAR}{} {text}", self.clock());
            let _ = stderr().flush();
        } else {
            self.say(text);
        }
    }

    fn clock(&self) -> String {
        let seconds = self.begun.elapsed().as_secs();
        format!("{:3}:{:02}", seconds / 60, seconds % 60)
    }
}

/// Returns the cursor to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

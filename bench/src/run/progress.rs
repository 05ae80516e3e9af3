//! Tells how far a run is: one line rewritten on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write, stderr};
use std::time::Instant;

/// Where progress is told.
#[derive(Debug)]
pub(super) struct ProgressReporter {
    is_terminal: bool,
    begun: Instant,
}

impl ProgressReporter {
    /// Tells on standard error.
    pub(super) fn new() -> Self {
        Self { is_terminal: stderr().is_terminal(), begun: Instant::now() }
    }

    /// Says something that stays.
    pub(super) fn say(&self, text: &str) {
        let clear = if self.is_terminal { CLEAR } else { "" };
        // Nobody who does not read this is worth failing for.
        let _ = writeln!(stderr(), "{clear}{} {text}", self.clock());
    }

    /// Says where the run is; on a terminal the next word takes the place of this one.
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

/// To the start of the line, and clear it.
const CLEAR: &str = "\r\x1b[K";

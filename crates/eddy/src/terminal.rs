//! Output for the user of the command line, and whether it may be coloured.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use eddy_spec::problem::{Colour, Problem, SourceText, render};
use serde::Serialize;

/// Returns whether to use colours: only on a terminal, and not if `NO_COLOR` is set.
fn colour_of(stream: &impl IsTerminal) -> Colour {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if stream.is_terminal() && !is_refused { Colour::Always } else { Colour::Never }
}

/// Writes to standard output. A closed pipe is not an error: a reader such as `head` has read enough.
///
/// # Errors
/// When writing fails for another reason, such as a full disk.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value to standard output as indented JSON.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Writes problems of a configuration to standard error.
pub(crate) fn print_problems(problems: &[Problem], sources: &[SourceText]) {
    print_error(&render(problems, sources, colour_of(&io::stderr())));
}

/// Returns a number of things for people, as in `2 rules`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Writes to standard error; failures cannot be reported anywhere.
pub(crate) fn print_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

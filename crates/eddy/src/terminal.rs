//! What the program writes for the person who called it, and whether that may be in colour.

use std::io::{self, IsTerminal, Write};

use eddy_config::Colour;

/// Colour for a terminal whose user has not asked for none (`NO_COLOR`).
pub(crate) fn colour_of(stream: &impl IsTerminal) -> Colour {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if stream.is_terminal() && !is_refused { Colour::Always } else { Colour::Never }
}

/// Writes to standard output. A reader that has gone away, as `head` does, has had enough.
///
/// # Errors
/// When it cannot be written otherwise, as to a full disk.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes to standard error; there is nowhere to say that this failed.
pub(crate) fn print_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

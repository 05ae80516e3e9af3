//! Notices of skipped tests, in a format that the driver of the test suite parses.
//!
//! The harness captures the output of passing tests. A notice therefore goes to the file that `EDDY_TEST_NOTICES`
//! names,
//! one line each, or directly to standard error when the variable is not set.

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Environment variable that names the file of notices.
pub const NOTICES_VARIABLE: &str = "EDDY_TEST_NOTICES";

/// Report of a test that ran without something it needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notice {
    /// Effect on the test.
    pub kind: NoticeKind,
    /// Test program and name of the test, `program::name`.
    pub test: String,
    /// Missing peer, and why it counts as missing.
    pub missing: String,
    /// Command that makes the test run.
    pub remedy: String,
}

/// Effect of a missing peer on a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoticeKind {
    /// The test did not run.
    Skipped,
    /// The test ran without the part that needs the peer.
    Partial,
    /// The test ran with recorded answers of the peer.
    Recorded,
}

/// Error: a peer is missing while `EDDY_REQUIRE_PEERS` is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPeer {
    missing: String,
    remedy: String,
}

/// Announces that the running test is skipped because something is missing.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`.
pub fn skip(missing: &str, remedy: &str) -> Result<(), MissingPeer> {
    announce_or_fail(NoticeKind::Skipped, missing, remedy)
}

/// Announces that a part of the running test is left out because something is missing.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`.
pub fn skip_part(missing: &str, remedy: &str) -> Result<(), MissingPeer> {
    announce_or_fail(NoticeKind::Partial, missing, remedy)
}

/// Announces that recorded answers replace a missing peer in the running test.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`.
pub fn use_recorded(missing: &str, remedy: &str) -> Result<(), MissingPeer> {
    announce_or_fail(NoticeKind::Recorded, missing, remedy)
}

/// Announces a skipped test when something is missing that no machine is required to have.
pub fn skip_optional(missing: &str, remedy: &str) {
    announce(&notice(NoticeKind::Skipped, missing, remedy));
}

/// Whether `EDDY_REQUIRE_PEERS` makes a missing peer an error.
pub fn is_required() -> bool {
    env::var_os("EDDY_REQUIRE_PEERS").is_some_and(|value| !value.is_empty() && value != "0")
}

fn announce_or_fail(kind: NoticeKind, missing: &str, remedy: &str) -> Result<(), MissingPeer> {
    if is_required() {
        return Err(MissingPeer { missing: missing.to_owned(), remedy: remedy.to_owned() });
    }
    announce(&notice(kind, missing, remedy));
    Ok(())
}

fn notice(kind: NoticeKind, missing: &str, remedy: &str) -> Notice {
    Notice { kind, test: running_test(), missing: one_line(missing), remedy: one_line(remedy) }
}

/// Writes a notice, once per process.
fn announce(notice: &Notice) {
    static ANNOUNCED: Mutex<BTreeSet<Notice>> = Mutex::new(BTreeSet::new());
    let is_new = ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner).insert(notice.clone());
    if !is_new {
        return;
    }
    // Without the file and without standard error, the notice cannot be written.
    let file = env::var_os(NOTICES_VARIABLE).filter(|path| !path.is_empty());
    let file = file.and_then(|path| OpenOptions::new().create(true).append(true).open(path).ok());
    let _ = match file {
        // A single write, because other processes append to the same file.
        Some(mut file) => file.write_all(notice.line().as_bytes()),
        None => writeln!(io::stderr(), "{notice}"),
    };
}

/// Returns the name of the running test: the harness names the thread of each test after it.
fn running_test() -> String {
    let program =
        env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let program = program.unwrap_or_default();
    // Cargo appends a hash to the names of test programs.
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
    let thread = std::thread::current();
    match thread.name() {
        Some(name) if name != "main" => format!("{program}::{name}"),
        Some(_) | None => program.to_owned(),
    }
}

/// Joins `text` to one line and truncates it, because the error output of a program may be long.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= CHARS_MAX {
        return line;
    }
    line.chars().take(CHARS_MAX).chain("...".chars()).collect()
}

const CHARS_MAX: usize = 240;

impl Notice {
    /// Formats the notice as a line of the notices file.
    pub fn line(&self) -> String {
        format!("{}\t{}\t{}\t{}\n", self.kind.word(), self.test, self.missing, self.remedy)
    }

    /// Parses a line of the notices file.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.trim_end_matches('\n').split('\t');
        let kind = NoticeKind::parse(parts.next()?)?;
        let [test, missing, remedy] = [parts.next()?, parts.next()?, parts.next()?].map(str::to_owned);
        parts.next().is_none().then_some(Self { kind, test, missing, remedy })
    }
}

impl NoticeKind {
    fn word(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Partial => "partial",
            Self::Recorded => "recorded",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Skipped, Self::Partial, Self::Recorded].into_iter().find(|kind| kind.word() == word)
    }
}

impl Display for Notice {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { kind, test, missing, remedy } = self;
        match kind {
            NoticeKind::Skipped => write!(out, "SKIPPED {test}: {missing}; to run it: {remedy}"),
            NoticeKind::Partial => write!(out, "PARTIAL {test}: {missing}; for the whole test: {remedy}"),
            NoticeKind::Recorded => write!(out, "RECORDED {test}: {missing}; for the real one: {remedy}"),
        }
    }
}

impl Display for MissingPeer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "EDDY_REQUIRE_PEERS is set: {}; to install it: {}", self.missing, self.remedy)
    }
}

impl Error for MissingPeer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_one_line_and_round_trips() {
        let notice = notice(NoticeKind::Skipped, "no nginx:\n\tit is not there", "make bench-peers");
        assert_eq!(notice.missing, "no nginx: it is not there");
        assert_eq!(notice.test, "test_peers::notice::tests::a_notice_is_one_line_and_round_trips");
        assert_eq!(Notice::parse(&notice.line()), Some(notice.clone()));
        assert_eq!(one_line(&"long ".repeat(100)).len(), CHARS_MAX + "...".len());
        let recorded = Notice { kind: NoticeKind::Recorded, ..notice };
        assert_eq!(Notice::parse(&recorded.line()), Some(recorded));
        for line in ["", "skipped\ta\tb", "else\ta\tb\tc", "skipped\ta\tb\tc\td"] {
            assert_eq!(Notice::parse(line), None, "{line:?}");
        }
    }
}

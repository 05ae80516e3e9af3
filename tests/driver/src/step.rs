//! One command of the suite; its output is passed on as it arrives and parsed for results.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use test_peers::TestDependency;

use crate::go_test::GoTest;
use crate::libtest::Libtest;
use crate::tally::{Skip, TestTally};

/// A command of a part.
#[derive(Clone, Debug)]
pub(crate) struct SuiteStep {
    words: Vec<String>,
    folder: String,
    variables: BTreeMap<OsString, OsString>,
    format: Format,
    kind: StepKind,
    needs: Option<TestDependency>,
}

/// Purpose of a step, for the table of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// Lints, and building the programs and tests.
    Build,
    /// Running tests.
    Test,
}

/// Source of a step's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The exit status alone.
    Status,
    /// The exit status, and that nothing was printed.
    Silence,
    /// The output of `cargo test`.
    Cargo,
    /// The output of `go test -json`.
    Go,
}

impl SuiteStep {
    /// Creates a step that runs these words in the root of the tree; the first word is the program.
    pub(crate) fn new<S: AsRef<str>>(words: &[S]) -> Self {
        Self {
            words: words.iter().map(|word| word.as_ref().to_owned()).collect(),
            folder: ".".to_owned(),
            variables: BTreeMap::new(),
            format: Format::Status,
            kind: StepKind::Test,
            needs: None,
        }
    }

    #[must_use]
    pub(crate) fn within(self, folder: &str) -> Self {
        Self { folder: folder.to_owned(), ..self }
    }

    #[must_use]
    pub(crate) fn tells(self, format: Format) -> Self {
        Self { format, ..self }
    }

    #[must_use]
    pub(crate) fn builds(self) -> Self {
        Self { kind: StepKind::Build, ..self }
    }

    pub(crate) fn kind(&self) -> StepKind {
        self.kind
    }

    #[must_use]
    pub(crate) fn needs(self, peer: TestDependency) -> Self {
        Self { needs: Some(peer), ..self }
    }

    #[must_use]
    pub(crate) fn with_variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Returns the command and its folder as a person would write them.
    pub(crate) fn name(&self) -> String {
        let words = self.words.join(" ");
        if self.folder == "." { words } else { format!("{words}, in {}", self.folder) }
    }

    /// Runs the step in the tree at `root`.
    ///
    /// # Errors
    /// When its output cannot be passed on. A program that cannot be started is a failure of the step.
    pub(crate) fn run(&self, root: &Path) -> Result<TestTally> {
        let missing = self.needs.and_then(|peer| Some((peer.missing()?, peer.remedy)));
        if let Some((reason, remedy)) = missing {
            if test_peers::is_required() {
                return Ok(TestTally::one_failed(format!(
                    "{}: {reason}; to install it: {remedy}",
                    self.name()
                )));
            }
            let skip = Skip { reason, remedy: remedy.to_owned(), test: self.name() };
            return Ok(TestTally::one_skipped(skip));
        }
        let (program, arguments) = self.words.split_first().context("a step has a program")?;
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root.join(&self.folder)).envs(&self.variables);
        // A single pipe for standard output and standard error keeps their order.
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                writeln!(io::stdout(), "cannot run {program}: {error}")?;
                return Ok(TestTally::one_failed(format!("{} (cannot run {program}: {error})", self.name())));
            }
        };
        // The command holds copies of the write end, which would keep the pipe open.
        drop(command);
        let lines = lines_of(reader);
        let mut results = Results::new(self.format);
        let status = loop {
            match lines.recv_timeout(POLL) {
                Ok(line) => results.read(&line)?,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(status) = child.try_wait()? {
                        break status;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break child.wait()?,
            }
        };
        // A process that outlives the command may hold the pipe open; its output is not awaited.
        while let Ok(line) = lines.recv_timeout(POLL) {
            results.read(&line)?;
        }
        let (mut tally, is_silent) = results.finish();
        if !status.success() && tally.failed.is_empty() {
            tally.failed.push(format!("{} ({status})", self.name()));
        } else if self.format == Format::Silence && !is_silent {
            tally.failed.push(self.name());
        } else if matches!(self.format, Format::Status | Format::Silence) {
            tally.passed += 1;
        }
        Ok(tally)
    }
}

/// The output parser of a format.
enum Results {
    Plain { is_silent: bool },
    Cargo(Libtest),
    Go(GoTest),
}

impl Results {
    fn new(format: Format) -> Self {
        match format {
            Format::Status | Format::Silence => Self::Plain { is_silent: true },
            Format::Cargo => Self::Cargo(Libtest::default()),
            Format::Go => Self::Go(GoTest::default()),
        }
    }

    /// Reads a line and prints the text to show to a person.
    fn read(&mut self, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches('\n');
        match self {
            Self::Plain { is_silent } => *is_silent = false,
            Self::Cargo(reader) => reader.read(text),
            Self::Go(reader) => {
                let shown = reader.read(text).unwrap_or_default();
                return io::stdout().write_all(shown.as_bytes());
            }
        }
        io::stdout().write_all(line)
    }

    /// Returns the counts, and whether nothing was printed.
    fn finish(self) -> (TestTally, bool) {
        match self {
            Self::Plain { is_silent } => (TestTally::default(), is_silent),
            Self::Cargo(reader) => (reader.finish(), false),
            Self::Go(reader) => (reader.finish(), false),
        }
    }
}

/// Reads lines in its own thread, which ends with the pipe.
fn lines_of(reader: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    receiver
}

const POLL: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn run(step: &SuiteStep) -> TestTally {
        step.run(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    fn shell(script: &str) -> SuiteStep {
        SuiteStep::new(&["sh", "-c", script])
    }

    #[test]
    fn a_step_is_judged_by_its_expected_output() {
        assert_eq!(run(&shell("echo it; true")).passed, 1);
        assert_eq!(run(&shell("exit 3")).failed, ["sh -c exit 3 (exit status: 3)"]);
        assert_eq!(run(&shell("true").tells(Format::Silence)).passed, 1);
        assert_eq!(run(&shell("echo a.go").tells(Format::Silence)).failed, ["sh -c echo a.go"]);
        assert_eq!(
            run(&shell("exit 1").within("src").tells(Format::Cargo)).failed,
            ["sh -c exit 1, in src (exit status: 1)"]
        );
        let failed = run(&SuiteStep::new(&["./no-such-program"])).failed;
        assert!(failed[0].contains("cannot run ./no-such-program"), "{failed:?}");
    }

    #[test]
    fn a_process_that_outlives_a_step_does_not_block_it() {
        let begun = Instant::now();
        // The background process ends by itself, long after the test.
        assert_eq!(run(&shell("sleep 30 & echo done")).passed, 1);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

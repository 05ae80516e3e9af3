//! A parser in its own process: reads a line of JSON and writes a line of JSON.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command as Blocking, Stdio};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::seen::{ParserInput, ParserObservation};
use crate::place::{self, TempDir};
use crate::wire::within;

/// A running parser process.
pub(super) struct ParserProcess {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    // Both are released with this value: the process is killed, the directory removed.
    _process: Child,
    _directory: Option<TempDir>,
}

impl ParserProcess {
    /// Builds and starts the Go parser.
    pub(super) fn go() -> Result<Self> {
        let directory = TempDir::new("go")?;
        let binary = directory.join("differential");
        let source = place::tree().join("tests/differential/go");
        let built = Blocking::new("go")
            .args([OsStr::new("build"), OsStr::new("-o"), binary.as_os_str(), OsStr::new(".")])
            .current_dir(source)
            .output()
            .context("cannot run go")?;
        ensure!(built.status.success(), "go build: {}", String::from_utf8_lossy(&built.stderr));
        let mut peer = Self::start(&binary, &[])?;
        peer._directory = Some(directory);
        Ok(peer)
    }

    /// Starts the Node parser.
    pub(super) fn node() -> Result<Self> {
        let script = place::tree().join("tests/differential/node/read.js");
        Self::start(Path::new("node"), &[script.as_os_str()])
    }

    /// Starts a Python parser: `h11` or `httptools`.
    pub(super) fn python(parser: &str) -> Result<Self> {
        let script = place::tree().join("tests/differential/python/read.py");
        Self::start(&test_peers::python(), &[script.as_os_str(), OsStr::new(parser)])
    }

    fn start(program: &Path, arguments: &[&OsStr]) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let input = process.stdin.take().context("no standard input")?;
        let output = BufReader::new(process.stdout.take().context("no standard output")?);
        Ok(Self { input, output, _process: process, _directory: None })
    }

    /// Lets the parser read all of `raw`.
    pub(super) async fn read(&mut self, raw: &[u8]) -> Result<ParserObservation> {
        let mut line = serde_json::to_string(&ParserInput::new(raw))?;
        line.push('\n');
        let mut answer = String::new();
        within("answer of a parser", async {
            self.input.write_all(line.as_bytes()).await?;
            self.output.read_line(&mut answer).await
        })
        .await??;
        ensure!(!answer.is_empty(), "the parser ended");
        serde_json::from_str(&answer).context("no answer of a parser")
    }
}

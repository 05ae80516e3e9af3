//! Probes the filters of a configuration in a separate process, so that crashes and hangs happen there.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use eddy_config::GatewayConfig;
use eddy_spec::problem::{Problem, SourceText};
use serde::{Deserialize, Serialize};

use super::problem::FilterProblem;
use crate::child::pack;
use crate::control::{Channel, Received, memory_file};

/// Message from the probe process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProbeMessage {
    /// About to create this filter.
    Making(String),
    /// About to compile this filter's module, which may take long the first time; `Making` follows afterwards.
    Compiling(String),
    /// This filter cannot be created, or probably not what was intended.
    Wrong(FilterProblem),
    /// All filters that can be created have been.
    Done,
}

/// Returns a problem for every filter of these texts that cannot be created, and warnings about others. `bundle` is the
/// library of their Go packages.
///
/// # Cost
/// Starts a process and waits for it: at most five seconds, plus the time of a compiler for new modules. No process
/// without filters.
pub(crate) fn probe(config: &GatewayConfig, sources: &[SourceText], bundle: Option<&Path>) -> Vec<Problem> {
    if config.filters.is_empty() {
        return Vec::new();
    }
    let found = FilterProbe::start(sources, bundle).and_then(FilterProbe::finish).unwrap_or_else(|error| {
        let message = format!("the filter probe process cannot be started: {error}");
        vec![FilterProblem::new("", message, None)]
    });
    found.iter().map(|problem| problem.in_sources(sources)).collect()
}

struct FilterProbe {
    process: Child,
    channel: Channel,
    /// Standard error of the process.
    said: File,
    deadline: Instant,
    /// Filter that is being created.
    making: Option<String>,
    /// Start of the current compilation of a module.
    compiling: Option<Instant>,
    problems: Vec<FilterProblem>,
}

impl FilterProbe {
    fn start(sources: &[SourceText], bundle: Option<&Path>) -> io::Result<Self> {
        let (channel, stdin) = Channel::pair()?;
        let texts = memory_file("eddy-probe", &pack(sources, bundle, None))?;
        channel.send(&(), &[texts.as_fd()])?;
        let said = File::from(memory_file("eddy-probe-said", &[])?);
        let process = Command::new("/proc/self/exe")
            .arg(PROBE_COMMAND)
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::null())
            .stderr(Stdio::from(said.try_clone()?))
            .spawn()?;
        let deadline = Instant::now() + PROBE_TIME_MAX;
        Ok(Self { process, channel, said, deadline, making: None, compiling: None, problems: Vec::new() })
    }

    fn finish(mut self) -> io::Result<Vec<FilterProblem>> {
        let is_done = self.listen();
        // Nothing that the process does from now on matters, whatever it reported.
        let _ = self.process.kill();
        let status = self.process.wait()?;
        if !is_done {
            let (message, hint) = self.verdict(status);
            let filter = self.making.as_deref().unwrap_or_default();
            self.problems.push(FilterProblem::new(filter, message, hint.as_deref()));
        }
        Ok(self.problems)
    }

    /// Reads the messages of the process; returns whether it finished.
    fn listen(&mut self) -> bool {
        loop {
            match self.channel.receive() {
                Ok(Received::Message(ProbeMessage::Making(filter), _)) => {
                    self.making = Some(filter);
                    self.end_compiling();
                }
                Ok(Received::Message(ProbeMessage::Compiling(filter), _)) => {
                    self.making = Some(filter);
                    self.end_compiling();
                    self.compiling = Some(Instant::now());
                    self.deadline += COMPILING_TIME_MAX;
                }
                Ok(Received::Message(ProbeMessage::Wrong(problem), _)) => self.problems.push(problem),
                Ok(Received::Message(ProbeMessage::Done, _)) => return true,
                Ok(Received::Nothing) if !self.channel.wait(self.deadline) => return false,
                Ok(Received::Nothing | Received::Unknown(_)) => {}
                Ok(Received::Closed) | Err(_) => return false,
            }
        }
    }

    /// Takes back the unused part of the extra time for a compilation.
    fn end_compiling(&mut self) {
        if let Some(since) = self.compiling.take() {
            self.deadline -= COMPILING_TIME_MAX.saturating_sub(since.elapsed());
        }
    }

    fn verdict(&mut self, status: ExitStatus) -> (String, Option<String>) {
        let said = self.last_line().map(|line| format!("its output: {line}"));
        if Instant::now() >= self.deadline && self.compiling.is_some() {
            let message = format!("compiling the module took longer than {} s", COMPILING_TIME_MAX.as_secs());
            return (message, said);
        }
        if Instant::now() >= self.deadline {
            let message = format!(
                "loading the library and creating the filter took longer than {} s",
                PROBE_TIME_MAX.as_secs()
            );
            let hint = "move slow work from the initialisation of the filter to a background task";
            return (message, Some(said.unwrap_or_else(|| hint.to_owned())));
        }
        let how = match (status.signal(), status.code()) {
            (Some(signal), _) => match nix::sys::signal::Signal::try_from(signal) {
                Ok(known) => format!("signal {signal} ({})", known.as_str()),
                Err(_) => format!("signal {signal}"),
            },
            (None, code) => format!("exit code {}", code.unwrap_or(-1)),
        };
        let what = match self.making {
            Some(_) => "the process crashed while it loaded the library or created the filter",
            None => "the filter probe process ended before it created a filter",
        };
        (format!("{what}: {how}"), said)
    }

    /// Returns the most informative line of standard error: the first one of a Go panic, or the last line.
    fn last_line(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        self.said.seek(SeekFrom::Start(0)).ok()?;
        self.said.by_ref().take(PROBE_OUTPUT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let is_panic = |line: &&str| line.starts_with("panic: ") || line.starts_with("fatal error: ");
        let line =
            text.lines().find(is_panic).or_else(|| text.lines().rfind(|line| !line.trim().is_empty()))?;
        Some(line.trim().chars().take(LINE_CHARS_MAX).collect())
    }
}

/// Hidden command that probes filters.
pub(crate) const PROBE_COMMAND: &str = "probe-filters";

/// Maximum time to create all filters of a configuration.
const PROBE_TIME_MAX: Duration = Duration::from_secs(5);
/// Maximum additional time to compile a module.
const COMPILING_TIME_MAX: Duration = Duration::from_secs(300);
const PROBE_OUTPUT_BYTES_MAX: u64 = 256 * 1024;
const LINE_CHARS_MAX: usize = 300;

//! Envoy's answers, live or recorded.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::crowd::Reply;
use super::echo::EchoUpstream;
use super::envoy::Envoy;
use crate::place::variable;

/// An Envoy configuration and requests for it.
#[derive(Clone, Debug)]
pub struct Questions {
    /// Configuration, as for [`Envoy::start`].
    pub config: String,
    /// Requests in wire format.
    pub requests: Vec<Vec<u8>>,
}

/// Returns Envoy's responses to all requests in order, each formatted by `shown` as one line.
///
/// Without Envoy the answers come from the file `recorded`, which `UPDATE=1` rewrites. Without a file name, the real
/// Envoy is needed.
///
/// # Errors
/// When Envoy is required and missing, does not start or respond, or gives other answers than the file; when the file
/// was recorded for other requests.
pub fn envoy_says(
    recorded: Option<&Path>,
    all: &[Questions],
    upstream: &EchoUpstream,
    shown: impl Fn(&Reply) -> String,
) -> Result<Vec<String>> {
    let Some(program) = Envoy::find()? else {
        return recorded_answers(recorded.context("this test needs the real Envoy")?, all);
    };
    let mut answers = Vec::new();
    for questions in all {
        let envoy = Envoy::start(&program, &questions.config, &upstream.path())?;
        let replies = envoy.clients().ask_all(&questions.requests).with_context(|| envoy.log())?;
        answers.extend(replies.iter().map(&shown));
    }
    let Some(file) = recorded else { return Ok(answers) };
    if variable("UPDATE").is_some() {
        let lines = answers.iter().fold(first_line(all) + "\n", |mut lines, answer| {
            // Writing to memory cannot fail.
            let _ = writeln!(lines, "{answer}");
            lines
        });
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, lines)?;
    } else {
        ensure!(
            recorded_answers(file, all)? == answers,
            "the answers of Envoy differ from {}; UPDATE=1 records them again",
            file.display()
        );
    }
    Ok(answers)
}

/// Returns the recorded answers to these requests.
///
/// # Errors
/// When the file cannot be read or was recorded for other requests.
pub fn recorded_answers(file: &Path, all: &[Questions]) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut lines = text.lines();
    ensure!(
        lines.next() == Some(&first_line(all)),
        "{} is for other questions; UPDATE=1 records the answers again where Envoy is installed",
        file.display()
    );
    Ok(lines.map(str::to_owned).collect())
}

/// Returns the first line of a file, which identifies the requests it was recorded for.
fn first_line(all: &[Questions]) -> String {
    format!("questions {:016x}", digest(all))
}

/// Returns the FNV-1a hash of all configurations and requests.
fn digest(all: &[Questions]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for questions in all {
        add(questions.config.as_bytes());
        questions.requests.iter().for_each(|request| add(request));
    }
    hash
}

//! Requests for the real Envoy, and the digest that identifies them in a file of recorded answers.

use std::path::Path;

use anyhow::{Context, Result};
use test_peers::{AnsweringPeer, Fnv, PeerAnswers};

use super::echo::EchoUpstream;
use super::envoy::Envoy;
use super::parallel_client::Reply;

/// Envoy, as the report of a difference names it.
pub const ENVOY_ANSWERS: AnsweringPeer = AnsweringPeer {
    name: "Envoy",
    remedy: "make bench-peers (installs Envoy) and run the test again, which asks it",
};

/// An Envoy configuration and requests for it.
#[derive(Clone, Debug)]
pub struct EnvoyQueries {
    /// Configuration, as for [`Envoy::start`].
    pub config: String,
    /// Requests in wire format.
    pub requests: Vec<Vec<u8>>,
}

/// Returns Envoy's answers to all requests in order, each formatted by `shown` as one line.
///
/// Without Envoy the answers come from the file `recorded`. Without a file name, the real Envoy is needed.
///
/// # Errors
/// When Envoy is required and missing, or does not start or respond; when the file was recorded for other requests.
pub fn envoy_responses(
    recorded: Option<&Path>,
    all: &[EnvoyQueries],
    upstream: &EchoUpstream,
    shown: impl Fn(&Reply) -> String,
) -> Result<PeerAnswers> {
    let Some(program) = Envoy::find()? else {
        return recorded_answers(recorded.context("this test needs the real Envoy")?, all);
    };
    let mut texts = Vec::new();
    for questions in all {
        let envoy = Envoy::start(&program, &questions.config, &upstream.path())?;
        let replies = envoy.clients().ask_all(&questions.requests).with_context(|| envoy.log())?;
        texts.extend(replies.iter().map(&shown));
    }
    Ok(PeerAnswers::Live { texts, file: recorded.map(|file| (file.to_owned(), digest(all))) })
}

/// Returns the recorded answers to these requests.
///
/// # Errors
/// When the file cannot be read or was recorded for other requests.
pub fn recorded_answers(file: &Path, all: &[EnvoyQueries]) -> Result<PeerAnswers> {
    Ok(PeerAnswers::recorded(file, digest(all))?)
}

fn digest(all: &[EnvoyQueries]) -> u64 {
    let mut digest = Fnv::default();
    for questions in all {
        digest.add(questions.config.as_bytes());
        questions.requests.iter().for_each(|request| digest.add(request));
    }
    digest.value()
}

//! NGINX's answers to the requests of a test: from the real program, or recorded ones where it is not installed.

use std::path::{Path, PathBuf};

use test_peers::{AnsweringPeer, PeerAnswers};

use crate::Oracle;

/// NGINX, as the report of a difference names it.
pub(crate) const NGINX_ANSWERS: AnsweringPeer = AnsweringPeer {
    name: "nginx",
    remedy: "apt-get install nginx (or make bench-peers) and run the test again, which asks it",
};

/// Returns NGINX's answers to the requests with the digest `questions`: those that `ask` gets from the real NGINX, or
/// those in `file`, a path below `tests/nginx/recorded`.
pub(crate) fn nginx_responses(
    file: Option<&str>,
    questions: u64,
    oracle: Oracle,
    ask: impl FnOnce() -> Vec<String>,
) -> PeerAnswers {
    let file = file.map(path);
    match oracle {
        Oracle::Real => PeerAnswers::Live { texts: ask(), file: file.map(|file| (file, questions)) },
        Oracle::Recorded => {
            let file = file.unwrap_or_else(|| panic!("the long version needs the real NGINX"));
            PeerAnswers::recorded(&file, questions).unwrap_or_else(|error| panic!("{error}"))
        }
    }
}

/// Returns the path of a file of recorded answers.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nginx/recorded").join(name)
}

//! The panel: all parsers that are there, and their common verdict on a string of bytes.

use std::collections::HashSet;

use anyhow::{Context, Result, ensure};

use super::peer::Peer;
use super::seen::{Seen, SeenMessage};
use super::tiny::Tiny;
use super::{hyper, scan};
use crate::place;

/// The parsers at hand.
pub struct Panel {
    parsers: Vec<(&'static str, Parser)>,
    absent: Vec<String>,
    judged: HashSet<Vec<u8>>,
}

enum Parser {
    Scan,
    Hyper,
    Tiny(Tiny),
    Peer(Box<Peer>),
}

/// What the panel says of a string of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Parsers that saw something else than expected, and what.
    pub disagree: Vec<(&'static str, Seen)>,
    /// Parsers that saw what was expected up to a point and refused the rest, and why.
    pub refuse: Vec<(&'static str, String)>,
}

// Fewer than four parsers make no panel.
const PARSERS_MIN: usize = 4;

impl Panel {
    /// Starts every parser that this machine has; Go's and three in this process are always there.
    ///
    /// # Errors
    /// When Go's is not, or `EDDY_REQUIRE_PEERS` is set and any is not.
    pub async fn start() -> Result<Self> {
        let tiny = Tiny::start()?;
        let go = Peer::go().context("the Go parser is required")?;
        let mut panel = Self {
            parsers: vec![
                ("httparse", Parser::Scan),
                ("hyper", Parser::Hyper),
                ("tiny_http", Parser::Tiny(tiny)),
                ("go net/http", Parser::Peer(Box::new(go))),
            ],
            absent: Vec::new(),
            judged: HashSet::new(),
        };
        panel.add("node llhttp", Peer::node()).await;
        panel.add("python h11", Peer::python("h11")).await;
        panel.add("python httptools", Peer::python("httptools")).await;
        let is_strict = place::variable("EDDY_REQUIRE_PEERS").is_some();
        ensure!(!is_strict || panel.absent.is_empty(), "parsers are absent: {:?}", panel.absent);
        ensure!(panel.parsers.len() >= PARSERS_MIN, "{} parsers are too few", panel.parsers.len());
        Ok(panel)
    }

    async fn add(&mut self, name: &'static str, peer: Result<Peer>) {
        let checked = async {
            let mut peer = peer?;
            let seen = peer.read(CANARY).await?;
            ensure!(seen.messages == [canary()], "it cannot read the simplest request: {seen:?}");
            anyhow::Ok(peer)
        };
        match checked.await {
            Ok(peer) => self.parsers.push((name, Parser::Peer(Box::new(peer)))),
            Err(error) => self.absent.push(format!("{name}: {error:#}")),
        }
    }

    /// The names of the parsers, those absent last with the reason.
    pub fn describe(&self) -> String {
        let present: Vec<&str> = self.parsers.iter().map(|(name, _)| *name).collect();
        let absent: Vec<String> = self.absent.iter().map(|why| format!("ABSENT {why}")).collect();
        format!("{} parsers: {}; {}", present.len(), present.join(", "), absent.join("; "))
    }

    /// How many different strings were judged.
    pub fn judged(&self) -> usize {
        self.judged.len()
    }

    /// Asks every parser to read `raw`, a whole message that should be `expected`, with another message behind it.
    ///
    /// The same bytes are judged once; later the verdict is empty.
    ///
    /// # Errors
    /// When a parser fails to answer.
    pub async fn judge_whole(&mut self, raw: &[u8], expected: &SeenMessage) -> Result<Verdict> {
        let bytes = [raw, CANARY].concat();
        self.judge(bytes, &[expected.clone(), canary()]).await
    }

    /// Asks every parser to read `raw`, which holds no whole message.
    ///
    /// # Errors
    /// When a parser fails to answer.
    pub async fn judge_cut(&mut self, raw: &[u8]) -> Result<Verdict> {
        self.judge(raw.to_vec(), &[]).await
    }

    async fn judge(&mut self, bytes: Vec<u8>, expected: &[SeenMessage]) -> Result<Verdict> {
        let mut verdict = Verdict::default();
        if self.judged.contains(&bytes) {
            return Ok(verdict);
        }
        for (name, parser) in &mut self.parsers {
            let seen = match parser {
                Parser::Scan => scan::read(&bytes),
                Parser::Hyper => hyper::read(&bytes).await,
                Parser::Tiny(tiny) => tiny.read(&bytes).await.with_context(|| (*name).to_owned())?,
                Parser::Peer(peer) => peer.read(&bytes).await.with_context(|| (*name).to_owned())?,
            };
            if seen.messages == expected {
                continue;
            }
            if expected.starts_with(&seen.messages) && !seen.error.is_empty() {
                verdict.refuse.push((name, seen.error));
            } else {
                verdict.disagree.push((name, seen));
            }
        }
        self.judged.insert(bytes);
        Ok(verdict)
    }
}

fn canary() -> SeenMessage {
    SeenMessage {
        method: "GET".into(),
        target: "/canary".into(),
        host: "canary.example".into(),
        body: Vec::new(),
    }
}

const CANARY: &[u8] = b"GET /canary HTTP/1.1\r\nHost: canary.example\r\n\r\n";

#[cfg(test)]
#[path = "panel_tests.rs"]
mod tests;

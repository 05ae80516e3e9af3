//! The panel: all available parsers, and their common verdict on a byte string.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, ensure};
use test_peers::HTTP_PARSERS;

use super::peer::ParserProcess;
use super::recorded::{Opinion, OpinionRecording, key_of};
use super::seen::{ParserObservation, SeenMessage};
use super::tiny::Tiny;
use super::{hyper, scan};

/// The available parsers.
pub struct Panel {
    parsers: Vec<(&'static str, PanelParser)>,
    absent: Vec<String>,
    judged: HashSet<Vec<u8>>,
    /// Opinions of parsers that other machines may not have, to be recorded.
    said: HashMap<&'static str, OpinionRecording>,
    unrecorded: usize,
}

enum PanelParser {
    Scan,
    Hyper,
    Tiny(Tiny),
    Peer(Box<ParserProcess>),
    Recorded(OpinionRecording),
}

/// Verdict of the panel on a byte string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanelVerdict {
    /// Parsers that saw something other than expected, with what they saw.
    pub disagree: Vec<(&'static str, ParserObservation)>,
    /// Parsers that saw a prefix of what was expected and refused the rest, with their reason.
    pub refuse: Vec<(&'static str, String)>,
}

// Fewer than four parsers make no panel.
const PARSERS_MIN: usize = 4;

impl Panel {
    /// Starts every parser that this machine has; the Go parser and three in this process are always present.
    ///
    /// # Errors
    /// When the Go parser is missing, or `EDDY_REQUIRE_PEERS` is set and any parser is missing.
    pub async fn start() -> Result<Self> {
        let tiny = Tiny::start()?;
        let go = ParserProcess::go().context("the Go parser is required")?;
        let mut panel = Self {
            parsers: vec![
                ("httparse", PanelParser::Scan),
                ("hyper", PanelParser::Hyper),
                ("tiny_http", PanelParser::Tiny(tiny)),
                ("go net/http", PanelParser::Peer(Box::new(go))),
            ],
            absent: Vec::new(),
            judged: HashSet::new(),
            said: HashMap::new(),
            unrecorded: 0,
        };
        panel.add("node llhttp", ParserProcess::node()).await;
        panel.add("python h11", ParserProcess::python("h11")).await;
        panel.add("python httptools", ParserProcess::python("httptools")).await;
        for absent in &panel.absent {
            test_peers::use_recorded(&format!("the HTTP parser {absent}"), HTTP_PARSERS)?;
        }
        ensure!(panel.parsers.len() >= PARSERS_MIN, "{} parsers are not enough", panel.parsers.len());
        Ok(panel)
    }

    async fn add(&mut self, name: &'static str, peer: Result<ParserProcess>) {
        let checked = async {
            let mut peer = peer?;
            let seen = peer.read(CANARY).await?;
            ensure!(seen.messages == [canary()], "it cannot parse the simplest request: {seen:?}");
            anyhow::Ok(peer)
        };
        match checked.await {
            Ok(peer) => {
                self.said.insert(name, OpinionRecording::default());
                self.parsers.push((name, PanelParser::Peer(Box::new(peer))));
            }
            Err(error) => {
                self.absent.push(format!("{name} is missing: {error:#}"));
                // Its recorded opinions replace it.
                match OpinionRecording::read(name) {
                    Ok(record) => self.parsers.push((name, PanelParser::Recorded(record))),
                    Err(error) => self.absent.push(format!("record of {name}: {error:#}")),
                }
            }
        }
    }

    /// Lists the parsers by name, absent ones last, with the reason.
    pub fn describe(&self) -> String {
        let present: Vec<String> = self
            .parsers
            .iter()
            .map(|(name, parser)| match parser {
                PanelParser::Recorded(_) => format!("{name} as recorded"),
                PanelParser::Scan | PanelParser::Hyper | PanelParser::Tiny(_) | PanelParser::Peer(_) => {
                    (*name).to_owned()
                }
            })
            .collect();
        let absent: Vec<String> = self.absent.iter().map(|why| format!("ABSENT {why}")).collect();
        format!("{} parsers: {}; {}", present.len(), present.join(", "), absent.join("; "))
    }

    /// Number of distinct byte strings that were judged.
    pub fn judged(&self) -> usize {
        self.judged.len()
    }

    /// Number of opinions of absent parsers that were never recorded.
    pub fn unrecorded(&self) -> usize {
        self.unrecorded
    }

    /// Writes the parsers' opinions to `tests/differential/recorded`, for machines that do not have the parsers.
    ///
    /// # Errors
    /// When a parser is absent, or a file cannot be written.
    pub fn record(&self) -> Result<()> {
        ensure!(self.absent.is_empty(), "parsers are absent, so nothing is recorded: {:?}", self.absent);
        self.said.iter().try_for_each(|(name, record)| record.write(name))
    }

    /// Lets every parser read `raw`, a complete message that should be `expected`, followed by another message.
    ///
    /// Each byte string is judged once; the verdict of a repetition is empty.
    ///
    /// # Errors
    /// When a parser fails to answer.
    pub async fn judge_whole(&mut self, raw: &[u8], expected: &SeenMessage) -> Result<PanelVerdict> {
        let bytes = [raw, CANARY].concat();
        self.judge(bytes, &[expected.clone(), canary()]).await
    }

    /// Lets every parser read `raw`, which holds no complete message.
    ///
    /// # Errors
    /// When a parser fails to answer.
    pub async fn judge_cut(&mut self, raw: &[u8]) -> Result<PanelVerdict> {
        self.judge(raw.to_vec(), &[]).await
    }

    async fn judge(&mut self, bytes: Vec<u8>, expected: &[SeenMessage]) -> Result<PanelVerdict> {
        let mut verdict = PanelVerdict::default();
        if self.judged.contains(&bytes) {
            return Ok(verdict);
        }
        let key = key_of(&bytes, expected);
        for (name, parser) in &mut self.parsers {
            let opinion = match parser {
                PanelParser::Scan => Opinion::of(scan::read(&bytes), expected),
                PanelParser::Hyper => Opinion::of(hyper::read(&bytes).await, expected),
                PanelParser::Tiny(tiny) => {
                    let seen = tiny.read(&bytes).await.with_context(|| (*name).to_owned())?;
                    Opinion::of(seen, expected)
                }
                PanelParser::Peer(peer) => {
                    let seen = peer.read(&bytes).await.with_context(|| (*name).to_owned())?;
                    let opinion = Opinion::of(seen, expected);
                    if let Some(record) = self.said.get_mut(name) {
                        record.add(key, opinion.clone());
                    }
                    opinion
                }
                PanelParser::Recorded(record) => match record.opinion(key) {
                    Some(opinion) => opinion,
                    None => {
                        self.unrecorded += 1;
                        continue;
                    }
                },
            };
            match opinion {
                Opinion::Same => {}
                Opinion::Refuses(why) => verdict.refuse.push((name, why)),
                Opinion::Differs(seen) => verdict.disagree.push((name, seen)),
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

//! The parts of an explanation. Their JSON form is stable: fields may be added, never renamed.

use serde::Serialize;

use crate::explain::Cost;
use crate::order::PrecedenceStep;

/// Why a request goes where it goes. Displays as text for people; `{:#}` shows all candidates, `{}` at most 20.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The request that was looked up.
    pub request: RequestShown,
    /// The table of the winner.
    pub table: Option<String>,
    /// The hosts of rules that the request's host is in, most specific first: the order in which they are tried.
    pub hosts: Vec<HostStep>,
    /// The rule that the request is for; `None` if no rule matches.
    pub winner: Option<RuleRef>,
    /// What the winner beat, if another rule matches as well: the rule that would win without it.
    pub why: Option<Against>,
    /// Whether only the order in the file decides between the winner and a rule that matches as well.
    pub is_fragile: bool,
    /// The rules for this host and path, by rank.
    pub candidates: Vec<Candidate>,
    /// What the index did to find the winner.
    pub cost: Cost,
    /// How many rules were not even candidates.
    pub elsewhere: Elsewhere,
    /// The rules that were not even candidates.
    #[serde(skip)]
    pub(crate) others: Vec<Candidate>,
}

impl Explanation {
    /// Adds the path as the client sent it, before it was normalised.
    pub fn with_sent_path(mut self, sent: &[u8]) -> Self {
        self.request.sent_path = Some(String::from_utf8_lossy(sent).into_owned());
        self
    }

    /// Counts the rules that were not even candidates among the candidates, so that every rule is shown.
    pub fn with_all(mut self) -> Self {
        self.candidates.append(&mut self.others);
        self.candidates.sort_by_key(|candidate| candidate.rule.rank);
        self
    }

    /// What became of the rules of this name: in each table that has one.
    pub fn why_not<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Candidate> {
        self.candidates.iter().chain(&self.others).filter(move |candidate| candidate.rule.rule == name)
    }
}

/// A request as it was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestShown {
    /// The method.
    pub method: String,
    /// The host in lower case, without a final dot.
    pub host: String,
    /// The path as the client sent it, if known.
    pub sent_path: Option<String>,
    /// The normalised path, which rules are compared with.
    pub path: String,
    /// The query; empty if there is none.
    pub query: String,
}

/// A rule, and where to find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRef {
    /// Its place in the total order under this host, from 1.
    pub rank: u32,
    /// Its table.
    pub table: String,
    /// Its name.
    pub rule: String,
    /// Its index in the router, as metrics use it.
    pub index: u32,
    /// The file it is written in.
    pub file: String,
    /// The line it begins in.
    pub line: u32,
    /// The host it was tried under.
    pub host: String,
    /// What else it asks for.
    pub asks: String,
}

/// One of the hosts that a request's host is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostStep {
    /// The host as rules name it, `any host` for rules that name none.
    pub host: String,
    /// How many rules are for it.
    pub rules: u32,
    /// What came of trying it.
    pub outcome: HostOutcome,
}

/// What came of trying the rules of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostOutcome {
    /// The winner is one of them.
    Won,
    /// None of them matches; the next host is tried.
    NoMatch,
    /// A more specific host had a match.
    NotTried,
}

/// How two rules that both match are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Against {
    /// The rule that comes second.
    pub rule: RuleRef,
    /// The step that decides.
    pub step: PrecedenceStep,
    /// Why, for people.
    pub reason: String,
}

/// A rule and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: RuleOutcome,
}

/// What became of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RuleOutcome {
    /// It is the winner.
    Wins,
    /// It matches, but the winner comes before it.
    Loses {
        /// The step that decides.
        step: PrecedenceStep,
        /// Why the winner comes first, for people.
        reason: String,
        /// Whether only the order in the file decides.
        is_fragile: bool,
        /// Whether it would win without the winner.
        is_next: bool,
    },
    /// It does not match.
    Fails {
        /// The first condition that fails.
        failed_at: FailedAt,
        /// What it wants and what the request has, for people.
        reason: String,
    },
}

/// The condition at which a rule fails; they are tried in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedAt {
    /// The host.
    Host,
    /// The path.
    Path,
    /// The method.
    Method,
    /// A header.
    Header,
    /// A parameter of the query.
    Query,
    /// The fraction of requests it takes.
    Fraction,
}

/// How many rules are not candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Rules for other hosts.
    pub other_hosts: u32,
    /// Rules for this host and other paths.
    pub other_paths: u32,
}

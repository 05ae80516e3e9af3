//! Parts of an explanation. Their JSON form is stable: fields may be added, never renamed.

use serde::Serialize;

use crate::explain::Cost;
use crate::order::PrecedenceStep;

/// Explanation of a lookup. Displays as text; `{:#}` shows all candidates, `{}` at most 20.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The request that was looked up.
    pub request: RequestSummary,
    /// The table of the winner.
    pub table: Option<String>,
    /// Host patterns that match the request's host, most specific first: the order in which they are tried.
    pub hosts: Vec<HostStep>,
    /// Matched rule; `None` if no rule matches.
    pub winner: Option<RuleRef>,
    /// Rule that would win without the winner, and why it loses; `None` if no other rule matches.
    pub why: Option<Against>,
    /// Whether only the file order decides between the winner and another matching rule.
    pub is_fragile: bool,
    /// Rules for this host and path, by rank.
    pub candidates: Vec<Candidate>,
    /// Work of the index to find the winner.
    pub cost: Cost,
    /// Number of rules that are not candidates.
    pub elsewhere: Elsewhere,
    /// Rules that are not candidates.
    #[serde(skip)]
    pub(crate) others: Vec<Candidate>,
}

impl Explanation {
    /// Adds the path as the client sent it, before normalisation.
    pub fn with_sent_path(mut self, sent: &[u8]) -> Self {
        self.request.sent_path = Some(String::from_utf8_lossy(sent).into_owned());
        self
    }

    /// Includes the rules that are not candidates in the list of candidates, so that every rule is shown.
    pub fn with_all(mut self) -> Self {
        self.candidates.append(&mut self.others);
        self.candidates.sort_by_key(|candidate| candidate.rule.rank);
        self
    }

    /// Returns the outcomes of the rules with this name, in each table that has one.
    pub fn why_not<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Candidate> {
        self.candidates.iter().chain(&self.others).filter(move |candidate| candidate.rule.rule == name)
    }
}

/// A request as it was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestSummary {
    /// Method.
    pub method: String,
    /// Host in lower case, without a final dot.
    pub host: String,
    /// Path as the client sent it, if known.
    pub sent_path: Option<String>,
    /// Normalised path, which rules are compared with.
    pub path: String,
    /// Query; empty if there is none.
    pub query: String,
}

/// Reference to a rule, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRef {
    /// Rank in the total order under this host, from 1.
    pub rank: u32,
    /// Name of the table.
    pub table: String,
    /// Name of the rule.
    pub rule: String,
    /// Index in the router, as used in metrics.
    pub index: u32,
    /// Configuration file.
    pub file: String,
    /// First line of the rule.
    pub line: u32,
    /// Host under which the rule was evaluated.
    pub host: String,
    /// Further requirements.
    pub asks: String,
}

/// A host pattern that matches the request's host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostStep {
    /// Host as rules name it; `any host` for rules that name none.
    pub host: String,
    /// Number of rules for it.
    pub rules: u32,
    /// Outcome of the search in its rules.
    pub outcome: HostOutcome,
}

/// Outcome of the search in the rules of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostOutcome {
    /// The winner is among them.
    Won,
    /// None of them matches; the next host is tried.
    NoMatch,
    /// A more specific host had a match.
    NotTried,
}

/// Reason why one of two matching rules comes first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Against {
    /// Rule that comes second.
    pub rule: RuleRef,
    /// Step of the order that decides.
    pub step: PrecedenceStep,
    /// Reason, in readable form.
    pub reason: String,
}

/// A rule and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Rule.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// Outcome.
    #[serde(flatten)]
    pub outcome: RuleOutcome,
}

/// Outcome of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RuleOutcome {
    /// The rule is the winner.
    Wins,
    /// The rule matches, but the winner precedes it.
    Loses {
        /// Step of the order that decides.
        step: PrecedenceStep,
        /// Reason why the winner comes first, in readable form.
        reason: String,
        /// Whether only the file order decides.
        is_fragile: bool,
        /// Whether the rule would win without the winner.
        is_next: bool,
    },
    /// The rule does not match.
    Fails {
        /// First condition that fails.
        failed_at: FailedAt,
        /// Required and actual value, in readable form.
        reason: String,
    },
}

/// Condition on which a rule fails; they are evaluated in this order.
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
    /// A query parameter.
    Query,
    /// The fraction of requests that the rule takes.
    Fraction,
}

/// Number of rules that are not candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Rules for other hosts.
    pub other_hosts: u32,
    /// Rules for this host and other paths.
    pub other_paths: u32,
}

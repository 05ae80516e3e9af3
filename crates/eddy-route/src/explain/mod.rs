//! Explanations of lookups: the winner, the rule it precedes, and why the others do not match.

mod cost;
mod judge;
mod text;
mod verdict;

pub use cost::Cost;
pub(crate) use judge::judge;
pub use verdict::{
    Against, Candidate, Elsewhere, Explanation, FailedAt, HostOutcome, HostStep, RequestSummary, RuleOutcome,
    RuleRef,
};

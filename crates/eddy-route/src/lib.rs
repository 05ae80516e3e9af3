//! Routing: which rule matches a request, and why.
//!
//! Tables of rules, in any dialect, are put into one total order ([`Router::build`]); of all rules that match a
//! request, the first one wins. [`Router::lookup`] finds it with an index, [`Router::explain`] tells why it won and
//! [`Router::ordered`] lists the order. No I/O, clock, thread or randomness.
//!
//! A dialect is a normaliser in [`normalise`] and an order in `order/`; the index knows only ranks.
//!
#![doc = include_str!("../ORDER.md")]
#![forbid(unsafe_code)]

mod compile;
mod error;
mod explain;
mod index;
pub mod nginx;
pub mod normalise;
mod order;
mod reference;
mod request;
mod router;
mod rule;
mod survey;
mod translate;
mod witness;

pub use compile::{CompiledRule, RewriteFault};
pub use error::{RouteError, RouteProblem};
pub use explain::{
    Against, Candidate, Cost, Elsewhere, Explanation, FailedAt, HostOutcome, HostStep, RequestSummary,
    RuleOutcome, RuleRef,
};
pub use order::{CATCH_ALL_RANK, PrecedenceStep};
pub use request::{RouteRequest, RouteScratch};
pub use router::{MatchedRule, Router};
pub use rule::{
    CaselessPath, Dialect, Fraction, HostForm, HostPattern, KubernetesPrecedence, Missing, PathForm,
    PathPattern, PathReplace, PathRewrite, PathSearch, QueryForm, RegexRank, RouteTable, Rule,
    SourceLocation, TableMatchOptions, ValueMatch, ValueTest,
};
pub use survey::{Listing, RankedRule, Shadow};
pub use translate::{OtherDialect, Translation, Untranslatable, translate};
pub use witness::Witness;

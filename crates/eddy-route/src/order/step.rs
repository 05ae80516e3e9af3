//! Steps by which two rules are compared.

use serde::Serialize;

/// The step that decides which of two rules comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrecedenceStep {
    /// The more specific host.
    Host,
    /// The table that the listener names first.
    Table,
    /// The lower explicit rank.
    Rank,
    /// The more specific path.
    Path,
    /// A rule with methods before one without.
    Method,
    /// The greater number of header matches.
    Headers,
    /// The greater number of query matches.
    Query,
    /// The older Kubernetes object.
    Age,
    /// The object that comes first by name.
    Name,
    /// The rule that is first in the file: no condition of the rules decides.
    FileOrder,
    /// The rule that is first as written, as the dialect prescribes.
    Written,
    /// None: no request matches both, their order depends on the text only.
    #[serde(rename = "apart")]
    Disjoint,
}

impl PrecedenceStep {
    /// Returns a word for the step.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Table => "table",
            Self::Rank => "rank",
            Self::Path => "path",
            Self::Method => "method",
            Self::Headers => "headers",
            Self::Query => "query",
            Self::Age => "age",
            Self::Name => "name",
            Self::FileOrder => "file_order",
            Self::Written => "written",
            Self::Disjoint => "apart",
        }
    }

    /// Whether the decision does not depend on the conditions of the rules.
    pub(crate) fn is_fragile(self) -> bool {
        matches!(self, Self::Age | Self::Name | Self::FileOrder)
    }
}

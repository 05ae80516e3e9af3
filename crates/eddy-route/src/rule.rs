//! The one form every dialect's rules take before they are compiled: tables of rules, as checked text.

use std::fmt;
use std::sync::Arc;

/// Where a rule is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file, as it was named to eddy.
    pub file: Arc<str>,
    /// The line of the rule's first character, from 1.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// The language a table is written in; it decides the order of the table's rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// eddy's own: the most specific rule wins, wherever it is written.
    #[default]
    Eddy,
}

/// A table of rules of one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// The table's name in the configuration.
    pub name: Arc<str>,
    /// The language the rules are written in.
    pub dialect: Dialect,
    /// The rules in file order.
    pub rules: Vec<Rule>,
}

/// One rule: what a request must be like, and what then happens to it.
///
/// All conditions must hold: one of the hosts, the path, one of the methods, every header and every query match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name, shown by `explain`, metrics and the access record.
    pub name: Arc<str>,
    /// Where the rule is written.
    pub origin: Origin,
    /// The hosts it serves; none means any.
    pub hosts: Vec<HostPattern>,
    /// The paths it serves.
    pub path: PathPattern,
    /// The methods it serves, compared byte by byte; none means any. `GET` does not include `HEAD`.
    pub methods: Vec<String>,
    /// What the request's fields must be like.
    pub headers: Vec<ValueMatch>,
    /// What the query's parameters must be like.
    pub query: Vec<ValueMatch>,
    /// Moves the rule before (negative) or after (positive) the rules of the same host and table; 0 when absent.
    pub rank: Option<i32>,
    /// What the caller does with a request of this rule; the router only hands it back.
    pub action: u32,
    /// How the path is changed for the upstream, if at all.
    pub rewrite: Option<PathRewrite>,
}

/// Which hosts a rule serves. Letter case, a port and one final dot of the request's host do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// Every host, also none.
    #[default]
    Any,
    /// This host alone.
    Exact(String),
    /// Every host below this one, by any number of labels: `*.example.com`, with or without the `*.`.
    Suffix(String),
}

/// Which paths a rule serves, compared with the normalised path, letter case counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathPattern {
    /// Every path, also the `*` of `OPTIONS *`.
    #[default]
    Any,
    /// This path alone, byte by byte.
    Exact(String),
    /// This path and all below it, by segment: `/user` and `/user/` both mean `/user`, `/user/` and `/user/x`, not `/username`.
    Prefix(String),
    /// Every path that begins with these bytes, also within a segment: `/user` is `/username` too.
    BytePrefix(String),
    /// Every path that the expression matches as a whole.
    Regex(String),
    /// Every path in which the expression matches somewhere.
    Search(PathSearch),
    /// `/users/{id}`: a capture takes one segment that is not empty; a last `{rest...}` takes all that is left, also nothing.
    Template(String),
}

/// An expression that is searched for in a path, rather than matched with all of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathSearch {
    /// The expression.
    pub expression: String,
    /// Whether letter case does not count, of ASCII letters.
    pub is_caseless: bool,
    /// What the path begins with besides, byte by byte; empty for any path.
    pub below: String,
}

impl PathPattern {
    /// The length of the text.
    pub(crate) fn text_len(&self) -> usize {
        match self {
            Self::Any => 0,
            Self::Exact(text)
            | Self::Prefix(text)
            | Self::BytePrefix(text)
            | Self::Regex(text)
            | Self::Template(text) => text.len(),
            Self::Search(search) => search.expression.len() + search.below.len(),
        }
    }
}

/// What a field or a parameter of the query must be like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueMatch {
    /// The name: of a field in any letter case, of a parameter byte by byte after decoding.
    pub name: String,
    /// What its value must be like.
    pub test: ValueTest,
}

/// What a value must be like, byte by byte, letter case counts.
///
/// A field that was sent more than once passes if any of its lines does. Of a parameter given more than once only the
/// first counts; its percent-escapes are decoded and `+` means a space. `Absent` passes only without any such name;
/// every other test fails then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueTest {
    /// There is a value, maybe empty.
    Present,
    /// There is none.
    Absent,
    /// The value is this text.
    Exact(String),
    /// The value begins with this text.
    Prefix(String),
    /// The value ends in this text.
    Suffix(String),
    /// The value contains this text.
    Contains(String),
    /// The expression matches the value as a whole.
    Regex(String),
}

/// How the path is changed for the upstream; the query stays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathRewrite {
    /// Replaces the matched prefix: with `/new` for the prefix `/user`, `/user/x` becomes `/new/x`.
    Prefix(String),
    /// The whole new path; `{name}` stands for a capture of the template or expression, `{1}` for a numbered group.
    Full(String),
}

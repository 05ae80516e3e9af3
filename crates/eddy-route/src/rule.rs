//! Common form of the rules of all dialects before compilation: tables of rules, as checked text.

use std::fmt;

use eddy_ids::{ActionId, Shared};

/// Location of a rule in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// File, as it was named to eddy.
    pub file: Shared<str>,
    /// Line of the rule's first character, from 1.
    pub line: u32,
}

impl SourceLocation {
    /// Returns a location for rules that are not in a file.
    pub(crate) fn nowhere() -> Self {
        Self { file: "".into(), line: 0 }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// Configuration language of a table; it determines the order of the table's rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// eddy: the most specific rule wins, wherever it is in the file.
    #[default]
    Eddy,
    /// Envoy: in the virtual host with the most specific domain, the first route as written wins.
    Envoy,
    /// Istio: VirtualServices of a host are merged by visibility, age and name; then the first match as written wins.
    Istio,
    /// Gateway API: the most specific match wins, then the oldest object, then the first by name.
    GatewayApi(RegexRank),
}

/// Position of regular expressions for the path in the order of the Gateway API, which does not specify it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RegexRank {
    /// After exact paths and before prefixes, as in most gateways.
    #[default]
    BeforePrefix,
    /// After all prefixes except the one for all paths.
    BeforeCatchAll,
    /// After all prefixes, including the one for all paths.
    Last,
}

/// A table of rules of one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// Name of the table in the configuration.
    pub name: Shared<str>,
    /// Dialect of the rules.
    pub dialect: Dialect,
    /// Interpretation of requests by the rules.
    pub reading: TableMatchOptions,
    /// Hosts at which the search in this table ends, whether or not one of their rules matches, and even if no rule
    /// names them: rules of the table for less specific hosts are then ignored.
    pub ends: Vec<HostPattern>,
    /// Rules in file order.
    pub rules: Vec<Rule>,
}

impl RouteTable {
    /// Creates a table without rules, with the default match options of its dialect.
    pub fn new(name: &str, dialect: Dialect) -> Self {
        let reading = TableMatchOptions::of(dialect);
        Self { name: name.into(), dialect, reading, ends: Vec::new(), rules: Vec::new() }
    }
}

/// Interpretation of requests by the rules of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableMatchOptions {
    /// Part of the authority that hosts are compared with.
    pub host: HostForm,
    /// Whether only the most specific matching host of the table counts, even if none of its rules matches; other
    /// tables are searched independently.
    pub is_closed: bool,
    /// Form of the path that paths of rules are compared with.
    pub path: PathForm,
    /// Form of the query that query matches are compared with.
    pub query: QueryForm,
}

impl TableMatchOptions {
    /// Returns the default match options of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Eddy => Self::default(),
            // Less specific hosts only get requests whose host matches no other.
            Dialect::GatewayApi(_) => Self { is_closed: true, ..Self::default() },
            Dialect::Envoy | Dialect::Istio => Self {
                host: HostForm { keeps_port: dialect == Dialect::Envoy, keeps_dot: true },
                is_closed: true,
                path: PathForm::Raw,
                query: QueryForm::Raw,
            },
        }
    }
}

/// Part of a request's authority that hosts are compared with, always in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostForm {
    /// Whether it includes a port.
    pub keeps_port: bool,
    /// Whether it includes a final dot.
    pub keeps_dot: bool,
}

/// Form of the request path that paths of rules are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathForm {
    /// The request's path; paths of rules are normalised by eddy's normaliser.
    #[default]
    Normal,
    /// The request's path; paths of rules are compared byte by byte.
    Raw,
    /// As `Raw`, but without the part after `;` in each segment of the request's path.
    WithoutParameters,
}

/// Form of query parameters that query matches are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QueryForm {
    /// Names and values, decoded as HTML forms encode them.
    #[default]
    Decoded,
    /// Names and values as sent.
    Raw,
}

/// A rule: conditions on a request, and an action.
///
/// All conditions must hold: one of the hosts, the path, one of the methods, every header match and every query match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the rule, shown by `explain`, metrics and access log entries.
    pub name: Shared<str>,
    /// Location of the rule in the configuration.
    pub origin: SourceLocation,
    /// Hosts; empty for any host.
    pub hosts: Vec<HostPattern>,
    /// Paths.
    pub path: PathPattern,
    /// Methods, compared byte by byte; empty for any method. `GET` does not include `HEAD`.
    pub methods: Vec<String>,
    /// Conditions on headers.
    pub headers: Vec<ValueMatch>,
    /// Conditions on query parameters.
    pub query: Vec<ValueMatch>,
    /// Fraction of the otherwise matching requests that the rule takes; `None` for all.
    pub fraction: Option<Fraction>,
    /// Moves the rule before (negative) or after (positive) the rules of the same host and table; 0 when absent.
    pub rank: Option<i32>,
    /// Additional ordering criteria, for dialects that need more than the conditions.
    pub claim: Option<KubernetesPrecedence>,
    /// Action for requests that match this rule, in the list of the table; opaque to the router.
    pub action: ActionId,
    /// Rewrite of the path for the upstream, if any.
    pub rewrite: Option<PathRewrite>,
}

impl Rule {
    /// Creates a rule for every request, with the first action.
    pub fn new(name: &str, origin: SourceLocation) -> Self {
        Self {
            name: name.into(),
            origin,
            hosts: Vec::new(),
            path: PathPattern::Any,
            methods: Vec::new(),
            headers: Vec::new(),
            query: Vec::new(),
            fraction: None,
            rank: None,
            claim: None,
            action: ActionId::default(),
            rewrite: None,
        }
    }
}

/// Ordering criteria of rules of the Gateway API or Istio beside their conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KubernetesPrecedence {
    /// Whether the rule is for gRPC.
    pub is_grpc: bool,
    /// Length of its path as written, in characters; for gRPC, of its service.
    pub path_len: u32,
    /// For gRPC, length of its method, in characters.
    pub method_len: u32,
    /// Creation time of its object, seconds since 1970.
    pub created: Option<i64>,
    /// Object, as `namespace/name`.
    pub object: Shared<str>,
}

/// A share of requests: those for which `random % denominator < numerator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    /// Numerator.
    pub numerator: u32,
    /// Denominator; at least 1.
    pub denominator: u32,
}

impl Fraction {
    /// Whether a request with this random number belongs to the share.
    pub(crate) fn takes(self, random: u64) -> bool {
        random % u64::from(self.denominator.max(1)) < u64::from(self.numerator)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.numerator, self.denominator)
    }
}

/// Hosts of a rule. Letter case is ignored; the table determines which other parts of the authority count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// Any host, or none.
    #[default]
    Any,
    /// Only this host.
    Exact(String),
    /// Every host below this one, by any number of labels: `*.example.com`, with or without the `*.`.
    Suffix(String),
    /// Every host below this one by exactly one label.
    OneLabel(String),
    /// Every host that ends with these bytes and has at least one more before: `-bar.example.com`.
    ByteSuffix(String),
    /// Every host that begins with these bytes and has at least one more after: `www.example.`.
    BytePrefix(String),
}

/// Paths of a rule; case-sensitive unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathPattern {
    /// Every path, including the `*` of `OPTIONS *`.
    #[default]
    Any,
    /// Only this path, byte by byte.
    Exact(String),
    /// This path and all below it, by segment: `/user` and `/user/` both match `/user`, `/user/` and `/user/x`, but not
    /// `/username`.
    Prefix(String),
    /// Every path that begins with these bytes, even within a segment: `/user` also matches `/username`.
    BytePrefix(String),
    /// One of these three, ignoring the case of ASCII letters.
    Caseless(CaselessPath),
    /// Every path that the expression matches as a whole.
    Regex(String),
    /// Every path in which the expression matches anywhere.
    Search(PathSearch),
    /// `/users/{id}`: a capture matches one segment that is not empty; a final `{rest...}` matches the rest of the
    /// path, which may be empty.
    Template(String),
}

/// A path pattern that ignores the case of ASCII letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaselessPath {
    /// As [`PathPattern::Exact`].
    Exact(String),
    /// As [`PathPattern::Prefix`].
    Prefix(String),
    /// As [`PathPattern::BytePrefix`].
    BytePrefix(String),
}

/// An expression that is searched for in a path instead of matching all of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathSearch {
    /// Expression.
    pub expression: String,
    /// Whether the case of ASCII letters is ignored.
    pub is_caseless: bool,
    /// Additional literal prefix of the path, compared byte by byte; empty for any path.
    pub below: String,
}

impl PathPattern {
    /// Returns the length of the text.
    pub(crate) fn text_len(&self) -> usize {
        match self {
            Self::Any => 0,
            Self::Exact(text)
            | Self::Prefix(text)
            | Self::BytePrefix(text)
            | Self::Caseless(
                CaselessPath::Exact(text) | CaselessPath::Prefix(text) | CaselessPath::BytePrefix(text),
            )
            | Self::Regex(text)
            | Self::Template(text) => text.len(),
            Self::Search(search) => search.expression.len() + search.below.len(),
        }
    }
}

/// A condition on a header or a query parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueMatch {
    /// Name: of a header in any letter case, of a query parameter byte by byte.
    ///
    /// Beside headers, `:method`, `:authority`, `:path` (with the query) and `:scheme` refer to the parts of the
    /// request, and `cookie:NAME` to the first cookie with a name.
    pub name: String,
    /// Test of its value.
    pub test: ValueTest,
    /// Whether a text test ignores the case of ASCII letters.
    pub is_caseless: bool,
    /// Whether the test must fail; for a header with several lines, for all of them.
    pub is_inverted: bool,
    /// Result if the name is missing.
    pub missing: Missing,
}

impl ValueMatch {
    /// Creates a case-sensitive test that is not inverted and fails without a value.
    pub fn new(name: &str, test: ValueTest) -> Self {
        let name = name.to_owned();
        Self { name, test, is_caseless: false, is_inverted: false, missing: Missing::Fails }
    }
}

/// Result of a test for a missing value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Missing {
    /// The condition fails, inverted or not.
    #[default]
    Fails,
    /// The test is applied to an empty value.
    IsEmpty,
    /// The condition holds, inverted or not.
    Passes,
}

/// A test of a value, byte by byte.
///
/// A header with several lines passes if any of its lines does. Of a repeated query parameter only the first value
/// counts; the table determines whether it is decoded. `Absent` holds only if the name is missing, and is neither
/// inverted nor caseless; every other test fails for a missing name, unless [`ValueMatch::missing`] differs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueTest {
    /// There is a value, possibly empty.
    Present,
    /// There is no value.
    Absent,
    /// The value equals this text.
    Exact(String),
    /// The value begins with this text.
    Prefix(String),
    /// The value ends with this text.
    Suffix(String),
    /// The value contains this text.
    Contains(String),
    /// The expression matches the whole value.
    Regex(String),
    /// The value is a whole decimal number, at least the first and less than the second bound.
    Range(i64, i64),
}

/// Rewrite of the path for the upstream; the query is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathRewrite {
    /// Replaces the matched prefix: with `/new` for the prefix `/user`, `/user/x` becomes `/new/x`.
    Prefix(String),
    /// Replaces the whole path; `{name}` refers to a capture of the template or expression, `{1}` to a numbered group.
    Full(String),
    /// Replaces the bytes that the path pattern names, without adjustment: of a literal pattern only these, so that
    /// parameters which its table does not compare are kept; otherwise the whole path.
    Matched(String),
    /// Replaces all matches of an expression.
    Replace(PathReplace),
}

/// A search for parts of a path, and their replacement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathReplace {
    /// Expression.
    pub expression: String,
    /// Replacement; `\1` to `\9` refer to groups, `\0` to the whole match, `\\` is a backslash.
    pub by: String,
}

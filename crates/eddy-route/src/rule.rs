//! The one form every dialect's rules take before they are compiled: tables of rules, as checked text.

use std::fmt;
use std::sync::Arc;

/// Where a rule is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The file, as it was named to eddy.
    pub file: Arc<str>,
    /// The line of the rule's first character, from 1.
    pub line: u32,
}

impl SourceLocation {
    /// The origin of what is not written as a rule.
    pub(crate) fn nowhere() -> Self {
        Self { file: "".into(), line: 0 }
    }
}

impl fmt::Display for SourceLocation {
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
    /// Envoy's: of the virtual host with the most specific domain, the route written first wins.
    Envoy,
    /// Istio's: VirtualServices of a host are joined by who sees them, age and name; then the match written first wins.
    Istio,
    /// The Gateway API's: the most specific match wins, then the oldest object, then the first by name.
    GatewayApi(RegexRank),
}

/// Where rules with a regular expression for the path come in the order of the Gateway API, which leaves that open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RegexRank {
    /// After exact paths and before prefixes, as most gateways have it.
    #[default]
    BeforePrefix,
    /// After prefixes but that of all paths.
    BeforeCatchAll,
    /// After all prefixes, that of all paths among them.
    Last,
}

/// A table of rules of one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// The table's name in the configuration.
    pub name: Arc<str>,
    /// The language the rules are written in.
    pub dialect: Dialect,
    /// How the rules read a request.
    pub reading: TableMatchOptions,
    /// Hosts at which the search in this table ends, whether or not one of their rules matches, and even if no rule names
    /// them: rules of less specific hosts of this table then do not count.
    pub ends: Vec<HostPattern>,
    /// The rules in file order.
    pub rules: Vec<Rule>,
}

impl RouteTable {
    /// A table without rules that reads requests as its dialect does by default.
    pub fn new(name: &str, dialect: Dialect) -> Self {
        let reading = TableMatchOptions::of(dialect);
        Self { name: name.into(), dialect, reading, ends: Vec::new(), rules: Vec::new() }
    }
}

/// How the rules of a table read a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableMatchOptions {
    /// What of the authority their hosts are compared with.
    pub host: HostForm,
    /// Whether a request is for the most specific of their hosts alone, also where none of its rules matches; other
    /// tables are asked all the same.
    pub is_closed: bool,
    /// What their paths are compared with.
    pub path: PathForm,
    /// What their query matches are compared with.
    pub query: QueryForm,
}

impl TableMatchOptions {
    /// How a dialect reads requests by default.
    pub fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Eddy => Self::default(),
            // Hosts that are less specific are for requests whose host is in no other.
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

/// What of a request's authority a host is compared with, always in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostForm {
    /// Whether a port belongs to it.
    pub keeps_port: bool,
    /// Whether one final dot belongs to it.
    pub keeps_dot: bool,
}

/// What paths of rules are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathForm {
    /// The request's path; those of rules are brought into the form that eddy's normaliser gives it.
    #[default]
    Normal,
    /// The request's path; those of rules are taken byte by byte.
    Raw,
    /// The same, what follows a `;` in each segment of the request's path left out.
    WithoutParameters,
}

/// What values of parameters of the query are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QueryForm {
    /// Names and values as HTML forms decode them.
    #[default]
    Decoded,
    /// Names and values as they were sent.
    Raw,
}

/// One rule: what a request must be like, and what then happens to it.
///
/// All conditions must hold: one of the hosts, the path, one of the methods, every header and every query match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name, shown by `explain`, metrics and the access record.
    pub name: Arc<str>,
    /// Where the rule is written.
    pub origin: SourceLocation,
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
    /// How many of the requests that are for it otherwise it takes; `None` for all.
    pub fraction: Option<Fraction>,
    /// Moves the rule before (negative) or after (positive) the rules of the same host and table; 0 when absent.
    pub rank: Option<i32>,
    /// What it ranks by in a dialect that looks at more than its conditions.
    pub claim: Option<KubernetesPrecedence>,
    /// What the caller does with a request of this rule; the router only hands it back.
    pub action: u32,
    /// How the path is changed for the upstream, if at all.
    pub rewrite: Option<PathRewrite>,
}

impl Rule {
    /// A rule for every request, with the first action.
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
            action: 0,
            rewrite: None,
        }
    }
}

/// What a rule of the Gateway API or Istio's ranks by beside its conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KubernetesPrecedence {
    /// Whether it is for gRPC.
    pub is_grpc: bool,
    /// How many characters its path has as written; of gRPC its service.
    pub path_len: u32,
    /// Of gRPC how many characters its method has.
    pub method_len: u32,
    /// When its object was made, seconds since 1970.
    pub created: Option<i64>,
    /// Its object, as `namespace/name`.
    pub object: Arc<str>,
}

/// A share of requests: those for whose random number `random % denominator < numerator` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    /// So many.
    pub numerator: u32,
    /// Of so many; at least 1.
    pub denominator: u32,
}

impl Fraction {
    /// Whether a request with this random number is one of them.
    pub(crate) fn takes(self, random: u64) -> bool {
        random % u64::from(self.denominator.max(1)) < u64::from(self.numerator)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.numerator, self.denominator)
    }
}

/// Which hosts a rule serves. Letter case does not count; what else of a request's authority does, the table says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// Every host, also none.
    #[default]
    Any,
    /// This host alone.
    Exact(String),
    /// Every host below this one, by any number of labels: `*.example.com`, with or without the `*.`.
    Suffix(String),
    /// Every host below this one by one label.
    OneLabel(String),
    /// Every host that ends in these bytes and has one more before: `-bar.example.com`.
    ByteSuffix(String),
    /// Every host that begins with these bytes and goes on: `www.example.`.
    BytePrefix(String),
}

/// Which paths a rule serves; letter case counts but where it is said.
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
    /// One of these three in any case of ASCII letters.
    Caseless(CaselessPath),
    /// Every path that the expression matches as a whole.
    Regex(String),
    /// Every path in which the expression matches somewhere.
    Search(PathSearch),
    /// `/users/{id}`: a capture takes one segment that is not empty; a last `{rest...}` takes all that is left, also nothing.
    Template(String),
}

/// A path in any case of ASCII letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaselessPath {
    /// As [`PathPattern::Exact`].
    Exact(String),
    /// As [`PathPattern::Prefix`].
    Prefix(String),
    /// As [`PathPattern::BytePrefix`].
    BytePrefix(String),
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
            | Self::Caseless(
                CaselessPath::Exact(text) | CaselessPath::Prefix(text) | CaselessPath::BytePrefix(text),
            )
            | Self::Regex(text)
            | Self::Template(text) => text.len(),
            Self::Search(search) => search.expression.len() + search.below.len(),
        }
    }
}

/// What a field or a parameter of the query must be like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueMatch {
    /// The name: of a field in any letter case, of a parameter byte by byte.
    ///
    /// Of what is no field, `:method`, `:authority`, `:path` (with the query) and `:scheme` stand for the parts of the request,
    /// `cookie:NAME` for the first cookie of a name.
    pub name: String,
    /// What its value must be like.
    pub test: ValueTest,
    /// Whether the case of ASCII letters does not count in a test for a text.
    pub is_caseless: bool,
    /// Whether the test must fail instead: of a field that was sent more than once, for all of its lines.
    pub is_inverted: bool,
    /// What holds where there is no such name.
    pub missing: Missing,
}

impl ValueMatch {
    /// A test in which letter case counts, that is meant as it is, and that fails without a value.
    pub fn new(name: &str, test: ValueTest) -> Self {
        let name = name.to_owned();
        Self { name, test, is_caseless: false, is_inverted: false, missing: Missing::Fails }
    }
}

/// What holds for a test where there is no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Missing {
    /// It fails, inverted or not.
    #[default]
    Fails,
    /// It is made with an empty value.
    IsEmpty,
    /// It passes, inverted or not.
    Passes,
}

/// What a value must be like, byte by byte.
///
/// A field that was sent more than once passes if any of its lines does. Of a parameter given more than once only the
/// first counts; the table says whether it is decoded. `Absent` passes only without any such name, and is neither
/// inverted nor caseless; every other test fails then, unless [`ValueMatch::missing`] says more.
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
    /// The value is a whole number in decimal, at least the first and less than the second.
    Range(i64, i64),
}

/// How the path is changed for the upstream; the query stays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathRewrite {
    /// Replaces the matched prefix: with `/new` for the prefix `/user`, `/user/x` becomes `/new/x`.
    Prefix(String),
    /// The whole new path; `{name}` stands for a capture of the template or expression, `{1}` for a numbered group.
    Full(String),
    /// Replaces the bytes that the path pattern names, as they are: of a text those alone, so that parameters which its table does not
    /// compare stay; of all else the whole path.
    Matched(String),
    /// Replaces what an expression matches, wherever it does.
    Replace(PathReplace),
}

/// A search for parts of a path, and what stands in their place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathReplace {
    /// The expression.
    pub expression: String,
    /// The new text; `\1` to `\9` stand for its groups, `\0` for all it matched, `\\` for a backslash.
    pub by: String,
}

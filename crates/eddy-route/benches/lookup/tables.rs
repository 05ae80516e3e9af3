//! Benchmark tables, and for each rule a request that matches only that rule.

use eddy_http::{Field, FieldId, Fields, Span};
use eddy_ids::Shared;
use eddy_route::{
    Dialect, HostPattern, PathPattern, PathSearch, RouteRequest, RouteTable, Rule, SourceLocation,
    ValueMatch, ValueTest,
};

/// Property by which the rules of a table differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleTableKind {
    Exact,
    Prefix,
    Template,
    /// Of twenty rules: eight exact, eight prefixes, two templates, and two prefixes with a header or method condition.
    Mixed,
    Host,
    /// All for `/`, distinguished by the value of a header.
    Header,
    /// All for `/`, distinguished by method and header.
    Method,
    /// All for `/`, distinguished by the value of a query parameter.
    Query,
    /// Regular expressions with different beginnings.
    Regex,
    /// Regular expressions with the same beginning.
    RegexInner,
    /// Regular expressions that differ only at the end.
    RegexSuffix,
    /// Unanchored regular expressions.
    Search,
    /// Regular expressions without literal text except the beginning.
    RegexClass,
}

impl RuleTableKind {
    /// Returns the name of the kind in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Prefix => "prefix",
            Self::Template => "template",
            Self::Mixed => "mixed",
            Self::Host => "host",
            Self::Header => "header",
            Self::Method => "method and header",
            Self::Query => "query",
            Self::Regex => "regex, own beginning",
            Self::RegexInner => "regex, own middle",
            Self::RegexSuffix => "regex, own end",
            Self::Search => "regex, searched for",
            Self::RegexClass => "regex, classes alone",
        }
    }
}

/// A request in text form.
pub(crate) struct BenchRouteRequest {
    host: String,
    path: String,
    query: String,
    /// Bytes of the fields and their positions.
    bytes: Vec<u8>,
    fields: [Field; 3],
}

impl BenchRouteRequest {
    /// Calls `look` with the request.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&RouteRequest<'_>) -> T) -> T {
        look(&RouteRequest {
            host: self.host.as_bytes(),
            path: self.path.as_bytes(),
            query: self.query.as_bytes(),
            method: b"GET",
            fields: Fields::new(&self.bytes, &self.fields),
            ..RouteRequest::default()
        })
    }
}

/// Creates a table of `count` rules.
pub(crate) fn table(kind: RuleTableKind, count: usize) -> RouteTable {
    let rules = (0..count).map(|number| rule(kind, number)).collect();
    RouteTable { rules, ..RouteTable::new("bench", Dialect::Eddy) }
}

fn rule(kind: RuleTableKind, number: usize) -> Rule {
    let origin = SourceLocation { file: Shared::from("bench.yaml"), line: 1 };
    let mut rule = Rule::new(&format!("rule-{number}"), origin);
    rule.path = PathPattern::Prefix("/".to_owned());
    let tenant = |name: &str| ValueMatch::new(name, ValueTest::Exact(format!("tenant-{number}")));
    let place = place(number);
    let exact = || PathPattern::Exact(format!("{place}/item"));
    let prefix = || PathPattern::Prefix(format!("{place}/"));
    let template = || PathPattern::Template(format!("{place}/{{id}}"));
    match kind {
        RuleTableKind::Exact => rule.path = exact(),
        RuleTableKind::Prefix => rule.path = prefix(),
        RuleTableKind::Template => rule.path = template(),
        RuleTableKind::Mixed => {
            rule.path = match number % 20 {
                0..8 => exact(),
                8..10 => template(),
                10.. => prefix(),
            };
            match number % 20 {
                18 => rule.methods = vec!["GET".to_owned()],
                19 => rule.headers = vec![tenant("x-tenant")],
                0..18 | 20.. => {}
            }
        }
        RuleTableKind::Host => rule.hosts = vec![HostPattern::Exact(format!("h{number}.example.com"))],
        RuleTableKind::Header => rule.headers = vec![tenant("x-tenant")],
        RuleTableKind::Method => {
            rule.methods = vec!["GET".to_owned()];
            rule.headers = vec![tenant("x-tenant")];
        }
        RuleTableKind::Query => rule.query = vec![tenant("tenant")],
        RuleTableKind::Regex => rule.path = PathPattern::Regex(format!("{place}/[a-z]+")),
        RuleTableKind::RegexInner => {
            rule.path = PathPattern::Regex(format!("/[a-z]+/resource-{number}/[a-z]+"))
        }
        RuleTableKind::RegexSuffix => rule.path = PathPattern::Regex(format!(r"/.*\.kind{number}")),
        RuleTableKind::Search => {
            rule.path = PathPattern::Search(PathSearch {
                expression: format!(r"/resource-{number}/[^/]*\.(html|php)$"),
                is_caseless: false,
                below: String::new(),
            });
        }
        RuleTableKind::RegexClass => {
            // A number in digits, each replaced by a class of the digit and one letter.
            let digits = number.to_string();
            let classes: String = digits
                .bytes()
                .map(|digit| format!("[{}{}]", char::from(digit), char::from(digit + 49)))
                .collect();
            rule.path = PathPattern::Regex(format!("/items/{classes}/[a-z]+"));
        }
    }
    rule
}

/// Returns the request for the rule with this number; with a number beyond the table, a request that matches no rule.
pub(crate) fn ask(kind: RuleTableKind, number: usize) -> BenchRouteRequest {
    let place = place(number);
    let mut ask = BenchRouteRequest {
        host: "www.example.com".to_owned(),
        path: format!("{place}/item"),
        query: String::new(),
        bytes: Vec::new(),
        fields: [Field::default(); 3],
    };
    match kind {
        RuleTableKind::Exact
        | RuleTableKind::Prefix
        | RuleTableKind::Template
        | RuleTableKind::Mixed
        | RuleTableKind::Header
        | RuleTableKind::Method
        | RuleTableKind::Regex => {}
        RuleTableKind::Host => ask.host = format!("h{number}.example.com"),
        RuleTableKind::Query => ask.query = format!("page=1&tenant=tenant-{number}"),
        RuleTableKind::RegexInner => {
            ask.path = format!("/shop/resource-{number}/some-thing").replace("some-", "some")
        }
        RuleTableKind::RegexSuffix => ask.path = format!("/shop/pictures/of/things.kind{number}"),
        RuleTableKind::Search => ask.path = format!("/shop/v1/resource-{number}/index.html"),
        RuleTableKind::RegexClass => ask.path = format!("/items/{number}/something"),
    }
    let fields = [("User-Agent", "bench"), ("Accept", "*/*"), ("X-Tenant", &*format!("tenant-{number}"))];
    ask.fields = fields.map(|(name, value)| {
        let mut span = |text: &str| {
            let start = u32::try_from(ask.bytes.len()).expect("few bytes");
            ask.bytes.extend_from_slice(text.as_bytes());
            Span { start, end: u32::try_from(ask.bytes.len()).expect("few bytes") }
        };
        let (name_span, value_span) = (span(name), span(value));
        let id = FieldId::from_name(name.as_bytes());
        Field { name: name_span, value: value_span, id, ..Field::default() }
    });
    ask
}

/// Returns a path of about 35 bytes.
fn place(number: usize) -> String {
    format!("/api/v1/service-{}/resource-{number}", number % 97)
}

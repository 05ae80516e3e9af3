//! What a lookup costs, by kind and number of rules, and what building a router costs.
//!
//! Lookups are timed in short chunks, of which the first quartile is shown, in nanoseconds a lookup; of builds the least
//! of several, in milliseconds: what the work takes when little disturbs it. Lookups of many rules are shown twice: of the rule written last again and again,
//! and of all rules in turn, far apart, so that memory is cold.

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use eddy_http::{Field, FieldId, Fields, Span};
use eddy_route::{
    Dialect, HostPattern, Origin, PathPattern, RouteRequest, RouteScratch, RouteTable, Router, Rule,
    ValueMatch, ValueTest,
};

fn main() {
    // Words after `cargo bench ... --` choose kinds and numbers of rules: `Host 100`.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let (counts_chosen, kinds_chosen): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|word| word.parse::<usize>().is_ok());
    let is_in = |chosen: &[String], word: String| chosen.is_empty() || chosen.contains(&word);
    println!("{:<28}{:>8}{:>12}{:>12}{:>12}", "rules", "count", "build ms", "last ns", "all ns");
    for (kind, counts) in PLAN {
        for count in *counts {
            if is_in(&kinds_chosen, format!("{kind:?}")) && is_in(&counts_chosen, count.to_string()) {
                report(*kind, *count);
            }
        }
    }
}

/// What is measured.
const PLAN: &[(Kind, &[usize])] = &[
    (Kind::Exact, &[1, 100, 10_000, 100_000]),
    (Kind::Prefix, &[1, 100, 10_000, 100_000]),
    (Kind::Template, &[1, 100, 10_000, 100_000]),
    (Kind::Host, &[1, 100, 10_000, 100_000]),
    (Kind::Header, &[10_000]),
    (Kind::Method, &[10_000]),
    (Kind::Query, &[10_000]),
    (Kind::Regex, &[1, 100, 1_000]),
    (Kind::RegexOnePrefix, &[1, 100, 1_000]),
];

/// What tells the rules of a table apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Exact,
    Prefix,
    Template,
    Host,
    /// All for `/`, by the value of a header.
    Header,
    /// All for `/`, by method and header.
    Method,
    /// All for `/`, by the value of a parameter.
    Query,
    /// Expressions that begin unlike.
    Regex,
    /// Expressions that begin alike.
    RegexOnePrefix,
}

/// A request as text.
struct Ask {
    host: String,
    path: String,
    query: String,
    tenant: String,
}

fn report(kind: Kind, count: usize) {
    let table = RouteTable {
        name: Arc::from("bench"),
        dialect: Dialect::Eddy,
        rules: (0..count).map(|number| rule(kind, number)).collect(),
    };
    let tables = [table];
    let build_ms = least(5, || {
        let started = Instant::now();
        black_box(Router::build(black_box(&tables)).expect("the rules are sound"));
        started.elapsed().as_secs_f64() * 1e3
    });
    let router = Router::build(&tables).expect("the rules are sound");
    let last_ns = lookup_ns(&router, &[ask(kind, count - 1)], &[count - 1]);
    // A stride prime to the counts visits all rules, neighbours never in turn.
    let order: Vec<usize> = (0..count).map(|number| number * 7_919 % count).collect();
    let asks: Vec<Ask> = order.iter().map(|number| ask(kind, *number)).collect();
    let all_ns = lookup_ns(&router, &asks, &order);
    let name = format!("{kind:?}");
    println!("{name:<28}{count:>8}{build_ms:>12.2}{last_ns:>12.0}{all_ns:>12.0}");
}

fn lookup_ns(router: &Router, asks: &[Ask], expected: &[usize]) -> f64 {
    let mut scratch = RouteScratch::new();
    let mut bytes = Vec::new();
    let heads: Vec<[Field; 3]> = asks.iter().map(|ask| fields(&mut bytes, &ask.tenant)).collect();
    let all: Vec<(&Ask, &[Field; 3], usize)> =
        asks.iter().zip(&heads).zip(expected).map(|((ask, head), expected)| (ask, head, *expected)).collect();
    let mut look_up = |(ask, head, expected): &(&Ask, &[Field; 3], usize)| {
        let request = RouteRequest {
            host: ask.host.as_bytes(),
            path: ask.path.as_bytes(),
            query: ask.query.as_bytes(),
            method: b"GET",
            fields: Fields::new(&bytes, *head),
        };
        let found = router.lookup(black_box(&request), &mut scratch).expect("a rule matches");
        assert_eq!(found.rule.index as usize, *expected, "the right rule matches");
    };
    // Chunks so short that few are disturbed by other programs.
    let mut chunks = Vec::new();
    for chunk in all.iter().cycle().take(LOOKUPS).collect::<Vec<_>>().chunks(CHUNK_LOOKUPS) {
        let started = Instant::now();
        chunk.iter().copied().for_each(&mut look_up);
        chunks.push(started.elapsed().as_secs_f64() * 1e9 / chunk_len(chunk));
    }
    chunks.sort_by(f64::total_cmp);
    chunks[chunks.len() / 4]
}

fn chunk_len<T>(chunk: &[T]) -> f64 {
    f64::from(u32::try_from(chunk.len()).expect("chunks are short"))
}

fn least(rounds: usize, mut measure: impl FnMut() -> f64) -> f64 {
    (0..rounds).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// Lookups of a measurement.
const LOOKUPS: usize = 200_000;

/// Lookups of a part of it.
const CHUNK_LOOKUPS: usize = 500;

fn rule(kind: Kind, number: usize) -> Rule {
    let mut rule = Rule {
        name: format!("rule-{number}").into(),
        origin: Origin { file: Arc::from("bench.yaml"), line: 1 },
        hosts: Vec::new(),
        path: PathPattern::Prefix("/".to_owned()),
        methods: Vec::new(),
        headers: Vec::new(),
        query: Vec::new(),
        rank: None,
        action: 0,
        rewrite: None,
    };
    let tenant =
        |name: &str| ValueMatch { name: name.to_owned(), test: ValueTest::Exact(format!("tenant-{number}")) };
    let place = place(number);
    match kind {
        Kind::Exact => rule.path = PathPattern::Exact(format!("{place}/item")),
        Kind::Prefix => rule.path = PathPattern::Prefix(format!("{place}/")),
        Kind::Template => rule.path = PathPattern::Template(format!("{place}/{{id}}/detail")),
        Kind::Host => rule.hosts = vec![HostPattern::Exact(format!("h{number}.example.com"))],
        Kind::Header => rule.headers = vec![tenant("x-tenant")],
        Kind::Method => {
            rule.methods = vec!["GET".to_owned()];
            rule.headers = vec![tenant("x-tenant")];
        }
        Kind::Query => rule.query = vec![tenant("tenant")],
        Kind::Regex => rule.path = PathPattern::Regex(format!("{place}/[a-z]+")),
        Kind::RegexOnePrefix => rule.path = PathPattern::Regex(format!("/[a-z]+/resource-{number}/[a-z]+")),
    }
    rule
}

fn ask(kind: Kind, number: usize) -> Ask {
    let place = place(number);
    let mut ask = Ask {
        host: "www.example.com".to_owned(),
        path: format!("{place}/item"),
        query: String::new(),
        tenant: format!("tenant-{number}"),
    };
    match kind {
        Kind::Exact | Kind::Header | Kind::Method | Kind::Regex => {}
        Kind::Prefix => ask.path = format!("{place}/some/file.html"),
        Kind::Template => ask.path = format!("{place}/4711/detail"),
        Kind::Host => ask.host = format!("h{number}.example.com"),
        Kind::Query => ask.query = format!("page=1&tenant=tenant-{number}"),
        Kind::RegexOnePrefix => ask.path = format!("/shop/resource-{number}/item"),
    }
    ask
}

fn place(number: usize) -> String {
    format!("/api/v1/service-{}/resource-{number}", number % 97)
}

/// The fields of a plain request and the header that tenants are told apart by.
fn fields(bytes: &mut Vec<u8>, tenant: &str) -> [Field; 3] {
    [("User-Agent", "bench"), ("Accept", "*/*"), ("X-Tenant", tenant)].map(|(name, value)| {
        let mut span = |text: &str| {
            let start = u32::try_from(bytes.len()).expect("few bytes");
            bytes.extend_from_slice(text.as_bytes());
            Span { start, end: u32::try_from(bytes.len()).expect("few bytes") }
        };
        Field {
            name: span(name),
            value: span(value),
            id: FieldId::from_name(name.as_bytes()),
            ..Field::default()
        }
    })
}

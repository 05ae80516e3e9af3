//! Random tables and requests, over alphabets so small that rules collide frequently.

use eddy_ids::Shared;
use eddy_route::{
    CaselessPath, Dialect, Fraction, HostForm, HostPattern, Missing, PathForm, PathPattern, PathSearch,
    QueryForm, RouteTable, Rule, SourceLocation, TableMatchOptions, ValueMatch, ValueTest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::request::RouteTestRequest;

pub(crate) fn tables(rules_max: usize) -> impl Strategy<Value = Vec<RouteTable>> {
    vec(vec(rule(), 0..=rules_max), 1..=3).prop_map(name_tables)
}

/// Generates tables of all dialects, with all match options.
pub(crate) fn mixed_tables() -> impl Strategy<Value = Vec<RouteTable>> {
    let form = || {
        (any::<bool>(), any::<bool>()).prop_map(|(keeps_port, keeps_dot)| HostForm { keeps_port, keeps_dot })
    };
    let reading = move || (form(), any::<bool>(), any::<bool>(), any::<bool>());
    let ends = prop_oneof![2 => Just(Vec::new()), 1 => vec(prop_oneof![host(), byte_host()], 1..3)];
    let table = (any::<bool>(), reading(), any::<bool>(), ends, vec(wide_rule(), 0..50)).prop_map(
        |(is_envoy, (host, is_closed, is_raw, is_stripped), is_default, ends, rules)| {
            let dialect = if is_envoy { Dialect::Envoy } else { Dialect::Eddy };
            let mut table = RouteTable { ends, rules, ..RouteTable::new("", dialect) };
            if !is_default {
                let path = match (is_envoy, is_stripped) {
                    (false, _) => PathForm::Normal,
                    (true, false) => PathForm::Raw,
                    (true, true) => PathForm::WithoutParameters,
                };
                let query = if is_raw { QueryForm::Raw } else { QueryForm::Decoded };
                table.reading = TableMatchOptions { host, is_closed, path, query };
            }
            table
        },
    );
    vec(table, 1..=3).prop_map(|mut tables| {
        for (number, table) in tables.iter_mut().enumerate() {
            let named = name_table(number, std::mem::take(&mut table.rules));
            (table.name, table.rules) = (named.name, named.rules);
        }
        tables
    })
}

/// Generates rules of any form.
fn wide_rule() -> impl Strategy<Value = Rule> {
    let caseless = prop_oneof![
        rule_path().prop_map(CaselessPath::Exact),
        rule_path().prop_map(CaselessPath::Prefix),
        byte_prefix().prop_map(CaselessPath::BytePrefix),
    ];
    let paths = prop_oneof![3 => path(), 2 => caseless.prop_map(PathPattern::Caseless)];
    let hosts = prop_oneof![5 => Just(0_usize), 2 => Just(1), 1 => Just(2)]
        .prop_flat_map(|count| vec(prop_oneof![host(), byte_host()], count));
    let few = || prop_oneof![7 => Just(0_usize), 2 => Just(1), 1 => Just(2)];
    let matches = move || few().prop_flat_map(|count| vec(wide_match(), count));
    let query = few().prop_flat_map(|count| {
        vec(wide_match().prop_map(|it| ValueMatch { name: it.name.replace(':', "x"), ..it }), count)
    });
    let fraction = prop_oneof![
        4 => Just(None),
        1 => (0..=4_u32).prop_map(|numerator| Some(Fraction { numerator, denominator: 4 })),
    ];
    (hosts, paths, methods(), matches(), query, fraction, rank()).prop_map(
        |(hosts, path, methods, headers, query, fraction, rank)| Rule {
            hosts,
            path,
            methods,
            headers,
            query,
            fraction,
            rank,
            ..empty()
        },
    )
}

/// Generates host patterns that begin or end anywhere in a name.
fn byte_host() -> impl Strategy<Value = HostPattern> {
    let text = |texts: &[&str]| select(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    prop_oneof![
        2 => text(&["t", "*.t", "b.t"]).prop_map(HostPattern::OneLabel),
        2 => text(&["t", ".t", "b.t", ".b.t", "B.T", "t.", "t:80"]).prop_map(HostPattern::ByteSuffix),
        2 => text(&["a.", "a", "A.b.", "x.", "a.t"]).prop_map(HostPattern::BytePrefix),
        1 => text(&["a.t", "b.t"]).prop_map(HostPattern::Exact),
    ]
}

/// Generates matches that are inverted, caseless, numeric, on parts of the request, or hold without a value.
fn wide_match() -> impl Strategy<Value = ValueMatch> {
    let name = prop_oneof![
        4 => select(vec!["x", "y", "host"]),
        1 => select(vec![":method", ":authority", ":path", ":scheme"]),
    ];
    let test = prop_oneof![
        3 => value_match().prop_map(|it| it.test),
        1 => (0..4_i64, 0..20_i64).prop_map(|(start, more)| ValueTest::Range(start, start + more)),
        1 => select(vec!["GET", "a.t", "/a", "http", "get", "/A"])
            .prop_map(|text| ValueTest::Prefix(text.to_owned())),
    ];
    let missing = select(vec![Missing::Fails, Missing::Fails, Missing::IsEmpty, Missing::Passes]);
    (name, test, any::<bool>(), any::<bool>(), missing).prop_map(
        |(name, test, is_caseless, is_inverted, missing)| {
            let is_inverted = is_inverted && test != ValueTest::Absent;
            ValueMatch { is_caseless, is_inverted, missing, ..ValueMatch::new(name, test) }
        },
    )
}

/// Generates many rules for few paths, most with an exact value of one part of the request, so that lists are split.
pub(crate) fn crowded_tables() -> impl Strategy<Value = Vec<RouteTable>> {
    let rule = |part: CrowdedFacet| {
        let path = prop_oneof![
            6 => Just(PathPattern::Prefix("/".to_owned())),
            2 => Just(PathPattern::Any),
            1 => Just(PathPattern::Exact("/a".to_owned())),
            1 => Just(PathPattern::Regex("/a.*".to_owned())),
        ];
        let few = prop_oneof![2 => Just(0_usize), 1 => Just(1)];
        (path, few.prop_flat_map(|count| vec(value_match(), count)), crowded_part(part), rank()).prop_map(
            move |(path, mut headers, (methods, exact), rank)| {
                let mut query = Vec::new();
                match part {
                    CrowdedFacet::Header => headers.extend(exact),
                    CrowdedFacet::Query => query.extend(exact),
                    CrowdedFacet::Method => {}
                }
                Rule { path, methods, headers, query, rank, ..empty() }
            },
        )
    };
    select(vec![CrowdedFacet::Method, CrowdedFacet::Header, CrowdedFacet::Query])
        .prop_flat_map(move |part| vec(rule(part), 12..50))
        .prop_map(|rules| name_tables(vec![rules]))
}

/// Generates many expressions, most of which contain one of a few texts, so that they are found by these.
pub(crate) fn expression_tables() -> impl Strategy<Value = Vec<RouteTable>> {
    let text = || select(vec!["aa", "ab", "ba", "/b/", "b/a", "/ab", "a/ab", "bb", "aab/", "a", ""]);
    let end = || select(vec!["", ".*", "$", "/?", "(b|a)+", "/[ab]+"]);
    let before = || select(vec!["", "/", "^/", ".*", "/[ab/]*", "/a", "/[^/]+"]);
    let path = (before(), text(), end(), any::<bool>(), any::<bool>()).prop_map(
        |(before, text, end, is_search, is_caseless)| {
            let expression = format!("{before}{text}{end}");
            let below = String::new();
            if is_search {
                PathPattern::Search(PathSearch { expression, is_caseless, below })
            } else {
                PathPattern::Regex(expression)
            }
        },
    );
    let rule = (prop_oneof![15 => path, 1 => self::path()], methods(), rank())
        .prop_map(|(path, methods, rank)| Rule { path, methods, rank, ..empty() });
    vec(rule, 12..60).prop_map(|rules| name_tables(vec![rules]))
}

/// Part of the request on which the rules of a crowded table have conditions.
#[derive(Clone, Copy, Debug)]
enum CrowdedFacet {
    Method,
    Header,
    Query,
}

/// Generates methods, a match of `x`, or, for one rule in eight, neither.
fn crowded_part(part: CrowdedFacet) -> BoxedStrategy<(Vec<String>, Option<ValueMatch>)> {
    let texts = |values: &[&str]| select(values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>());
    let asking = match part {
        CrowdedFacet::Method => {
            vec(texts(&["GET", "POST", "PUT", "A", "B", "C"]), 1..=2).prop_map(|it| (it, None)).boxed()
        }
        CrowdedFacet::Header | CrowdedFacet::Query => texts(&["1", "2", "12", "3", "4", "5"])
            .prop_map(|value| ValueMatch::new("x", ValueTest::Exact(value)))
            .prop_map(|exact| (Vec::new(), Some(exact)))
            .boxed(),
    };
    prop_oneof![7 => asking, 1 => Just((Vec::new(), None))].boxed()
}

pub(crate) fn ask() -> impl Strategy<Value = RouteTestRequest> {
    let host = select(vec![
        "", "t", "a.t", ".t", "A.T.", "b.t", "a.b.t", "c.b.t", "x.a.b.t", "ab.t", "u", "a.t:80", "A.t.:80",
        "x.t:80",
    ]);
    let values = || vec((select(vec!["x", "X", "y", "host"]), select(vec!["1", "2", "12", "3", ""])), 0..=3);
    let query =
        vec((select(vec!["x", "y", "%78", "host"]), select(vec!["1", "2", "12", "3", "%31", ""])), 0..=2);
    let method = select(vec!["GET", "POST", "PUT", "A", "get"]);
    let rest = (values(), query, 0..8_u64);
    (host, request_path(), method, rest).prop_map(|(host, path, method, (fields, query, random))| {
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (method, host) = (method.to_owned(), host.to_owned());
        RouteTestRequest { method, host, path, query: pairs.join("&"), fields, random }
    })
}

fn name_tables(tables: Vec<Vec<Rule>>) -> Vec<RouteTable> {
    tables.into_iter().enumerate().map(|(table, rules)| name_table(table, rules)).collect()
}

fn name_table(table: usize, mut rules: Vec<Rule>) -> RouteTable {
    for (at, rule) in rules.iter_mut().enumerate() {
        rule.name = Shared::from(format!("t{table}r{at}"));
        rule.origin.line = u32::try_from(at).unwrap() + 1;
    }
    RouteTable { rules, ..RouteTable::new(&format!("t{table}"), Dialect::Eddy) }
}

fn empty() -> Rule {
    Rule::new("", SourceLocation { file: Shared::from("f"), line: 0 })
}

fn rule() -> impl Strategy<Value = Rule> {
    let few = || prop_oneof![8 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    let hosts =
        prop_oneof![3 => Just(0_usize), 1 => Just(1), 1 => Just(2)].prop_flat_map(|count| vec(host(), count));
    let matches = move || few().prop_flat_map(|count| vec(value_match(), count));
    (hosts, path(), methods(), matches(), matches(), rank()).prop_map(
        |(hosts, path, methods, headers, query, rank)| Rule {
            hosts,
            path,
            methods,
            headers,
            query,
            rank,
            ..empty()
        },
    )
}

fn host() -> impl Strategy<Value = HostPattern> {
    prop_oneof![
        1 => Just(HostPattern::Any),
        2 => select(vec!["t", "a.t", "b.t", "a.b.t", "B.T."]).prop_map(|host| HostPattern::Exact(host.to_owned())),
        2 => select(vec!["t", "*.t", "b.t", ".b.t", "*.a.b.t"]).prop_map(|host| HostPattern::Suffix(host.to_owned())),
    ]
}

fn path() -> impl Strategy<Value = PathPattern> {
    prop_oneof![
        1 => Just(PathPattern::Any),
        3 => rule_path().prop_map(PathPattern::Exact),
        4 => rule_path().prop_map(PathPattern::Prefix),
        4 => template().prop_map(PathPattern::Template),
        2 => byte_prefix().prop_map(PathPattern::BytePrefix),
        3 => search().prop_map(PathPattern::Search),
        3 => select(REGEXES.to_vec()).prop_map(|text| PathPattern::Regex(text.to_owned())),
    ]
}

fn methods() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![6 => Just(0_usize), 1 => Just(1), 1 => Just(2)]
        .prop_flat_map(|count| vec(select(vec!["GET", "POST", "PUT"]).prop_map(str::to_owned), count))
}

fn rank() -> impl Strategy<Value = Option<i32>> {
    prop_oneof![3 => Just(None), 1 => (-1..=1).prop_map(Some)]
}

fn value_match() -> impl Strategy<Value = ValueMatch> {
    let text = || select(vec!["1", "2", "12", ""]).prop_map(str::to_owned);
    let test = prop_oneof![
        1 => Just(ValueTest::Present),
        1 => Just(ValueTest::Absent),
        3 => text().prop_map(ValueTest::Exact),
        1 => text().prop_map(ValueTest::Prefix),
        1 => text().prop_map(ValueTest::Suffix),
        1 => text().prop_map(ValueTest::Contains),
        1 => select(vec!["1.*", "[12]+", "", ".*2"]).prop_map(|text| ValueTest::Regex(text.to_owned())),
    ];
    (select(vec!["x", "y", "host"]), test).prop_map(|(name, test)| ValueMatch::new(name, test))
}

fn rule_path() -> impl Strategy<Value = String> {
    "(/|/a|/b|/aa|/ab){1,4}"
}

fn byte_prefix() -> impl Strategy<Value = String> {
    prop_oneof![1 => Just(String::new()), 6 => "(/|/a|/b|/aa|/ab){1,3}"]
}

/// Generates expressions that are searched for, some in all paths, some below a prefix.
fn search() -> impl Strategy<Value = PathSearch> {
    let expressions =
        vec!["a", "^/a", "b$", "^/ab$", "A/", "[ab]/[ab]$", "^/(a|b)b", "", "^", "$", "b|^/a", "/a.*b"];
    let below = prop_oneof![2 => Just(String::new()), 1 => byte_prefix()];
    (select(expressions), any::<bool>(), below).prop_map(|(expression, is_caseless, below)| PathSearch {
        expression: expression.to_owned(),
        is_caseless,
        below,
    })
}

fn request_path() -> impl Strategy<Value = String> {
    prop_oneof![20 => "(/|/a|/b|/aa|/ab|/A|/aB|/a;b|;){1,5}".prop_map(|path| path.trim_start_matches(';').to_owned()), 1 => Just("*".to_owned()), 1 => Just(String::new())]
}

fn template() -> impl Strategy<Value = String> {
    let segment = select(vec!["", "a", "b", "ab", "{}", "{}", "{}"]);
    (vec(segment, 1..=4), any::<bool>()).prop_map(|(segments, has_rest)| {
        let named = segments.iter().enumerate().map(|(at, segment)| match *segment {
            "{}" => format!("/{{c{at}}}"),
            fixed => format!("/{fixed}"),
        });
        named.collect::<String>() + if has_rest { "/{rest...}" } else { "" }
    })
}

/// Expressions with and without a literal prefix, finite and infinite, some that match nothing.
const REGEXES: [&str; 18] = [
    "/a.*",
    "/a",
    "/(a|b)/[^/]+",
    ".*",
    "/[ab]+",
    "/a(/.*)?",
    "/aa?/b*",
    "/a{1,2}/.",
    "(/a)+",
    "/a/b/.*",
    "^/ab$",
    "a",
    "/(?:ab|aa)/?",
    "(?i)/A+",
    r"/\w+/\w+",
    "",
    r"\*",
    "/aa|/ab/b",
];

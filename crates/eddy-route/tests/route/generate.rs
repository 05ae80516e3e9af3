//! Tables and requests at random, over alphabets so small that rules collide all the time.

use std::sync::Arc;

use eddy_route::{
    Dialect, HostPattern, Origin, PathPattern, PathSearch, RouteTable, Rule, ValueMatch, ValueTest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::request::Ask;

pub(crate) fn tables(rules_max: usize) -> impl Strategy<Value = Vec<RouteTable>> {
    vec(vec(rule(), 0..=rules_max), 1..=3).prop_map(name_tables)
}

/// Many rules for few paths, most of which ask for an exact value of one part of the request, so that lists are split.
pub(crate) fn crowded_tables() -> impl Strategy<Value = Vec<RouteTable>> {
    let rule = |part: Part| {
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
                    Part::Header => headers.extend(exact),
                    Part::Query => query.extend(exact),
                    Part::Method => {}
                }
                Rule { path, methods, headers, query, rank, ..empty() }
            },
        )
    };
    select(vec![Part::Method, Part::Header, Part::Query])
        .prop_flat_map(move |part| vec(rule(part), 12..50))
        .prop_map(|rules| name_tables(vec![rules]))
}

/// Many expressions, most of which hold one of a few texts, so that they are found by those.
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

/// The part of the request that the rules of a crowded table ask for.
#[derive(Clone, Copy, Debug)]
enum Part {
    Method,
    Header,
    Query,
}

/// Methods, or a match of `x`, or, of one rule in eight, neither.
fn crowded_part(part: Part) -> BoxedStrategy<(Vec<String>, Option<ValueMatch>)> {
    let texts = |values: &[&str]| select(values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>());
    let asking = match part {
        Part::Method => {
            vec(texts(&["GET", "POST", "PUT", "A", "B", "C"]), 1..=2).prop_map(|it| (it, None)).boxed()
        }
        Part::Header | Part::Query => texts(&["1", "2", "12", "3", "4", "5"])
            .prop_map(|value| ValueMatch { name: "x".to_owned(), test: ValueTest::Exact(value) })
            .prop_map(|exact| (Vec::new(), Some(exact)))
            .boxed(),
    };
    prop_oneof![7 => asking, 1 => Just((Vec::new(), None))].boxed()
}

pub(crate) fn ask() -> impl Strategy<Value = Ask> {
    let host = select(vec!["", "t", "a.t", ".t", "A.T.", "b.t", "a.b.t", "c.b.t", "x.a.b.t", "ab.t", "u"]);
    let values = || vec((select(vec!["x", "X", "y", "host"]), select(vec!["1", "2", "12", "3", ""])), 0..=3);
    let query =
        vec((select(vec!["x", "y", "%78", "host"]), select(vec!["1", "2", "12", "3", "%31", ""])), 0..=2);
    let method = select(vec!["GET", "POST", "PUT", "A", "get"]);
    (host, request_path(), method, values(), query).prop_map(|(host, path, method, fields, query)| {
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (method, host) = (method.to_owned(), host.to_owned());
        Ask { method, host, path, query: pairs.join("&"), fields }
    })
}

fn name_tables(tables: Vec<Vec<Rule>>) -> Vec<RouteTable> {
    let tables = tables.into_iter().enumerate().map(|(table, mut rules)| {
        for (at, rule) in rules.iter_mut().enumerate() {
            rule.name = Arc::from(format!("t{table}r{at}"));
            rule.origin.line = u32::try_from(at).unwrap() + 1;
        }
        RouteTable { name: Arc::from(format!("t{table}")), dialect: Dialect::Eddy, rules }
    });
    tables.collect()
}

fn empty() -> Rule {
    Rule {
        name: Arc::from(""),
        origin: Origin { file: Arc::from("f"), line: 0 },
        hosts: Vec::new(),
        path: PathPattern::Any,
        methods: Vec::new(),
        headers: Vec::new(),
        query: Vec::new(),
        rank: None,
        action: 0,
        rewrite: None,
    }
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
    (select(vec!["x", "y", "host"]), test).prop_map(|(name, test)| ValueMatch { name: name.to_owned(), test })
}

fn rule_path() -> impl Strategy<Value = String> {
    "(/|/a|/b|/aa|/ab){1,4}"
}

fn byte_prefix() -> impl Strategy<Value = String> {
    prop_oneof![1 => Just(String::new()), 6 => "(/|/a|/b|/aa|/ab){1,3}"]
}

/// Expressions that are searched for, some of them in all paths, some below a prefix.
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
    prop_oneof![20 => "(/|/a|/b|/aa|/ab){1,5}", 1 => Just("*".to_owned()), 1 => Just(String::new())]
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

/// Expressions with and without a literal prefix, finite and not, some that match nothing.
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

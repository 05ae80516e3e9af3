//! Marks of rules: shadowed by an earlier rule or not, and whether that is proven.

use eddy_ids::ActionId;
use eddy_route::{CompiledRule, RankedRule, Router, Shadow};

use crate::notation::{router, tables};

/// Returns the mark of the last rule as a word; with several hosts, the least severe one.
fn mark(rules: &str) -> (&'static str, RankedRule) {
    let router = router(rules);
    let last = router.rules().last().unwrap().index;
    let entries = router.ordered().into_iter().filter(|ranked| ranked.rule.index == last);
    let marked = entries.map(|ranked| match &ranked.shadow {
        Shadow::None => ("free", ranked),
        Shadow::NotProven { .. } => ("maybe", ranked),
        Shadow::By { .. } | Shadow::Jointly { .. } => ("shadowed", ranked),
    });
    marked.min_by_key(|(word, _)| *word).unwrap()
}

/// Checks the mark of a second rule that has a worse rank than the first.
fn check(first: &str, second: &str, expected: &str) {
    let (word, last) = mark(&format!("first: {first}\nsecond: {second} rank=9"));
    assert_eq!(word, expected, "{second} after {first}");
    assert_eq!(last.dead.is_some(), expected == "shadowed", "{second} after {first}: {:?}", last.dead);
}

#[test]
fn paths_shadow_rules_below_them() {
    let cases = [
        ("prefix=/a", "exact=/a", "shadowed"),
        ("prefix=/a", "exact=/a/b", "shadowed"),
        ("prefix=/a", "exact=/ab", "free"),
        ("prefix=/a", "prefix=/a/", "shadowed"),
        ("prefix=/a", "prefix=/a//", "shadowed"),
        ("prefix=/a", "prefix=/", "free"),
        ("prefix=/a", "template=/a/{x}", "shadowed"),
        ("prefix=/a", "template=/{x}/b", "free"),
        ("prefix=/", "regex=/x.*", "shadowed"),
        ("prefix=/", "regex=.*", "free"),
        ("prefix=/", "", "free"),
        ("prefix=/a", "regex=/a(/.*)?", "shadowed"),
        ("prefix=/a", "regex=/a.*", "free"),
        ("exact=/a", "exact=/a", "shadowed"),
        ("exact=/a", "prefix=/a", "free"),
        ("exact=/a", "regex=/a", "shadowed"),
        ("template=/{x}", "exact=/a", "shadowed"),
        ("template=/{x}", "exact=/", "free"),
        ("template=/{x}", "exact=/a/", "free"),
        ("template=/{x}", "prefix=/a", "free"),
        ("template=/{x...}", "prefix=/a", "shadowed"),
        ("template=/{x...}", "prefix=/", "shadowed"),
        ("template=/a/{x...}", "prefix=/a", "shadowed"),
        ("template=/{a}/{x...}", "prefix=/a", "shadowed"),
        ("template=/{a}/{x...}", "prefix=/", "free"),
        ("template=/{a}/{x...}", "prefix=/a//", "shadowed"),
        ("template=/a/{b}/{x...}", "prefix=/a//", "free"),
        ("template=/{a}/{b}", "template=/{c}/d", "shadowed"),
        ("template=/{a}/d", "template=/{c}/{d}", "free"),
        ("template=/{a}/{b}", "template=/{c}/{rest...}", "free"),
        ("template=/{a}/{rest...}", "template=/{c}/d/{rest...}", "shadowed"),
        ("template=/{a}", "regex=/[a-z]+", "shadowed"),
        ("regex=/[^/]+", "template=/{a}", "shadowed"),
        ("regex=/[a-z]+", "template=/{a}", "free"),
        ("regex=/[a-z]+", "exact=/a", "shadowed"),
        ("regex=.*", "", "shadowed"),
        ("regex=/.*", "", "free"),
        ("regex=/a/.*", "prefix=/a", "free"),
        ("regex=(?i)/A+", "regex=/a{3}", "shadowed"),
        ("", "prefix=/", "shadowed"),
        ("byte-prefix=/a", "exact=/ab", "shadowed"),
        ("byte-prefix=/a", "prefix=/ab", "shadowed"),
        ("byte-prefix=/a", "regex=/ab.*", "shadowed"),
        ("byte-prefix=/a", "byte-prefix=/a/b", "shadowed"),
        ("byte-prefix=/a/b", "byte-prefix=/a/", "free"),
        ("prefix=/a", "byte-prefix=/a", "free"),
        ("prefix=/a", "byte-prefix=/a/", "shadowed"),
        ("prefix=/", "byte-prefix=/a", "shadowed"),
        ("byte-prefix=/", "", "free"),
        ("byte-prefix=", "", "shadowed"),
        ("search=b$", "exact=/ab", "shadowed"),
        ("search=^/a", "prefix=/ab", "shadowed"),
        ("search=^/a", "byte-prefix=/ab", "shadowed"),
        ("search=b$", "regex=/a.*b", "shadowed"),
        ("search=b$", "search=ab$", "shadowed"),
        ("search=~*b$", "search=B$", "shadowed"),
        ("search=B$", "search=~*b$", "free"),
        ("search=b$@/a", "exact=/ab", "shadowed"),
        ("search=b$@/a", "exact=/b", "free"),
        ("search=b$@/a", "search=b$@/a", "shadowed"),
        ("search=b$@/a", "regex=/a.*b", "maybe"),
        ("", "", "shadowed"),
    ];
    for (first, second, expected) in cases {
        check(first, second, expected);
    }
}

#[test]
fn hosts_and_methods_shadow_more_specific_rules() {
    check("host=a.t", "host=a.t", "shadowed");
    check("host=a.t host=b.t", "host=a.t", "shadowed");
    check("host=a.t", "host=a.t host=b.t", "free");
    check("host=*.t", "host=*.t", "shadowed");
    check("method=A method=B", "method=B", "shadowed");
    check("method=A", "method=A method=B", "free");
    check("method=A", "", "free");
    check("", "method=A", "shadowed");
}

#[test]
fn values_shadow_more_specific_rules() {
    let cases = [
        ("present", "exact:1", "shadowed"),
        ("present", "absent", "free"),
        ("absent", "absent", "shadowed"),
        ("absent", "present", "free"),
        ("exact:1", "exact:1", "shadowed"),
        ("exact:1", "exact:2", "free"),
        ("exact:1", "present", "free"),
        ("prefix:a", "prefix:ab", "shadowed"),
        ("prefix:ab", "prefix:a", "free"),
        ("prefix:", "present", "shadowed"),
        ("suffix:b", "suffix:ab", "shadowed"),
        ("suffix:ab", "suffix:b", "free"),
        ("suffix:b", "prefix:b", "free"),
        ("contains:b", "prefix:abc", "shadowed"),
        ("contains:b", "contains:ab", "shadowed"),
        ("contains:ab", "contains:b", "free"),
        ("contains:b", "exact:abc", "shadowed"),
        ("regex:a.", "exact:ab", "shadowed"),
        ("regex:a.", "regex:a.", "shadowed"),
        ("regex:a.", "regex:ab", "maybe"),
        ("prefix:a", "regex:ab", "maybe"),
        ("regex:a.", "absent", "free"),
    ];
    for (first, second, expected) in cases {
        for kind in ["header", "query"] {
            check(&format!("{kind}=x:{first}"), &format!("{kind}=x:{second}"), expected);
        }
        check(&format!("header=x:{first}"), &format!("header=y:{second}"), "free");
        check(&format!("header=x:{first}"), &format!("query=x:{second}"), "free");
    }
    check("header=x:present", "header=y:exact:1 header=X:exact:2", "shadowed");
    check("header=x:present header=y:present", "header=x:exact:1", "free");
}

#[test]
fn rules_that_contradict_themselves_are_dead() {
    for rule in [
        "header=x:absent header=x:exact:1",
        "query=q:exact:1 query=q:exact:2",
        "query=q:exact:1 query=q:prefix:2",
        "query=q:prefix:a query=q:prefix:b",
        "query=q:suffix:a query=q:suffix:b",
        "regex=users/.*",
        "regex=/a?b[?]",
        "regex=",
    ] {
        let (_, last) = mark(&format!("rule: {rule}"));
        assert!(last.dead.is_some(), "{rule}");
    }
    for rule in ["header=x:exact:1 header=x:exact:2", "query=q:prefix:a query=q:prefix:ab", "regex=(/a|b)"] {
        let (_, last) = mark(&format!("rule: {rule}"));
        assert_eq!(last.dead, None, "{rule}");
    }
}

#[test]
fn rules_that_overlap_are_fragile() {
    let check = |rules: &str, expected: Option<&str>| {
        let (_, last) = mark(rules);
        assert_eq!(last.fragile.as_deref(), expected, "{rules}");
    };
    check("a: prefix=/x header=h:present\nb: prefix=/x header=i:present", Some("a"));
    check("a: prefix=/x header=h:exact:1\nb: prefix=/x header=h:exact:2", None);
    check("a: prefix=/x header=h:exact:1\nb: prefix=/x header=i:exact:2", Some("a"));
    check("a: prefix=/x header=h:absent\nb: prefix=/x header=h:exact:2", None);
    check("a: prefix=/x method=A\nb: prefix=/x method=B", None);
    check("a: prefix=/x method=A\nb: prefix=/x method=B method=A", Some("a"));
    check("a: prefix=/x\nb: prefix=/y", None);
    check("a: prefix=/x rank=1\nb: prefix=/x rank=2", None);
    check("a: regex=/x\\d\nb: regex=/x[a-c]", None);
    check("a: regex=/x\\d\nb: regex=/x[a-c1]", Some("a"));
    check("a: template=/{x}/a/{y}\nb: template=/{x}/{y}/b", Some("a"));
    check("a: template=/{x}/a/{y}\nb: template=/{x}/b/{y}", None);
    check("a: template=/{x}/ab\nb: template=/{x}/{y}/{z}/{w}", None);
    check("table one\na: prefix=/x\ntable two\nb: prefix=/x", None);
}

#[test]
fn several_rules_can_hide_another_together() {
    for (rules, expected) in [
        ("a: prefix=/x header=h:present\nb: prefix=/x header=h:absent\nc: prefix=/x rank=9", &["a", "b"][..]),
        (
            "a: prefix=/x method=GET\nb: prefix=/x method=POST\nc: exact=/x/y method=POST method=GET rank=9",
            &["a", "b"],
        ),
        ("a: regex=/x/[a-m].*\nb: regex=/x/[^a-m].*\nc: regex=/x/.+ rank=9", &["a", "b"]),
        ("a: exact=/x\nb: template=/x/{rest...}\nc: prefix=/x rank=9", &[]),
        ("a: prefix=/x method=GET\nb: prefix=/x method=POST\nc: prefix=/x rank=9", &[]),
        ("a: prefix=/x header=h:present\nb: prefix=/x header=i:absent\nc: prefix=/x rank=9", &[]),
        ("a: prefix=/x header=h:exact:1\nb: prefix=/x header=h:absent\nc: prefix=/x rank=9", &[]),
        ("a: regex=/x/[a-m].*\nb: regex=/x/[^a-n].*\nc: regex=/x/.+ rank=9", &[]),
    ] {
        let (_, last) = mark(rules);
        let together = match &last.shadow {
            Shadow::Jointly { rules } => rules.clone(),
            Shadow::None | Shadow::By { .. } | Shadow::NotProven { .. } => Vec::new(),
        };
        assert_eq!(together, expected, "{rules}");
        assert_eq!(last.dead.is_some(), last.shadow != Shadow::None, "{rules}");
    }
}

#[test]
fn findings_have_an_example_request() {
    let check = |rules: &str, expected: &str| {
        let (_, last) = mark(rules);
        assert_eq!(last.example.map(|example| example.to_string()).as_deref(), Some(expected), "{rules}");
    };
    check("a: prefix=/x\nb: exact=/x/y rank=9", "GET example.com/x/y");
    check("a: host=*.t prefix=/ rank=-1\nb: host=*.t template=/{a}/{b} method=PUT", "PUT a.t/a/a");
    check("a: prefix=/x header=h:present\nb: prefix=/x header=i:prefix:v", "GET example.com/x (i: v, h: 1)");
    check("a: regex=/x[1-4]\nb: regex=/x[3-9]", "GET example.com/x3");
    check("a: prefix=/\nb: regex=/[k-m]{3} query=q:regex:[xyz]+ rank=9", "GET example.com/kkk?q=x");
}

#[test]
fn a_witness_reaches_its_rule() {
    let check = |rules: &str, expected: Option<&str>| {
        let router = router(rules);
        let last = router.rules().last().unwrap().index;
        let witness = router.witness(last);
        assert_eq!(witness.map(|witness| witness.to_string()).as_deref(), expected, "{rules}");
    };
    check("a: exact=/\nb: prefix=/", Some("GET example.com/a"));
    check("a: template=/{x}\nb: prefix=/", Some("GET example.com/"));
    check("a: prefix=/ header=h:absent\nb: prefix=/", Some("GET example.com/ (h: 1)"));
    check("a: prefix=/ method=GET\nb: prefix=/", Some("POST example.com/"));
    check("a: host=www.t prefix=/\nb: host=*.t prefix=/", Some("GET a.t/"));
    check("a: prefix=/a\nb: regex=/a?b+", Some("GET example.com/b"));
    check("a: prefix=/\nb: exact=/x rank=1", None);
}

/// Returns the redundant rules, each with the one that does the same; rules whose names begin with the same letter do
/// the same.
fn redundant(rules: &str) -> Vec<(String, String)> {
    let router = router(rules);
    let letter = |rule: &CompiledRule| rule.name.chars().next();
    let ranked = router.ordered_by(&|a, b| letter(a) == letter(b));
    let marked = ranked.into_iter().filter_map(|ranked| {
        assert!(ranked.redundant.is_none() || ranked.example.is_some(), "{ranked}");
        Some((ranked.rule.rule, ranked.redundant?))
    });
    marked.collect()
}

#[test]
fn a_redundant_rule_is_found_across_two_tables() {
    let mut tables = tables("table one\na1: exact=/x\ntable two\na2: prefix=/");
    // Each table numbers its actions from 0, so the numbers alone do not tell.
    tables.iter_mut().flat_map(|table| &mut table.rules).for_each(|rule| rule.action = ActionId::default());
    let router = Router::build(&tables).unwrap();
    let redundant = |alike: &dyn Fn(&CompiledRule, &CompiledRule) -> bool| {
        router.ordered_by(alike).into_iter().filter(|ranked| ranked.redundant.is_some()).count()
    };
    assert_eq!(redundant(&|one, other| one.name[..1] == other.name[..1]), 1);
    assert_eq!(redundant(&|one, other| (one.table, one.action) == (other.table, other.action)), 0);
}

#[test]
fn rules_that_change_nothing_are_marked() {
    let is_marked = |rules: &str| redundant(rules).iter().any(|(rule, by)| rule == "a1" && by == "a2");
    for (rules, expected) in [
        ("a1: exact=/x\na2: prefix=/", true),
        ("a1: exact=/x\nb: prefix=/", false),
        ("a1: exact=/x/y\nb: prefix=/x\na2: prefix=/", false),
        ("a1: exact=/x/y\nb: prefix=/z\na2: prefix=/", true),
        ("a1: exact=/x/y\na3: prefix=/x\na2: prefix=/", false),
        ("a1: prefix=/x method=GET\nb: prefix=/x method=POST\na2: prefix=/x", true),
        ("a1: prefix=/x method=GET\nb: prefix=/x header=x:exact:1\na2: prefix=/x", false),
        ("a1: prefix=/x to-prefix=/y\na2: prefix=/", false),
        ("a1: host=www.t prefix=/x\na2: prefix=/", false),
        ("a1: exact=/x\na2: regex=/x.*", true),
        ("a1: exact=/x/1\nb: regex=/x/[0-9] rank=1\na2: prefix=/ rank=2", false),
        ("a1: exact=/x/1\nb: regex=/x/[a-z] rank=1\na2: prefix=/ rank=2", true),
    ] {
        assert_eq!(is_marked(rules), expected, "{rules}\n{:?}", redundant(rules));
    }
}

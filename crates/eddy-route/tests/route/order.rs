//! Rule order of eddy's dialect, step by step: each case is a few matching rules and the expected winner.

use crate::notation::router;
use crate::request::RouteTestRequest;

/// Checks that the expected rules win although they are written in the opposite order.
fn check(rules: &str, asks: &[(RouteTestRequest, &str)]) {
    let router = router(rules);
    for (ask, expected) in asks {
        assert_eq!(ask.winner(&router).as_deref().unwrap_or("none"), *expected, "{ask:?} in {rules}");
    }
}

fn get(path: &str) -> RouteTestRequest {
    RouteTestRequest::get("www.t", path)
}

#[test]
fn specific_hosts_take_precedence() {
    let rules = "
        any:    exact=/a
        near:   host=*.t prefix=/
        nearer: host=*.b.t prefix=/
        exact:  host=www.t prefix=/";
    let asks = [
        (RouteTestRequest::get("www.t", "/a"), "exact"),
        (RouteTestRequest::get("WWW.T.", "/a"), "exact"),
        (RouteTestRequest::get("x.b.t", "/a"), "nearer"),
        (RouteTestRequest::get("x.y.b.t", "/a"), "nearer"),
        (RouteTestRequest::get("b.t", "/a"), "near"),
        (RouteTestRequest::get("t", "/a"), "any"),
        (RouteTestRequest::get("xt", "/a"), "any"),
        (RouteTestRequest::get("", "/a"), "any"),
        (RouteTestRequest::get("u", "/b"), "none"),
    ];
    check(rules, &asks);
}

#[test]
fn less_specific_hosts_serve_unmatched_requests() {
    let rules = "
        health: exact=/healthz
        near:   host=*.t prefix=/near
        users:  host=www.t prefix=/user";
    let asks = [
        (get("/user/1"), "users"),
        (get("/near"), "near"),
        (get("/healthz"), "health"),
        (get("/other"), "none"),
        (RouteTestRequest::get("u", "/near"), "none"),
    ];
    check(rules, &asks);
    let closed = "
        health: exact=/healthz
        closed: host=www.t
        users:  host=www.t prefix=/user";
    check(
        closed,
        &[
            (get("/healthz"), "closed"),
            (get("/user"), "users"),
            (RouteTestRequest::get("u", "/healthz"), "health"),
        ],
    );
}

#[test]
fn hosts_come_before_tables_and_tables_before_ranks() {
    let rules = "
        table one
        one-any:  exact=/a
        one-host: host=www.t prefix=/
        table two
        two-any:  exact=/a rank=-9
        two-host: host=www.t exact=/a rank=-9
        two-more: host=*.t exact=/b rank=-9";
    let asks = [
        (get("/a"), "one-host"),
        (RouteTestRequest::get("u", "/a"), "one-any"),
        (RouteTestRequest::get("x.t", "/b"), "two-more"),
        (RouteTestRequest::get("x.t", "/a"), "one-any"),
    ];
    check(rules, &asks);
}

#[test]
fn ranks_come_before_paths() {
    let rules = "
        last:  exact=/a rank=1
        plain: prefix=/
        regex: regex=/a/\\d+ rank=-1
        long:  prefix=/a/1";
    let asks = [(get("/a"), "plain"), (get("/a/1"), "regex"), (get("/a/1/x"), "long")];
    check(rules, &asks);
}

#[test]
fn path_precedence_is_from_exact_to_any() {
    let rules = "
        any:      method=GET
        regex:    regex=/a.*
        short:    prefix=/a
        template: template=/a/{id}
        long:     prefix=/a/b/
        exact:    exact=/a/b";
    let asks = [
        (get("/a/b"), "exact"),
        (get("/a/b/"), "long"),
        (get("/a/b/c"), "long"),
        (get("/a/c"), "template"),
        (get("/a/c/"), "short"),
        (get("/a"), "short"),
        (get("/a/"), "short"),
        (get("/ab"), "regex"),
        (get("/b"), "any"),
        (get("*"), "any"),
    ];
    check(rules, &asks);
}

#[test]
fn a_prefix_of_everything_comes_before_a_regex_but_any_path_does_not() {
    check("root: prefix=/\nregex: regex=/a\\d", &[(get("/a1"), "root")]);
    check("any:\nregex: regex=/a\\d", &[(get("/a1"), "regex"), (get("/a"), "any")]);
    check("root: prefix=/\nregex: regex=/a\\d rank=-1", &[(get("/a1"), "regex"), (get("/a"), "root")]);
}

#[test]
fn prefixes_match_by_segment_with_or_without_a_final_slash() {
    for prefix in ["/user", "/user/"] {
        let rules = format!("user: prefix={prefix}");
        let asks = [
            (get("/user"), "user"),
            (get("/user/"), "user"),
            (get("/user/x"), "user"),
            (get("/user//"), "user"),
            (get("/username"), "none"),
            (get("/use"), "none"),
            (get("//user"), "none"),
            (get("/USER"), "none"),
        ];
        check(&rules, &asks);
    }
    check("with: prefix=/user/\nwithout: prefix=/user", &[(get("/user"), "with"), (get("/user/"), "with")]);
    check("double: prefix=/a//", &[(get("/a/"), "double"), (get("/a//b"), "double"), (get("/a/b"), "none")]);
    check(
        "root: prefix=/",
        &[(get("/"), "root"), (get("//"), "root"), (get(""), "root"), (get("*"), "none")],
    );
}

#[test]
fn templates_match_by_segment() {
    let rules = "one: template=/u/{id}\nposts: template=/u/{id}/posts\nslash: template=/s/{id}/";
    let asks = [
        (get("/u/1"), "one"),
        (get("/u/a%20b;x"), "one"),
        (get("/u/1/"), "none"),
        (get("/u/"), "none"),
        (get("/u"), "none"),
        (get("/u/1/posts"), "posts"),
        (get("/u//posts"), "none"),
        (get("/s/1/"), "slash"),
        (get("/s/1"), "none"),
    ];
    check(rules, &asks);
    let rest = "rest: template=/f/{name...}";
    check(rest, &[(get("/f"), "rest"), (get("/f/"), "rest"), (get("/f/a/b"), "rest"), (get("/fa"), "none")]);
    check("all: template=/{all...}", &[(get("/"), "all"), (get("/a/b"), "all"), (get("*"), "none")]);
}

#[test]
fn templates_rank_by_the_text_before_their_first_capture() {
    let rules = "
        prefix:   prefix=/u
        rest:     template=/u/{rest...}
        two:      template=/u/{a}/{b}
        fixed:    template=/u/{a}/posts
        deeper:   prefix=/u/1";
    let asks = [
        (get("/u/2/posts"), "fixed"),
        (get("/u/2/x"), "two"),
        (get("/u/2/x/y"), "rest"),
        (get("/u"), "rest"),
        (get("/u/1/posts"), "deeper"),
    ];
    check(rules, &asks);
    check("template: template=/u\nprefix: prefix=/u", &[(get("/u"), "template"), (get("/u/"), "prefix")]);
}

#[test]
fn conditions_decide_between_rules_of_one_path() {
    let rules = "
        plain:   prefix=/a
        query:   prefix=/a query=q:exact:1
        queries: prefix=/a query=q:present query=r:present
        header:  prefix=/a header=x:exact:1
        headers: prefix=/a header=x:present header=y:present
        method:  prefix=/a method=POST method=PUT";
    let asks = [
        (get("/a").query("q=1"), "query"),
        (get("/a").query("q=1&r=2"), "queries"),
        (get("/a").query("q=1&r=2").field("X", "1"), "header"),
        (get("/a").field("x", "2"), "plain"),
        (get("/a").field("x", "1").field("y", "2"), "headers"),
        (get("/a").method("PUT").field("x", "1").field("y", "2"), "method"),
        (get("/a").method("post"), "plain"),
    ];
    check(rules, &asks);
}

#[test]
fn the_first_written_wins_among_equals() {
    check("one: prefix=/a\ntwo: prefix=/a/", &[(get("/a"), "one")]);
    check("one: regex=/a.\ntwo: regex=/.b", &[(get("/ab"), "one")]);
    check("one: template=/a/{x}/b/{y}\ntwo: template=/a/{x}/{y}/b", &[(get("/a/1/b/b"), "one")]);
}

#[test]
fn values_are_tested_as_documented() {
    let any_line = "hit: header=x:exact:1\nmiss:";
    check(
        any_line,
        &[(get("/").field("x", "2").field("X", "1"), "hit"), (get("/").field("x", "1,2"), "miss")],
    );
    let absent = "hit: header=x:absent\nmiss:";
    check(absent, &[(get("/"), "hit"), (get("/").field("x", ""), "miss")]);
    let known = "hit: header=User-Agent:contains:curl\nmiss:";
    check(known, &[(get("/").field("user-agent", "a curl b"), "hit"), (get("/").field("x", "curl"), "miss")]);
    let regex = "hit: header=x:regex:a.\nmiss:";
    check(regex, &[(get("/").field("x", "ab"), "hit"), (get("/").field("x", "abc"), "miss")]);
    let affixes = "hit: header=x:prefix:ab header=x:suffix:bc\nmiss:";
    check(affixes, &[(get("/").field("x", "abc"), "hit"), (get("/").field("x", "ab"), "miss")]);
    let first = "hit: query=q:exact:a+b\nmiss:";
    check(first, &[(get("/").query("q=a%2Bb"), "hit"), (get("/").query("q=x&q=a%2Bb"), "miss")]);
    let no_query = "hit: query=q:absent\nmiss:";
    check(no_query, &[(get("/").query("r=1"), "hit"), (get("/").query("q"), "miss")]);
}

#[test]
fn regexes_match_whole_paths_and_their_case_counts() {
    let rules = "hit: regex=/a+\nmiss:";
    check(rules, &[(get("/aa"), "hit"), (get("/aab"), "miss"), (get("/x/a"), "miss"), (get("/A"), "miss")]);
    // An alternation spans the whole expression; anchors and inline flags work as usual.
    check("hit: regex=/a|/b\nmiss:", &[(get("/b"), "hit"), (get("/bb"), "miss"), (get("/a/b"), "miss")]);
    check("hit: regex=^/a$\nmiss:", &[(get("/a"), "hit"), (get("/ab"), "miss")]);
    check("hit: regex=(?i)/a\nmiss:", &[(get("/A"), "hit")]);
    check("hit: regex=(?x)/a#b\nmiss:", &[(get("/a"), "hit"), (get("/a#b"), "miss")]);
    check("hit: regex=(?m)^/a$\nmiss:", &[(get("/a"), "hit"), (get("/a\n/b"), "miss")]);
}

#[test]
fn many_regexes_with_one_prefix_are_distinguished() {
    let mut rules = String::new();
    for number in 0..300 {
        rules.push_str(&format!("r{number}: regex=/[a-z]+/{number}(/.*)?\n"));
    }
    rules.push_str("first: regex=/[a-z]+/29. method=POST\nlast: regex=.*");
    let asks = [
        (get("/x/0"), "r0"),
        (get("/x/299/y"), "r299"),
        (get("/x/295").method("POST"), "first"),
        (get("/x/300"), "last"),
        (get("/9/0"), "last"),
    ];
    check(&rules, &asks);
}

#[test]
fn the_linear_scan_detects_a_wrong_rule() {
    let router = router("a: exact=/a\nb: exact=/b");
    let mut scratch = eddy_route::RouteScratch::new();
    get("/a").with(|a| {
        get("/b").with(|b| {
            let of_b = router.lookup(b, &mut scratch);
            assert!(router.agrees(of_b, b, &mut scratch));
            assert!(!router.agrees(of_b, a, &mut scratch));
            assert!(!router.agrees(None, a, &mut scratch));
        });
    });
}

#[test]
fn many_rules_with_one_path_are_distinguished() {
    let mut rules = String::new();
    for number in 0..200 {
        rules.push_str(&format!("t{number}: prefix=/ header=x-tenant:exact:{number}\n"));
    }
    rules.push_str("both: prefix=/ header=x-tenant:exact:7 header=x-beta:present\nother: prefix=/ header=x-tenant:present\nnone: prefix=/");
    let asks = [
        (get("/").field("X-Tenant", "0"), "t0"),
        (get("/a").field("x-tenant", "199"), "t199"),
        (get("/").field("x-tenant", "7").field("x-beta", ""), "both"),
        (get("/").field("x-tenant", "8").field("x-tenant", "5"), "t5"),
        (get("/").field("x-tenant", "x"), "other"),
        (get("/"), "none"),
    ];
    check(&rules, &asks);
}

#[test]
fn a_short_prefix_with_precedence_matches_only_paths_below_it() {
    let rules = "short: prefix=/a rank=-1\nlonger: prefix=/aa\nbelow: prefix=/a/b\nexact: exact=/a";
    let asks = [
        (get("/aa"), "longer"),
        (get("/aa/b"), "longer"),
        (get("/a/b"), "short"),
        (get("/a"), "short"),
        (get("/ab"), "none"),
    ];
    check(rules, &asks);
    // A capture below a prefix of `//` is not below that prefix.
    check(
        "double: prefix=/a// rank=-1\nid: template=/a/{id}",
        &[(get("/a/1"), "id"), (get("/a//"), "double")],
    );
}

#[test]
fn many_rules_with_several_methods_are_distinguished() {
    let mut rules = String::new();
    for number in 0..20 {
        rules.push_str(&format!("m{number}: prefix=/ method=A{number} method=B{number}\n"));
    }
    rules.push_str("other: prefix=/");
    let asks = [
        (get("/").method("A19"), "m19"),
        (get("/").method("B19"), "m19"),
        (get("/").method("B0"), "m0"),
        (get("/"), "other"),
    ];
    check(&rules, &asks);
}

#[test]
fn paths_of_rules_are_normalised() {
    check("hit: exact=/caf%c3%a9", &[(get("/caf%C3%A9"), "hit")]);
    check("hit: prefix=/%61", &[(get("/a/b"), "hit")]);
    check("hit: template=/%61/{id}", &[(get("/a/b"), "hit")]);
}

//! Actions of rules: who responds, what the cluster receives and what the client gets.

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::WireResponse;

async fn get(gateway: &TestGateway, host: &str, target: &str) -> Result<WireResponse> {
    gateway.exchange(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await
}

fn respond(condition: &str, body: &str) -> String {
    format!("{{match: {{{condition}}}, respond: {{status: 200, body: {body}}}}}")
}

fn ranked(rank: i32, condition: &str, body: &str) -> String {
    format!("{{rank: {rank}, match: {{{condition}}}, respond: {{status: 200, body: {body}}}}}")
}

#[tokio::test]
async fn the_most_specific_rule_wins() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule(&respond("path: {regex: '/u.*'}", "never"))
        .rule(&ranked(-1, "path: {regex: '/first/.*'}", "first"))
        .rule(&respond("path: {prefix: /}", "root"))
        .rule(&respond("path: {prefix: /user/}", "user"))
        .rule(&respond("path: {exact: /user/7}", "exact"))
        .rule(&respond("path: {template: '/user/{id}/orders'}", "template"))
        .rule(&respond("path: {prefix: /user/}, method: POST", "post"))
        .rule(&respond("path: {prefix: /user/}, headers: {x-beta: 'on'}", "beta"))
        .rule(&respond("path: {prefix: /user/}, query: {v: '2'}", "second"))
        .rule(&respond("host: a.example", "host"))
        .rule(&respond("host: '*.example'", "suffix"))
        .before(&origin)
        .await?;
    for (host, target, body) in [
        ("x", "/other", "root"),
        ("x", "/users", "root"),
        ("x", "/first/x", "first"),
        ("x", "/user", "user"),
        ("x", "/user/8", "user"),
        ("x", "/user/7", "exact"),
        ("x", "/user/7/orders", "template"),
        ("x", "/user/8?v=2", "second"),
        ("x", "/user/8?v=3", "user"),
        ("a.example", "/user/7", "host"),
        ("A.EXAMPLE:80", "/user/7", "host"),
        ("b.a.example", "/user/7", "suffix"),
        ("example", "/other", "root"),
    ] {
        let answer = get(&gateway, host, target).await?;
        ensure!(answer.text() == body, "{host}{target}: {:?}, not {body:?}", answer.text());
    }
    let answer = gateway.exchange("POST /user/8 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").await?;
    assert_eq!(answer.text(), "post");
    let answer =
        gateway.exchange("GET /user/8 HTTP/1.1\r\nHost: x\r\nX-Beta: off\r\nX-Beta: on\r\n\r\n").await?;
    assert_eq!(answer.text(), "beta", "one of several values is enough");
    gateway.stop().await
}

#[tokio::test]
async fn unmatched_requests_get_404_and_routes_select_clusters() -> Result<()> {
    let (origin, other) = (TapOrigin::start().await?, TapOrigin::start().await?);
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{match: {path: {prefix: /a}}, cluster: origin}")
        .rule("{match: {path: {prefix: /b}}, cluster: other}")
        .another_cluster("other: {endpoints: [OTHER]}")
        .with("OTHER", other.address())
        .before(&origin)
        .await?;
    assert_eq!(get(&gateway, "x", "/a/1").await?.text(), "GET /a/1\n");
    assert_eq!(get(&gateway, "x", "/b/1").await?.text(), "GET /b/1\n");
    assert_eq!(get(&gateway, "x", "/c").await?.status, 404);
    assert_eq!((origin.log().requests().len(), other.log().requests().len()), (1, 1));
    gateway.stop().await
}

#[tokio::test]
async fn fixed_responses_are_sent_as_configured() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {exact: /json}}, respond: {status: 418, body: '{}', content_type: application/json}}")
        .rule("{match: {path: {exact: /empty}}, respond: {status: 204}}")
        .rule("{match: {path: {exact: /edited}}, respond: {status: 200, body: ok}, response_headers: {set: {x-frame-options: DENY}, add: {set-cookie: [a=1, b=2]}}}")
        .before(&origin)
        .await?;
    let answer = get(&gateway, "x", "/json").await?;
    ensure!((answer.status, answer.text().as_str()) == (418, "{}"), "{answer:?}");
    assert_eq!(answer.fields.text("content-type"), "application/json");
    let answer = get(&gateway, "x", "/empty").await?;
    ensure!(answer.status == 204 && answer.fields.count("content-length") == 0, "{answer:?}");
    let answer = get(&gateway, "x", "/edited").await?;
    assert_eq!(answer.fields.text("x-frame-options"), "DENY");
    assert_eq!(answer.fields.all("set-cookie").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
    gateway.stop().await
}

#[tokio::test]
async fn redirects_keep_unchanged_parts_of_the_url() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {prefix: /secure}}, redirect: {scheme: https, status: 308}}")
        .rule("{match: {path: {prefix: /host}}, redirect: {host: b.example}}")
        .rule("{match: {path: {prefix: /old/}}, redirect: {prefix: /new/, status: 301}}")
        .rule("{match: {path: {template: '/u/{id}'}}, redirect: {path: '/users/{id}', strip_query: true}}")
        .before(&origin)
        .await?;
    for (target, status, location) in [
        ("/secure/a?b=c", 308, "https://a.example/secure/a?b=c"),
        ("/host/a?b", 302, "http://b.example/host/a?b"),
        ("/old/x/y?z", 301, "http://a.example/new/x/y?z"),
        ("/u/7?x", 302, "http://a.example/users/7"),
    ] {
        let answer = get(&gateway, "a.example", target).await?;
        let got = answer.fields.text("location");
        let relative = location.strip_prefix("http://a.example").unwrap_or(location);
        ensure!(
            answer.status == status && (got == location || got == relative),
            "{target}: {} {got:?}",
            answer.status
        );
    }
    gateway.stop().await
}

#[tokio::test]
async fn rewrites_change_the_forwarded_request() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {prefix: /api/}}, cluster: origin, rewrite: {prefix: /}}")
        .rule("{match: {path: {prefix: /v1}}, cluster: origin, rewrite: {prefix: /v2}}")
        .rule("{match: {path: {template: '/u/{id}/o/{rest...}'}}, cluster: origin, rewrite: {path: '/orders/{id}/{rest}'}}")
        .rule("{match: {path: {regex: '/r/(?P<name>[a-z]+)'}}, cluster: origin, rewrite: {path: '/named/{name}', host: in.example}}")
        .before(&origin)
        .await?;
    for (target, seen) in [
        ("/api/x?y=1", "/x?y=1"),
        ("/api", "/"),
        ("/api/", "/"),
        ("/v1/x", "/v2/x"),
        ("/v1", "/v2"),
        ("/u/7/o/a/b?q", "/orders/7/a/b?q"),
        ("/r/abc", "/named/abc"),
        ("/plain//x;y?a=%20", "/plain//x;y?a=%20"),
        ("/%7Euser/%41", "/~user/A"),
        ("/a%2d%c3%a9", "/a-%C3%A9"),
    ] {
        let answer = get(&gateway, "a.example", target).await?;
        ensure!(answer.text() == format!("GET {seen}\n"), "{target}: {:?}, not {seen:?}", answer.text());
    }
    let named = origin.log().requests().into_iter().find(|request| request.target == b"/named/abc").unwrap();
    assert_eq!(named.host(), b"in.example");
    gateway.stop().await
}

#[tokio::test]
async fn ambiguous_paths_are_refused() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for target in [
        "/a/../b",
        "/a/./b",
        "/..",
        "/a/%2e%2e/b",
        "/a/.%2E/b",
        "/%2e/",
        "/a%2fb",
        "/a%2Fb",
        "/a%5cb",
        "/a\\b",
        "/a%00b",
        "/%zz",
        "/%4",
        "/a%",
        "/a/..%2fb",
        "/..;/a",
    ] {
        let answer = get(&gateway, "x", target).await?;
        let is_semicolon = target.contains(';');
        ensure!(answer.status == 400 || is_semicolon, "{target}: {}", answer.status);
    }
    gateway.stop().await
}

#[tokio::test]
async fn field_edits_apply_in_order() -> Result<()> {
    let origin =
        TapOrigin::with(|_| OriginScript::send(response(200, "Server: s\r\nX-A: 1\r\nX-A: 2\r\n", "ok")))
            .await?;
    let edits = "request_headers: {remove: [x-gone], set: {x-team: users}, add: {x-more: ['1', '2']}}, \
                 response_headers: {remove: [server], set: {x-a: '3'}, add: {x-b: '4'}}";
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule(&format!("{{match: {{path: {{prefix: /}}}}, cluster: origin, {edits}}}"))
        .before(&origin)
        .await?;
    let answer = gateway
        .exchange("GET / HTTP/1.1\r\nHost: a\r\nX-Gone: 1\r\nX-Team: forged\r\nX-More: 0\r\n\r\n")
        .await?;
    let request = origin.log().until_requests(1).await?.remove(0);
    assert_eq!(request.fields.count("x-gone"), 0);
    assert_eq!(request.fields.all("x-team").collect::<Vec<_>>(), [b"users"]);
    assert_eq!(request.fields.all("x-more").collect::<Vec<_>>(), [b"0", b"1", b"2"]);
    assert_eq!(answer.fields.count("server"), 0);
    assert_eq!(answer.fields.all("x-a").collect::<Vec<_>>(), [b"3"]);
    assert_eq!(answer.fields.text("x-b"), "4");
    gateway.stop().await
}

#[tokio::test]
async fn weights_distribute_requests() -> Result<()> {
    let (origin, other) = (TapOrigin::start().await?, TapOrigin::start().await?);
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{clusters: [{cluster: origin, weight: 3}, {cluster: other, weight: 1}, {cluster: none, weight: 0}]}")
        .another_cluster("other: {endpoints: [OTHER]}")
        .another_cluster("none: {endpoints: [NONE]}")
        .with("OTHER", other.address())
        .with("NONE", place::closed_address())
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    for _ in 0..400 {
        assert_eq!(client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?.status, 200);
    }
    let share = other.log().requests().len();
    // A fair draw of 1/4 leaves 100 ± 50 only once in some ten million runs.
    ensure!((50..=150).contains(&share), "{share} of 400 went to a quarter");
    gateway.stop().await
}

#[tokio::test]
async fn endpoints_are_used_in_rotation() -> Result<()> {
    let (origin, other) = (TapOrigin::start().await?, TapOrigin::start().await?);
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: two}")
        .another_cluster("two: {endpoints: [ORIGIN, {address: OTHER, weight: 3}]}")
        .with("OTHER", other.address())
        .before(&origin)
        .await?;
    for _ in 0..40 {
        get(&gateway, "a", "/").await?;
    }
    assert_eq!((origin.log().requests().len(), other.log().requests().len()), (10, 30));
    gateway.stop().await
}

#[tokio::test]
async fn a_retry_uses_another_endpoint_and_only_when_safe() -> Result<()> {
    let bad = TapOrigin::with(|_| OriginScript::send(response(503, "", "bad"))).await?;
    let origin = TapOrigin::start().await?;
    let rule = |path: &str, retry: &str| {
        format!("{{match: {{path: {{prefix: {path}}}}}, cluster: two, retry: {{{retry}}}}}")
    };
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule(&rule("/yes", "attempts: 1, statuses: [503]"))
        .rule(&rule("/no", "attempts: 1"))
        .another_cluster(
            "two: {endpoints: [ORIGIN, BAD], ejection: {failures: 0}, retry_budget: {floor: 1000}}",
        )
        .with("BAD", bad.address())
        .before(&origin)
        .await?;
    for _ in 0..10 {
        assert_eq!(get(&gateway, "a", "/yes").await?.status, 200);
    }
    let tried = bad.log().requests().len();
    ensure!(tried > 0 && tried <= 10, "{tried} attempts at the bad endpoint");
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(get(&gateway, "a", "/no").await?.status);
    }
    ensure!(statuses.contains(&503), "without the rule's word a status is passed on: {statuses:?}");
    let mut posts = Vec::new();
    for _ in 0..4 {
        let raw = "POST /yes HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx";
        posts.push(gateway.exchange(raw).await?.status);
    }
    ensure!(posts.contains(&503), "a POST is never repeated: {posts:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_dead_endpoint_is_skipped() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: two}")
        .another_cluster("two: {endpoints: [DEAD, ORIGIN]}")
        .with("DEAD", place::closed_address())
        .before(&origin)
        .await?;
    for number in 0..30 {
        // Nothing was sent to the dead endpoint, so any request may be sent to another one.
        let raw = format!("POST /{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        assert_eq!(gateway.exchange(raw).await?.status, 200, "request {number}");
    }
    assert_eq!(origin.log().requests().len(), 30);
    gateway.stop().await
}

#[tokio::test]
async fn retries_have_a_budget() -> Result<()> {
    let bad = TapOrigin::with(|_| OriginScript::send(response(503, "", "bad"))).await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: origin, retry: {attempts: 3, statuses: [503]}}")
        .cluster("ejection: {failures: 0}")
        .cluster("retry_budget: {percent: 20, floor: 1}")
        .before(&bad)
        .await?;
    let mut client = gateway.client().await?;
    for _ in 0..500 {
        assert_eq!(client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?.status, 503);
    }
    let tried = bad.log().requests().len();
    ensure!(tried <= 500 + 100 + 40, "{tried} attempts for 500 requests");
    gateway.stop().await
}

#[tokio::test]
async fn a_retry_never_follows_the_first_byte_of_a_response() -> Result<()> {
    let origin = TapOrigin::with(|_| {
        OriginScript::steps([ScriptStep::Send(b"HTTP/1.1 2".to_vec()), ScriptStep::Close])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: origin, retry: {attempts: 3, statuses: [502], on_reset: true}}")
        .cluster("ejection: {failures: 0}")
        .before(&origin)
        .await?;
    assert_eq!(get(&gateway, "a", "/").await?.status, 502);
    assert_eq!(origin.log().requests().len(), 1);
    gateway.stop().await
}

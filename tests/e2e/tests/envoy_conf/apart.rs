//! Deliberate differences to Envoy: the response of each program to the same request with the same file.
//!
//! These differences are listed in `docs/reference/divergences.md`. Without Envoy only eddy is tested.

use anyhow::{Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::peer::{EchoUpstream, Envoy, ParallelClient, Reply, bootstrap};
use serde_json::{Value, json};

/// A request, and the results of eddy and Envoy.
type DivergenceCase<'c> = (&'c str, &'c str, &'c str);

/// Sends `cases` to both, with these routes in one virtual host and these settings of the table, and compares the
/// results.
async fn check(settings: Value, mut host: Value, cases: &[DivergenceCase<'_>]) -> Result<()> {
    host["name"] = "all".into();
    host["domains"] = json!(["*"]);
    let mut table = json!({"name": "site", "virtual_hosts": [host]});
    if let (Some(table), Some(more)) = (table.as_object_mut(), settings.as_object()) {
        table.extend(more.clone());
    }
    let config = bootstrap(&table, &json!({}), &["one"]);
    let requests: Vec<Vec<u8>> = cases.iter().map(|(request, ..)| request.as_bytes().to_vec()).collect();
    let (ours, theirs) = answers(&config, &requests).await?;
    for ((reply, theirs), (request, eddy, envoy)) in ours.iter().zip(theirs).zip(cases) {
        ensure!(told(reply) == *eddy, "{}: eddy answers {reply:?}", request.escape_debug());
        let is_as_said = theirs.as_ref().is_none_or(|theirs| told(theirs) == *envoy);
        ensure!(is_as_said, "{}: Envoy answers {theirs:?}", request.escape_debug());
    }
    Ok(())
}

/// Returns eddy's responses, and Envoy's when it is installed.
async fn answers(config: &str, requests: &[Vec<u8>]) -> Result<(Vec<Reply>, Vec<Option<Reply>>)> {
    let upstream = EchoUpstream::start()?;
    let substitutes = vec![("ECHO".to_owned(), upstream.path().display().to_string())];
    let gateway =
        TestGateway::launch(config, Launch { substitutes, file: Some("envoy.json"), ..Launch::default() })
            .await?;
    let ours = ParallelClient::to(&gateway.directory().join("site.sock")).ask_all(requests)?;
    gateway.stop().await?;
    let theirs = match Envoy::find_or_omit()? {
        Some(program) => {
            let envoy = Envoy::start(&program, config, &upstream.path())?;
            envoy.clients().ask_all(requests)?.into_iter().map(Some).collect()
        }
        None => requests.iter().map(|_| None).collect(),
    };
    Ok((ours, theirs))
}

fn told(reply: &Reply) -> String {
    match reply.status {
        200 => format!("200 {}", reply.body),
        status => status.to_string(),
    }
}

fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n")
}

fn says(text: &str, matched: Value) -> Value {
    json!({"match": matched, "direct_response": {"status": 200, "body": {"inline_string": text}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_are_read_strictly() -> Result<()> {
    let with_hosts = |letters: &'static str| {
        letters.chars().map(|letter| format!("GET / HTTP/1.1\r\nHost: a{letter}b.test\r\n\r\n"))
    };
    let mut refused: Vec<String> = with_hosts("%,@[]").collect();
    let taken: Vec<String> = with_hosts("!$&'()*+;=").collect();
    for head in ["Host:", "Host: a.test\r\nHost: a.test", "Host: a.test\r\nx-a: a\r\n b"] {
        refused.push(format!("GET / HTTP/1.1\r\n{head}\r\n\r\n"));
    }
    let mut cases: Vec<DivergenceCase<'_>> =
        refused.iter().map(|request| (request.as_str(), "400", "200 all")).collect();
    cases.extend(taken.iter().map(|request| (request.as_str(), "200 all", "200 all")));
    cases.push(("GET / HTTP/1.0\r\n\r\n", "200 all", "426"));
    cases.push(("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", "204", "404"));
    // Both accept these bytes in a target.
    let same = ["/\\", "/\"", "/<", "/>", "/^", "/`", "/{", "/|", "/}"].map(|target| get(target, ""));
    cases.extend(same.iter().map(|request| (request.as_str(), "200 all", "200 all")));
    check(json!({}), json!({"routes": [says("all", json!({"prefix": "/"}))]}), &cases).await
}

#[tokio::test(flavor = "multi_thread")]
async fn matcher_trees_compare_each_line_of_a_header() -> Result<()> {
    let input = json!({
        "name": "field",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x-a"
        }
    });
    let mut route = says("tree", json!({"prefix": "/"}));
    route["@type"] = "type.googleapis.com/envoy.config.route.v3.Route".into();
    let action = json!({"action": {"name": "route", "typed_config": route}});
    let tree = json!({"matcher_tree": {"input": input, "exact_match_map": {"map": {"1": action}}}});
    let (one, two) = (get("/", "x-a: 1\r\n"), get("/", "x-a: 1\r\nx-a: 2\r\n"));
    let cases = [(one.as_str(), "200 tree", "200 tree"), (&two, "200 tree", "404")];
    check(json!({}), json!({"matcher": tree}), &cases).await
}

#[tokio::test(flavor = "multi_thread")]
async fn x_forwarded_proto_of_a_client_is_matched_as_sent() -> Result<()> {
    let wanted =
        json!({"prefix": "/", "headers": [{"name": "x-forwarded-proto", "string_match": {"exact": "http"}}]});
    let (told, untold) = (get("/", "x-forwarded-proto: http\r\n"), get("/", ""));
    let cases = [(told.as_str(), "200 http", "200 http"), (&untold, "404", "200 http")];
    check(json!({}), json!({"routes": [says("http", wanted)]}), &cases).await
}

/// An apparent difference that is none.
#[tokio::test(flavor = "multi_thread")]
async fn regular_expressions_match_bytes_in_both() -> Result<()> {
    let field = |regex: &str| json!([{"name": "x-a", "string_match": {"safe_regex": {"regex": regex}}}]);
    let routes = json!([
        says("one", json!({"prefix": "/", "headers": field(".")})),
        says("folded", json!({"prefix": "/fold", "headers": field("(?i)\u{c9}")})),
        says("two", json!({"prefix": "/", "headers": field("..")})),
        says("rest", json!({"prefix": "/"}))
    ]);
    let mut cases = Vec::new();
    for (target, value, expected) in [
        ("/", "e", "200 one"),
        ("/", "\u{e9}", "200 two"),
        ("/", "\u{e9}\u{e9}", "200 rest"),
        ("/fold", "\u{c9}", "200 folded"),
        ("/fold", "\u{e9}", "200 two"),
    ] {
        cases.push((get(target, &format!("x-a: {value}\r\n")), expected));
    }
    let cases: Vec<DivergenceCase<'_>> =
        cases.iter().map(|(request, expected)| (request.as_str(), *expected, *expected)).collect();
    check(json!({}), json!({"routes": routes}), &cases).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewrite_that_leaves_no_path_is_not_sent() -> Result<()> {
    let rewrite = json!({"pattern": {"regex": "/.*"}, "substitution": ""});
    let route = json!({"match": {"prefix": "/"}, "route": {"cluster": "one", "regex_rewrite": rewrite}});
    let request = get("/a?b=c", "");
    let cases = [(request.as_str(), "500", "200 GET /a?b=c a.test")];
    check(json!({}), json!({"routes": [route]}), &cases).await
}

#[tokio::test(flavor = "multi_thread")]
async fn path_templates_ignore_path_parameters() -> Result<()> {
    let kind = "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
    let template = json!({
        "name": "envoy.path.match.uri_template.uri_template_matcher",
        "typed_config": {"@type": kind, "path_template": "/a/{x}.c"}
    });
    let routes = json!([
        says("template", json!({"path_match_policy": template})),
        says("rest", json!({"prefix": "/"}))
    ]);
    let (plain, with) = (get("/a/b.c", ""), get("/a/b.c;p", ""));
    let cases = [(plain.as_str(), "200 template", "200 template"), (&with, "200 template", "200 rest")];
    check(json!({"ignore_path_parameters_in_path_matching": true}), json!({"routes": routes}), &cases).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_gateway_headers_are_added() -> Result<()> {
    let route = json!({"match": {"prefix": "/"}, "route": {"cluster": "one"}});
    let table =
        json!({"name": "site", "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]});
    let (ours, theirs) =
        answers(&bootstrap(&table, &json!({}), &["one"]), &[get("/", "").into_bytes()]).await?;
    let own = |reply: &Reply| {
        let is_own = |name: &str| name == "server" || name.starts_with("x-envoy-");
        reply.fields.iter().filter(|(name, _)| is_own(&name.to_ascii_lowercase())).count()
    };
    ensure!(ours.iter().all(|reply| own(reply) == 0), "{ours:?}");
    ensure!(theirs.iter().flatten().all(|reply| own(reply) == 2), "Envoy: {theirs:?}");
    Ok(())
}

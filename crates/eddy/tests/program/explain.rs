//! `/explain` of the admin listener: explains the plan in force as the command explains the file.

use crate::support::{EddyProcess, get, run_to_end};

const CONFIG: &str = "\
workers: 1
listeners: [{name: web, address: '127.0.0.1:0', routes: [site, rest]}]
admin: {address: '127.0.0.2:0'}
routes:
  site:
    - {name: users, match: {path: {prefix: /user/}}, respond: {status: 201}}
    - {name: beta, match: {path: {prefix: /user/}, headers: {x-beta: '1'}, method: POST}, respond: {status: 202}}
  rest:
    - {name: rest, match: {host: '*.example.com'}, respond: {status: 203}}
";

/// Returns the lines of an explanation except the first, which contains the configured or bound port of the listener.
fn body(text: &str) -> String {
    let body = text.split_once("\r\n\r\n").map_or(text, |(_, body)| body);
    body.lines().filter(|line| !line.starts_with("listener ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_running_gateway_explains_like_the_command() {
    let eddy = EddyProcess::start(CONFIG);
    let config = eddy.path("eddy.yaml");
    let config = config.to_str().unwrap();
    for (query, arguments) in [
        ("url=http://www.example.com/user/7", vec!["http://www.example.com/user/7"]),
        (
            "url=www.example.com/user/7&method=POST&header=x-beta:%201",
            vec!["www.example.com/user/7", "-X", "POST", "-H", "x-beta: 1"],
        ),
        ("url=/nothing&all", vec!["/nothing", "--all"]),
        ("url=/user/1&why_not=rest", vec!["/user/1", "--why-not", "rest"]),
        ("url=/user/1&format=json", vec!["/user/1", "--json"]),
        ("url=/user/1&as=envoy&as=nginx", vec!["/user/1", "--as", "envoy", "--as", "nginx"]),
        ("url=/user/1&as=ingress&format=json", vec!["/user/1", "--as", "ingress", "--json"]),
    ] {
        let page = get(eddy.admin(), &format!("/explain?{query}"));
        let output = run_to_end(&[&["explain", config], &arguments[..]].concat(), &eddy.path("."));
        assert_eq!(page.status, 200, "{}", page.text);
        assert_eq!(body(&page.text), body(&String::from_utf8(output.stdout).unwrap()), "{query}");
    }
    for (query, told) in [
        ("", "url="),
        ("?url=/a&method=G%20T", "the request is invalid"),
        ("?url=/a&listener=other", "there is no listener \"other\""),
        ("?url=/a&why_not=other", "there is no rule \"other\""),
        ("?url=/a&as=caddy", "unknown dialect \"caddy\""),
    ] {
        let page = get(eddy.admin(), &format!("/explain{query}"));
        assert_eq!((page.status, page.text.contains(told)), (400, true), "{query}: {}", page.text);
    }
}

#[test]
fn explain_uses_the_reloaded_configuration() {
    let mut eddy = EddyProcess::start(CONFIG);
    let asked = "/explain?url=/user/7";
    assert!(get(eddy.admin(), asked).text.contains("respond 201"));
    eddy.write_config(&CONFIG.replace("201", "204"));
    eddy.record("configuration reloaded");
    assert!(get(eddy.admin(), asked).text.contains("respond 204"));
}

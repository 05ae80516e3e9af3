//! Tests of files with thousands of problems: all are counted, some are shown.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fmt::Write;

use eddy_dialects::check;
use eddy_spec::problem::{Problem, SourceText};

const COUNT: usize = 4000;

/// Returns the problems of a file that repeats `line`, with `N` replaced by the number of the line.
fn problems(name: &str, head: &str, line: &str, tail: &str) -> Vec<Problem> {
    let mut text = head.to_owned();
    for number in 0..COUNT {
        write!(text, "{}", line.replace('N', &number.to_string())).unwrap();
    }
    text.push_str(tail);
    check(&[SourceText::new(name, &text)]).unwrap_err()
}

#[test]
fn all_problems_are_counted_and_a_thousand_are_shown() {
    let demo = "listeners: [{address: '127.0.0.1:0', demo: true}]\n";
    let route = "listeners: [{address: '127.0.0.1:0', routes: main}]\nclusters:\n  known: {endpoints: ['127.0.0.1:1']}\nroutes:\n  main:\n";
    for (name, head, line, tail) in [
        ("eddy.yaml", demo, "listenerxN: 1\n", ""),
        ("eddy.yaml", "{listeners: [{address: '127.0.0.1:0', demo: true}]", ", listenerxN: 1", "}\n"),
        ("eddy.yaml", "listeners:\n", "  - \n", ""),
        ("eddy.yaml", "listeners:\n", "  - 7\n", ""),
        ("eddy.yaml", route, "    - {match: {path: /N}, cluster: missing-N}\n", ""),
        ("envoy.yaml", "static_resources: {listeners: []}\n", "nodexN: 1\n", ""),
        ("envoy.yaml", "static_resources:\n  clusters:\n", "  - {name: cN, lb_policy: ROND_ROBIN}\n", ""),
        ("nginx.conf", "events {}\nhttp { server { listen 127.0.0.1:8080;\n", "proxy_pasN x;\n", "} }\n"),
        (
            "nginx.conf",
            "events {}\nhttp { server { listen 127.0.0.1:8080; location /p { return 200; }\n",
            "location /p { return 200; }\n",
            "} }\n",
        ),
        (
            "service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n",
            "specxN: 1\n",
            "",
        ),
    ] {
        let problems = problems(name, head, line, tail);
        assert!(problems.len() <= 1003, "{head}{line}: {} are shown", problems.len());
        // Some also have a problem that concerns the whole file, for example that there are no listeners.
        let errors = Problem::errors(&problems);
        assert!((COUNT..=COUNT + 1).contains(&errors), "{head}{line}: {errors} errors");
        let last = problems.iter().rfind(|problem| problem.count > 1).unwrap();
        assert_eq!(last.message, format!("{} more errors are not shown", errors - 1000));
    }
}

//! Golden files of `explain` and the survey: tables and queries, a line of dashes, the expected output.
//!
//! `UPDATE=1 cargo test` rewrites the output; review the difference before committing it.

use std::fmt::Write as _;
use std::path::Path;

use eddy_route::Listing;

use crate::notation::router;
use crate::request::RouteTestRequest;

#[test]
fn results_match_the_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let is_update = std::env::var_os("UPDATE").is_some();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let (input, expected) = text.split_once(DASHES).unwrap_or((&text, ""));
        let answer = answer(input);
        if is_update {
            std::fs::write(&path, format!("{input}{DASHES}{answer}")).unwrap();
        } else {
            assert_eq!(answer, expected, "{}; UPDATE=1 writes it anew", path.display());
        }
    }
}

/// Answers each query (`? ...`) on the rules above them.
fn answer(input: &str) -> String {
    let (questions, rules): (Vec<&str>, Vec<&str>) = input.lines().partition(|line| line.starts_with('?'));
    // Queries keep their lines, so that rules have the line numbers of the file.
    let router = router(&rules.join("\n"));
    let mut out = String::new();
    for question in questions {
        writeln!(out, "{question}").unwrap();
        let words: Vec<&str> = question[1..].split_whitespace().collect();
        match words[..] {
            ["explain", ..] => write!(out, "{}", explain(&router, &words[1..])).unwrap(),
            ["explain-all", ..] => write!(out, "{:#}", explain(&router, &words[1..])).unwrap(),
            ["explain-json", ..] => {
                let json = serde_json::to_string_pretty(&explain(&router, &words[1..])).unwrap();
                writeln!(out, "{json}").unwrap();
            }
            ["why-not", name, ..] => {
                for candidate in explain(&router, &words[2..]).why_not(name) {
                    writeln!(out, "{candidate}").unwrap();
                }
            }
            ["routes"] => {
                write!(out, "{}", Listing { rules: &router.ordered() }).unwrap();
            }
            ["routes-json"] => {
                let json = serde_json::to_string_pretty(&router.ordered()).unwrap();
                writeln!(out, "{json}").unwrap();
            }
            _ => panic!("no question {question}"),
        }
        out.push('\n');
    }
    out
}

/// Explains `METHOD HOST PATH[?QUERY] [name=value]...`; a path after `=>` is the one the client sent.
fn explain(router: &eddy_route::Router, words: &[&str]) -> eddy_route::Explanation {
    let [method, host, target, fields @ ..] = words else { panic!("{words:?}") };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut ask = RouteTestRequest::get(host, path).method(method).query(query);
    let mut sent = None;
    for field in fields {
        match field.split_once('=').unwrap() {
            ("sent", path) => sent = Some(path),
            (name, value) => ask = ask.field(name, value),
        }
    }
    let explanation = ask.with(|request| router.explain(request));
    match sent {
        Some(sent) => explanation.with_sent_path(sent.as_bytes()),
        None => explanation,
    }
}

/// Separator of queries and output.
const DASHES: &str = "----------\n";

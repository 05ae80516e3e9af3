//! Commands that finish at once: help, check, explain, routes, and the exit codes of all commands.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Directory, run_to_end};

const CONFIG: &str = "\
listeners: [{name: web, address: '127.0.0.1:8080', routes: site}]
routes:
  site:
    - {name: users, match: {path: {prefix: /user/}}, cluster: users}
    - {name: health, match: {path: {exact: /healthz}}, respond: {status: 200, body: ok}}
    - {name: rest, match: {path: {prefix: /}}, cluster: users, rewrite: {prefix: /all/}}
clusters:
  users: {endpoints: ['127.0.0.1:9001']}
";

/// Rules that other dialects order differently or cannot express.
const SPECIAL: &str = "\
listeners: [{name: web, address: '127.0.0.1:8080', routes: site}]
routes:
  site:
    - {name: all, match: {host: example.com}, respond: {status: 200}}
    - {name: some, match: {host: example.com, path: {regex: '/u.*'}}, respond: {status: 201}}
    - {name: users, match: {host: example.com, path: '/users/'}, respond: {status: 202}}
    - {name: one, match: {host: example.com, path: {template: '/users/{id}'}}, respond: {status: 203}}
";

fn run(arguments: &[&str]) -> (Output, Directory) {
    let directory = Directory::new();
    directory.write("eddy.yaml", CONFIG);
    directory.write("old.yaml", &CONFIG.replace("exact: /healthz", "exact: /health"));
    directory.write("special.yaml", SPECIAL);
    directory.write("broken.yaml", "listeners:\n  - {adress: '127.0.0.1:8080', routes: nowhere}\n");
    (run_to_end(arguments, directory.path()), directory)
}

fn check(arguments: &[&str], expected_code: i32) -> String {
    let (output, _directory) = run(arguments);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(expected_code), "{arguments:?}: {text}");
    text
}

/// Compares with `tests/golden/NAME`, or writes it when the variable `UPDATE` is set.
fn golden(name: &str, text: &str) {
    let path = golden_folder().join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(golden_folder()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} is not as it was; UPDATE=1 accepts it");
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn help_texts_match_the_golden_files() {
    golden("help.txt", &check(&["--help"], 0));
    for command in ["run", "check", "explain", "routes", "convert"] {
        golden(&format!("help-{command}.txt"), &check(&[command, "--help"], 0));
    }
    golden("help-filter.txt", &check(&["filter", "--help"], 0));
    for command in ["new", "build", "test"] {
        golden(&format!("help-filter-{command}.txt"), &check(&["filter", command, "--help"], 0));
    }
    golden("help-descriptors.txt", &check(&["descriptors", "--help"], 0));
    for command in ["fetch", "openapi"] {
        golden(&format!("help-descriptors-{command}.txt"), &check(&["descriptors", command, "--help"], 0));
    }
}

#[test]
fn the_version_is_printed() {
    assert_eq!(check(&["--version"], 0), format!("eddy {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_exits_with_2() {
    check(&[], 2);
    check(&["run"], 2);
    check(&["run", "eddy.yaml", "--handover-timeout", "soon"], 2);
    check(&["run", "eddy.yaml", "--log-level", "loud"], 2);
    assert!(check(&["explain", "eddy.yaml"], 2).contains("<URL>"));
    check(&["explain", "eddy.yaml", "--all"], 2);
    check(&["juggle"], 2);
}

#[test]
fn invalid_input_exits_with_1() {
    check(&["check", "missing.yaml"], 1);
    check(&["run", "missing.yaml"], 1);
    check(&["run", "--no-parent", "broken.yaml"], 1);
    check(&["routes", "broken.yaml"], 1);
    check(&["explain", "eddy.yaml", "/", "-H", "no colon"], 1);
    check(&["explain", "eddy.yaml", "/", "--listener", "nobody"], 1);
    check(&["explain", "eddy.yaml", "/", "--why-not", "nobody"], 1);
    check(&["explain", "eddy.yaml", "/a\r\nx: y"], 1);
    check(&["descriptors", "openapi", "missing.binpb"], 1);
    check(&["descriptors", "openapi", "eddy.yaml"], 1);
    check(&["gateway", "eddy.yaml"], 70);
}

#[test]
fn check_reports_position_and_problem() {
    golden("check-ok.txt", &check(&["check", "eddy.yaml"], 0));
    golden("check-broken.txt", &check(&["check", "broken.yaml"], 1));
    let json: serde_json::Value =
        serde_json::from_str(&check(&["check", "broken.yaml", "--json"], 1)).unwrap();
    let problem = &json["problems"][0];
    assert_eq!(
        (problem["path"].as_str(), problem["line"].as_u64()),
        (Some("broken.yaml"), Some(2)),
        "{json}"
    );
    let json: serde_json::Value = serde_json::from_str(&check(&["check", "eddy.yaml", "--json"], 0)).unwrap();
    assert!(json["problems"].is_array(), "{json}");
}

#[test]
fn run_reports_problems_like_check() {
    let shown = check(&["run", "broken.yaml"], 1);
    let checked = check(&["check", "broken.yaml"], 1);
    assert!(checked.starts_with(&shown), "{shown}\n{checked}");
}

#[test]
fn explain_names_winner_and_losers() {
    golden("explain.txt", &check(&["explain", "eddy.yaml", "http://example.com/user/1?x=y"], 0));
    golden("explain-rewrite.txt", &check(&["explain", "eddy.yaml", "/other", "-X", "POST"], 0));
    golden("explain-refused.txt", &check(&["explain", "eddy.yaml", "example.com/a/../b"], 0));
    golden("explain-all.txt", &check(&["explain", "eddy.yaml", "/healthz", "--all"], 0));
    let others = ["eddy", "envoy", "gateway-api", "ingress", "istio", "nginx"].map(|name| ["--as", name]);
    let asked = [&["explain", "special.yaml", "http://example.com/users/7"], others.as_flattened()].concat();
    golden("explain-as.txt", &check(&asked, 0));
    check(&["explain", "eddy.yaml", "/user/1", "--as", "caddy"], 2);
    // Options may stand anywhere.
    let asked = ["explain", "--all", "eddy.yaml", "-X", "POST", "/healthz"];
    let (before, after) =
        (check(&asked, 0), check(&["explain", "eddy.yaml", "/healthz", "-X", "POST", "--all"], 0));
    assert_eq!(before, after);
    check(&["explain", "eddy.yaml", "-H", "a: b", "http://example.com/user/1"], 0);
    let merged = check(&["explain", "eddy.yaml", "--all", "broken.yaml", "/users/1"], 1);
    assert!(merged.contains("broken.yaml:2"), "{merged}");
    golden("explain-why-not.txt", &check(&["explain", "eddy.yaml", "/user/1", "--why-not", "rest"], 0));
    let text = check(&["explain", "eddy.yaml", "/user/1", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let answer = &json["listeners"][0];
    assert_eq!(answer["listener"], "web");
    assert_eq!(answer["explanation"]["winner"]["rule"], "users");
    assert_eq!(answer["action"], "cluster users");
}

#[test]
fn the_scheme_of_a_url_chooses_among_listeners() {
    let directory = Directory::new();
    let certificate = "tls: {certificates: [{chain: none.crt, key: none.key}]}";
    directory.write(
        "eddy.yaml",
        &format!(
            "listeners:\n  - {{address: '127.0.0.1:8080', name: open, routes: site}}\n  - {{address: '127.0.0.1:8443', name: safe, routes: site, {certificate}}}\nroutes: {{site: [{{respond: {{status: 204}}}}]}}\n"
        ),
    );
    let listeners = |url: &str| -> Vec<String> {
        let output = run_to_end(&["explain", "eddy.yaml", url, "--json"], directory.path());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let listeners = json["listeners"].as_array().unwrap();
        listeners.iter().map(|one| one["listener"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listeners("https://a.test/"), ["safe"]);
    assert_eq!(listeners("http://a.test/"), ["open"]);
    assert_eq!(listeners("https://a.test:8080/"), ["open"]);
    assert_eq!(listeners("/"), ["open", "safe"]);
    // A named file that cannot be read is reported at the position of its name.
    let output = run_to_end(&["check", "eddy.yaml"], directory.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("none.crt`: it cannot be read") && said.contains("eddy.yaml:3:"), "{said}");
    let tried = directory.path().canonicalize().unwrap().join("none.crt");
    assert!(said.contains(&format!("it tried `{}`", tried.display())), "{said}");
}

#[test]
fn routes_lists_the_order() {
    golden("routes.txt", &check(&["routes", "eddy.yaml"], 0));
    let json: serde_json::Value =
        serde_json::from_str(&check(&["routes", "eddy.yaml", "--json"], 0)).unwrap();
    assert_eq!(json["listeners"][0]["rules"].as_array().unwrap().len(), 3, "{json}");
}

#[test]
fn routes_show_example_requests() {
    golden("routes-witness.txt", &check(&["routes", "eddy.yaml", "--witness", "rest"], 0));
    check(&["routes", "eddy.yaml", "--witness", "nobody"], 1);
    check(&["routes", "eddy.yaml", "--witness", "rest", "--diff", "eddy.yaml"], 2);
    golden("routes-diff.txt", &check(&["routes", "eddy.yaml", "--diff", "old.yaml"], 0));
    let same = check(&["routes", "eddy.yaml", "--diff", "eddy.yaml", "--json"], 0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&same).unwrap(), serde_json::json!([]));
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let directory = Directory::new();
    directory.write("eddy.yaml", CONFIG);
    let eddy = env!("CARGO_BIN_EXE_eddy");
    let command = format!("{{ '{eddy}' routes eddy.yaml --json; echo $? >code; }} | true");
    let status =
        std::process::Command::new("sh").args(["-c", &command]).current_dir(directory.path()).status();
    assert!(status.unwrap().success());
    assert_eq!(std::fs::read_to_string(directory.join("code")).unwrap(), "0\n");
}

#[test]
fn convert_writes_supported_features_and_reports_the_rest() {
    let (output, directory) = run(&["convert", "--to", "gateway-api", "eddy.yaml"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(output.stdout.is_empty() && told.contains("eddy.yaml:5: rule `health`"), "{told}");
    let partial = ["convert", "--to", "gateway-api", "--partial", "eddy.yaml"];
    let output = run_to_end(&partial, directory.path());
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("kind: HTTPRoute"));
    let again = run_to_end(&["convert", "--to", "eddy", "eddy.yaml"], directory.path());
    assert!(again.status.success());
    directory.write("again.yaml", &String::from_utf8_lossy(&again.stdout));
    let same = run_to_end(&["routes", "again.yaml", "--diff", "eddy.yaml"], directory.path());
    let text = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(text.contains("0 of 3 requests"), "{text}");
}

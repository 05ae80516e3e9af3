//! Every example is a valid configuration and documents how to try it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use eddy_dialects::check;
use eddy_spec::problem::SourceText;

/// Every folder of `examples/` with a configuration; a new one is added here and gets an end-to-end test.
const EXAMPLES: [&str; 8] = [
    "examples/api-gateway",
    "examples/canary",
    "examples/edge",
    "examples/field-routing",
    "examples/grpc",
    "examples/quickstart",
    "examples/redaction",
    "examples/transcoding",
];

#[test]
fn every_example_is_listed() {
    let found = fs::read_dir(root().join("examples")).unwrap();
    let found: BTreeSet<String> =
        found.map(|entry| format!("examples/{}", entry.unwrap().file_name().to_string_lossy())).collect();
    // Filters in several languages, which have tests of their own.
    let filters = "examples/filters".to_owned();
    assert_eq!(found, EXAMPLES.map(str::to_owned).into_iter().chain([filters]).collect());
}

#[test]
fn every_example_is_without_a_problem() {
    for example in EXAMPLES {
        let path = root().join(example).join("eddy.yaml");
        let text = fs::read_to_string(&path).unwrap();
        let sources = [SourceText::new(&path.to_string_lossy(), &text)];
        match check(&sources) {
            Ok(checked) => assert!(checked.warnings.is_empty(), "{example}: {:?}", checked.warnings),
            Err(problems) => panic!("{example}: {problems:?}"),
        }
        assert!(text.contains("\n# try: "), "{example} doesn't say how to try it");
    }
}

#[test]
fn the_quick_start_is_short() {
    let text = fs::read_to_string(root().join("examples/quickstart/eddy.yaml")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    assert!(lines.count() <= 12, "a quick start is read at a glance");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

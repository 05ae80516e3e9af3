//! Tests that the published schema and reference page match the declarations; `UPDATE=1` rewrites them.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::path::PathBuf;

fn check(file: &str, expected: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, expected).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    let first = published.lines().zip(expected.lines()).position(|(a, b)| a != b);
    assert!(
        published == expected,
        "{file} is not what the code says, from line {first:?} on; UPDATE=1 rewrites it"
    );
}

#[test]
fn the_schema_is_up_to_date() {
    check("eddy.schema.json", &eddy_spec::reference::schema());
}

#[test]
fn the_page_of_directives_is_up_to_date() {
    check("nginx-directives.md", &eddy_dialects::directives_page());
    check("ingress-nginx-annotations.md", &eddy_dialects::annotations_page());
}

#[test]
fn the_reference_page_is_up_to_date() {
    check("config.md", &eddy_spec::reference::reference_page());
}

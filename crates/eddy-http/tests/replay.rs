//! Runs the corpus of the fuzz targets, including former failures.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod fuzz;

use std::path::Path;

/// Runs every file of a target's directory.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut count = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        let outcome = std::panic::catch_unwind(|| run(&input));
        assert!(outcome.is_ok(), "{} fails", path.display());
        count += 1;
    }
    assert!(count > 0, "{target} has no inputs");
}

#[test]
fn request_heads() {
    replay("request_head", fuzz::request_head);
}

#[test]
fn response_heads() {
    replay("response_head", fuzz::response_head);
}

#[test]
fn chunked_bodies() {
    replay("chunked", fuzz::chunked);
}

#[test]
fn egress_checks() {
    replay("egress", fuzz::egress);
}

#[test]
fn forwarded_requests() {
    replay("forwarding", fuzz::forwarding);
}

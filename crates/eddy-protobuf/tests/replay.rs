//! Stored inputs of the fuzz targets, and random inputs.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod fuzz;

use std::path::Path;

/// Runs a target over its stored inputs, over each of their prefixes, and over random bytes.
fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let input = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=input.len()).for_each(|end| body(&input[..end]));
        count += 1;
    }
    assert!(count > 0, "no inputs are kept for {target}");
    let mut state = 1_u64;
    for length in (0..60).cycle().take(20_000) {
        let input: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let byte = state.to_be_bytes()[0];
                // Small bytes are tags and lengths.
                if state.to_be_bytes()[1] < 160 { byte & 0x1f } else { byte }
            })
            .collect();
        body(&input);
    }
}

#[test]
fn walks() {
    replay("protobuf_walk", fuzz::walk);
}

#[test]
fn to_json() {
    replay("protobuf_to_json", fuzz::to_json);
}

#[test]
fn from_json() {
    replay("protobuf_from_json", fuzz::from_json);
}

#[test]
fn frames() {
    replay("grpc_frames", fuzz::frames);
}

#[test]
fn requests_with_json() {
    replay("http_request", |data| {
        fuzz::http::request(data);
    });
}

#[test]
fn responses_with_json() {
    replay("http_response", |data| {
        fuzz::http::response(data);
    });
}

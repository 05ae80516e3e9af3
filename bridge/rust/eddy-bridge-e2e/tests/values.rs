//! Every type in both directions, by both calling mechanisms: the result equals the argument.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::Path;

use eddy_bridge_e2e::{Echo, ValueGenerator, View, Viewed, library};

fn echo() -> Echo {
    Echo::bind(&library(Path::new(env!("CARGO_TARGET_TMPDIR")))).unwrap()
}

/// Number of values of all types per test run.
const VALUES: u64 = 20_000;

#[test]
fn random_values_round_trip() {
    send(VALUES);
}

#[test]
#[ignore = "a million values take minutes: `cargo test -- --ignored`"]
fn a_million_values_round_trip() {
    send(1_000_000);
}

/// Sends values to Go only, to Go and on to Rust through cgo, and to Go and on to Rust through assembly.
fn send(count: u64) {
    let echo = echo();
    for seed in 0..count {
        let value = ValueGenerator::new(seed).every();
        let back = match seed % 3 {
            0 => echo.every(&value).unwrap(),
            1 => echo.every_by_rust(&value).unwrap(),
            _ => echo.every_by_short(&value).unwrap(),
        };
        assert!(value == back, "seed {seed}: {value:?} became {back:?}");
    }
}

#[test]
fn views_are_read_in_place() {
    let echo = echo();
    for seed in 0..VALUES {
        let mut random = ValueGenerator::new(seed);
        let (name, body, numbers, maybe) =
            (random.text(), random.bytes(), random.words(), random.perhaps(ValueGenerator::text));
        let view = View { name: &name, body: &body, numbers: &numbers, maybe: maybe.as_deref(), count: seed };
        let back = if seed % 2 == 0 { echo.view(&view).unwrap() } else { echo.view_by_rust(&view).unwrap() };
        assert_eq!(back, Viewed { name, body, numbers, maybe, count: seed }, "seed {seed}");
    }
}

#[test]
fn narrow_numbers_round_trip() {
    let echo = echo();
    for seed in 0..VALUES {
        let value = ValueGenerator::new(seed).narrow();
        let back = match seed % 3 {
            0 => echo.narrow(&value).unwrap(),
            1 => echo.narrow_by_rust(&value).unwrap(),
            _ => echo.narrow_by_short(&value).unwrap(),
        };
        assert_eq!(back, value, "seed {seed}");
    }
}

#[test]
fn lists_of_strings_are_passed() {
    let echo = echo();
    // Through cgo, up to 64 are copied on the caller's stack.
    for count in [0, 1, 2, 63, 64, 65, 500] {
        let names: Vec<String> = (0..count).map(|number| format!("{number}é;")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let joined = echo.join_by_rust(&names, &[1, u16::MAX], count == 1).unwrap();
        assert_eq!(joined, format!("{}[1, 65535]{}1.5255", names.concat(), count == 1));
    }
}

#[test]
fn the_stack_of_the_caller_may_move() {
    let echo = echo();
    for depth in [0, 1, 10, 100, 1000] {
        for text in ["", "short", &"longer than the room for an answer".repeat(20)] {
            assert_eq!(echo.back_by_rust(text, depth).unwrap(), text, "{depth} deep");
        }
    }
}

#[test]
fn arguments_of_all_kinds_are_passed() {
    let joined = echo().join("a", &[1, 2], &[-3, 4], &["x", "", "ü"], Some(7)).unwrap();
    assert_eq!(joined, "a[1 2] [-3 4]x;;ü;7");
    assert_eq!(echo().join("", &[], &[], &[], None).unwrap(), "[] []");
}

#[test]
fn large_values_round_trip() {
    let echo = echo();
    for length in [511 * 8, 512 * 8, 64 * 1024, 10 << 20] {
        let body = vec![7; length];
        let numbers: Vec<u32> = (0..300_000).collect();
        let view = View { name: "large", body: &body, numbers: &numbers, maybe: None, count: 0 };
        for back in [echo.view(&view).unwrap(), echo.view_by_rust(&view).unwrap()] {
            assert!(back.body == body && back.numbers == numbers, "{length} bytes");
        }
    }
}

#[test]
fn requests_beyond_the_frame_capacity_are_complete() {
    let echo = echo();
    for count in [200, 218, 219, 220, 221, 5000] {
        let joined = echo.join("", &[], &[], &vec!["name"; count], None).unwrap();
        assert_eq!(joined, format!("[] []{}", "name;".repeat(count)), "{count} names");
    }
}

#[test]
fn short_calls_return_results() {
    let echo = echo();
    echo.nothing().unwrap();
    assert_eq!(echo.add_by_rust(40, 2).unwrap(), 42);
    assert_eq!(echo.add_by_rust(u64::MAX, 1).unwrap(), 0);
}

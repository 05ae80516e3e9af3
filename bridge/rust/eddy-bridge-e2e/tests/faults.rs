//! A failure on one side is an error with its text on the other, and affects nothing else.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::Path;
use std::thread;

use eddy_bridge::{BindError, BridgeError, BridgeErrorKind, Go, MethodError, OpenError};
use eddy_bridge_e2e::{Echo, Refusal, ValueGenerator, library};

fn go() -> Go {
    library(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn echo() -> Echo {
    Echo::bind(&go()).unwrap()
}

#[test]
fn a_go_panic_is_an_error_with_its_text() {
    let fault = echo().explode("the end").unwrap_err();
    assert_eq!(fault, BridgeError::new(BridgeErrorKind::Panic, "the end"));
    let fault = echo().explode("nil").unwrap_err();
    assert!(fault.text.contains("nil pointer dereference"), "{fault}");
    let long = "so long ".repeat(10_000);
    assert_eq!(echo().explode(&long).unwrap_err().text, long);
}

#[test]
fn a_rust_panic_is_an_error_with_its_text() {
    assert_eq!(echo().explode_in_rust("the end").unwrap(), "the callee panicked: the end");
    assert_eq!(echo().explode_in_rust("").unwrap(), "said: there is no text");
}

#[test]
fn an_error_of_the_callee_is_returned_as_a_value() {
    assert_eq!(echo().refuse(0), Ok(()));
    let refusal = Refusal { code: 5, reason: "because".to_owned() };
    assert_eq!(echo().refuse(5), Err(MethodError::Said(refusal)));
}

#[test]
fn a_string_that_is_not_utf8_is_an_error() {
    let text = echo().invalid_in_rust().unwrap();
    assert!(text.starts_with("the message is invalid: a string is not UTF-8"), "{text}");
}

#[test]
fn services_are_found_by_name_and_declaration() {
    let absent = go().bind("Nobody", 1).unwrap_err();
    assert_eq!(absent, BindError::Absent { name: "Nobody".to_owned() });
    let different = go().bind("Echo", 1).unwrap_err();
    assert!(different.to_string().contains("from another declaration"), "{different}");
    assert!(matches!(go().bind(&"long".repeat(100), 1), Err(BindError::Name { .. })));
    let unknown = go().bind("Echo", Echo::SHAPE).unwrap().call::<(), ()>(99, &()).unwrap_err();
    assert_eq!(unknown, BridgeError::new(BridgeErrorKind::Unknown, "the Go library has no method number 99"));
}

#[test]
fn a_request_with_another_signature_is_malformed() {
    let service = go().bind("Echo", Echo::SHAPE).unwrap();
    for method in 1..7 {
        let fault = service.call::<(u8,), ()>(method, &(1,)).unwrap_err();
        assert_eq!(fault.kind, BridgeErrorKind::Malformed, "method {method}: {fault}");
    }
}

#[test]
fn a_second_library_is_refused() {
    go();
    let second = Go::open("/lib/x86_64-linux-gnu/libm.so.6").unwrap_err();
    assert!(matches!(second, OpenError::Second { .. }), "{second}");
}

#[test]
fn calls_tolerate_garbage_collection_and_thread_churn() {
    go();
    thread::scope(|scope| {
        let collecting = scope.spawn(|| {
            for _ in 0..300 {
                echo().collect().unwrap();
            }
        });
        let mut seed = 0;
        while !collecting.is_finished() {
            let threads: Vec<_> = (0..4)
                .map(|index| {
                    seed += 1;
                    thread::Builder::new()
                        .spawn_scoped(scope, move || {
                            let value = ValueGenerator::new(seed).every();
                            assert!(echo().every(&value).unwrap() == value, "seed {seed}");
                            assert!(echo().every_by_rust(&value).unwrap() == value, "seed {seed}");
                            assert!(echo().every_by_short(&value).unwrap() == value, "seed {seed}");
                            assert_eq!(echo().add_by_rust(seed, index).unwrap(), seed + index);
                        })
                        .unwrap()
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        }
    });
}

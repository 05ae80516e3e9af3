//! Opening libraries and creating filters: errors are reported, and have no other effect.

use std::path::Path;
use std::sync::Arc;

use eddy_filter::{FilterLibrary, LoadError};
use eddy_guest::{Guest, NativeLibrary, needs_new_process};

use super::support::{HOST, build, faults, host, make, next_id, reclaim_queue};

fn problem(name: &str, flags: &[&str]) -> String {
    NativeLibrary::open(&build(name, flags), &host()).unwrap_err().to_string()
}

#[test]
fn the_library_description_is_stored() {
    let library = faults();
    assert_eq!((library.name(), library.sdk(), library.toolchain()), ("libfaults.so", "faults 1.0", "cc"));
    assert!(library.filters().iter().any(|name| name == "pass") && !library.has_go());
}

#[test]
fn the_same_file_is_the_same_library() {
    let library = faults();
    let link = Path::new(env!("CARGO_TARGET_TMPDIR")).join("link.so");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(library.path(), &link).unwrap();
    assert!(Arc::ptr_eq(&library, &NativeLibrary::open(&link, &host()).unwrap()));
    assert!(!needs_new_process(library.path()));
}

#[test]
fn wrong_libraries_are_refused_with_the_reason() {
    for (name, flags, expected) in [
        ("nosymbol", &["-DFAULT_NO_SYMBOL", "-Wno-unused"][..], "it has no symbol `eddy_library_open`"),
        ("abi", &["-DFAULT_ABI"], "it was built for version 99 of the filter ABI, this eddy has version 1"),
        (
            "null",
            &["-DFAULT_NULL", "-Wno-unused"],
            "it does not support this version of eddy: needs a newer eddy",
        ),
        ("size", &["-DFAULT_SIZE"], "its library table has 24 bytes"),
        ("run", &["-DFAULT_RUN"], "its function `run` is missing"),
        ("names", &["-DFAULT_NAMES"], "its list of 1073741824 filters is invalid"),
        ("nofilters", &["-DFAULT_NO_FILTERS"], "it has no filters"),
        ("toolchain", &["-DFAULT_TOOLCHAIN"], "it was built with go1.19.4"),
        ("utf8", &["-DFAULT_UTF8"], "its sdk is not UTF-8"),
        (
            "undefined",
            &["-DFAULT_UNDEFINED", "-Dpause=eddy_nowhere", "-Wno-implicit-function-declaration"],
            "undefined symbol: eddy_nowhere",
        ),
    ] {
        let message = problem(name, flags);
        assert!(
            message.contains(expected) && message.contains("cannot use the library"),
            "{name}: {message}"
        );
    }
}

#[test]
fn a_file_that_is_not_a_library_is_refused() {
    let open = |path: &str| NativeLibrary::open(Path::new(path), &host()).unwrap_err().to_string();
    assert!(open("/nowhere/x.so").contains("No such file"));
    assert!(open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).contains("not a shared library"));
}

#[test]
fn a_library_that_was_replaced_needs_a_new_process() {
    let path = build("replaced", &[]);
    NativeLibrary::open(&path, &host()).unwrap();
    assert!(!needs_new_process(&path));
    std::fs::remove_file(&path).unwrap();
    assert!(!needs_new_process(&path), "what is not there is told when it is opened");
    build("replaced", &["-O1"]);
    assert!(needs_new_process(&path));
    let message = NativeLibrary::open(&path, &host()).unwrap_err().to_string();
    assert!(message.contains("after this process opened it"), "{message}");
}

#[test]
fn filter_creation_errors_have_a_reason() {
    let make = |name: &str| faults().filter(name, "null", next_id(), &reclaim_queue()).unwrap_err();
    let LoadError::UnknownFilter { name, known, .. } = make("nobody") else { panic!("another error") };
    assert!(name == "nobody" && known.starts_with("pass, set, "));
    assert_eq!(make("refuse").to_string(), "the password is missing");
    assert_eq!(make("silent").to_string(), "the filter gave no reason (result -42)");
    assert_eq!(make("long-error").to_string(), "the filter gave no reason (result -1)");
    assert_eq!(make("no-number").to_string(), "the library returned no number for a new filter");
}

#[test]
fn dropped_objects_are_freed_on_the_reclaim_thread_configurations_first() {
    let library = faults();
    let (sender, woken) = std::sync::mpsc::channel();
    let reclaim_queue = eddy_guest::ReclaimQueue::new(move || sender.send(()).unwrap());
    let id = next_id();
    let made = library.filter("config", "null", id, &reclaim_queue).unwrap();
    assert!(made.info.keeps_length && made.info.interest.has(eddy_filter::Phase::Log));
    let refused = library.rule_config(made.number, &made.owner, "1", &reclaim_queue).unwrap_err();
    assert_eq!(refused.to_string(), "the rule says too little");
    let (_, owner) = library.rule_config(made.number, &made.owner, "{\"a\": 1}", &reclaim_queue).unwrap();
    drop(made);
    assert!(woken.try_recv().is_err(), "the rule's configuration keeps the filter");
    std::thread::spawn(move || drop(owner)).join().unwrap();
    assert_eq!(woken.try_iter().count(), 2);
    assert_eq!(HOST.logged_by(id), Vec::<String>::new());
    reclaim_queue.drain();
    assert_eq!(HOST.logged_by(id), ["config freed", "filter freed"]);
}

#[test]
fn events_reach_the_library() {
    let (_, id) = make("pass", "null");
    let event = eddy_filter::FilterEvent {
        kind: eddy_filter::EventKind::Failed,
        filter: id,
        token: 12,
        worker: 1,
        status: 0,
        fields: eddy_http::Fields::default(),
        body: b"timeout",
    };
    faults().event(&event);
    assert_eq!(HOST.logged_by(id), ["event 2 12 0 timeout"]);
    eddy_guest::stop_all();
    assert!(HOST.logged_by(0).contains(&"stopped".to_owned()));
}

//! Filters from libraries: tried out in a process of their own, and what happens when they are at fault.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Directory, Eddy, Launch, get, run_to_end};
use rustix::process::Signal;

/// Builds the library of faults of `eddy-guest` with these flags.
fn faults(directory: &Directory, name: &str, flags: &[&str]) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let library = directory.join(name);
    let built = Command::new("cc")
        .args(["-std=gnu11", "-fPIC", "-shared", "-pthread", "-w"])
        .args(flags)
        .arg("-I")
        .arg(crates.join("../abi"))
        .arg("-o")
        .arg(&library)
        .arg(crates.join("eddy-guest/tests/native/faults.c"))
        .status()
        .expect("eddy's tests need a C compiler by the name of cc");
    assert!(built.success(), "the library of faults does not compile");
    library
}

fn config(filter: &str, library: &Path, settings: &str) -> String {
    let library = library.display();
    format!(
        "workers: 2\ndrain_timeout: 1s\nlisteners:\n  - {{address: '127.0.0.1:0', demo: true, filters: [it]}}\nfilters:\n  it:\n    \
         native: {{filter: {filter}, library: '{library}'}}\n    config: '{settings}'\n"
    )
}

/// What `eddy check` says of a filter, and how long it takes for it.
fn check(filter: &str, flags: &[&str], settings: &str) -> (Option<i32>, String, Duration) {
    let directory = Directory::new();
    let library = faults(&directory, "libfaults.so", flags);
    directory.write("eddy.yaml", &config(filter, &library, settings));
    let begun = Instant::now();
    let output = run_to_end(&["check", "eddy.yaml"], directory.path());
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), text, begun.elapsed())
}

#[test]
fn good_filters_are_well() {
    let (code, text, _) = check("set", &[], "{}");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn whatever_is_wrong_with_a_filter_is_said() {
    for (filter, flags, settings, expected) in [
        ("nobody", &[][..], "", "has no filter \"nobody\"; it has: pass, set"),
        ("refuse", &[], "", "the password is missing"),
        ("set", &["-DFAULT_ABI"], "", "built for version 99 of the contract"),
        ("set", &["-DFAULT_NO_SYMBOL"], "", "no symbol `eddy_library_open`"),
        ("set", &["-DFAULT_NULL"], "", "cannot work with this eddy: needs a newer eddy"),
        ("set", &["-DFAULT_TOOLCHAIN"], "", "filters in Go need at least go1.24"),
        ("set", &["-Dpause=eddy_nowhere"], "", "undefined symbol: eddy_nowhere"),
        ("crash", &[], "early", "by signal 11 (SIGSEGV)"),
        ("set", &["-DFAULT_INIT_ABORT"], "", "by signal 6 (SIGABRT)"),
    ] {
        let (code, text, _) = check(filter, flags, settings);
        assert_eq!(code, Some(1), "{filter} {flags:?}: {text}");
        assert!(text.contains(expected) && text.contains("filter \"it\""), "{filter} {flags:?}: {text}");
        assert!(text.contains("eddy.yaml:6:3"), "{filter} {flags:?}: {text}");
    }
    let (_, text, _) = check("set", &["-DFAULT_INIT_ABORT"], "");
    assert!(text.contains("it said: libfaults: no licence found"), "{text}");
}

#[test]
fn a_filter_that_hangs_is_given_up() {
    for (filter, flags, settings) in [("set", &["-DFAULT_INIT_HANG"][..], ""), ("hang", &[], "early")] {
        let (code, text, time) = check(filter, flags, settings);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("takes more than 5 s"), "{text}");
        assert!(time < Duration::from_secs(15), "{time:?}");
    }
}

#[test]
fn a_bad_library_changes_nothing_at_a_reload() {
    let libraries = Directory::new();
    let good = faults(&libraries, "libgood.so", &[]);
    let bad = faults(&libraries, "libbad.so", &["-DFAULT_INIT_ABORT"]);
    let mut eddy = Eddy::launch(&config("set", &good, "{}"), Launch::default());
    let gateway = eddy.gateway();
    eddy.write_config(&config("set", &bad, "{}"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration rejected; the last good one stays in force");
    assert!(eddy.log().contains("by signal 6 (SIGABRT)"), "{}", eddy.log());
    assert_eq!(eddy.gateway(), gateway);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    eddy.stop();
}

#[test]
fn a_process_ends_well_with_filters_and_blocks_signals_in_all_threads() {
    let libraries = Directory::new();
    let eddy =
        Eddy::launch(&config("set", &faults(&libraries, "libfaults.so", &[]), "{}"), Launch::default());
    let tasks = format!("/proc/{}/task", eddy.gateway().as_raw_nonzero());
    // HUP, INT, QUIT, USR1, USR2, TERM and CHLD, as `/proc` numbers their bits; URG and PROF are a Go runtime's own.
    let asynchronous: u64 = [1, 2, 3, 10, 12, 15, 17].iter().map(|signal| 1_u64 << (signal - 1)).sum();
    for task in std::fs::read_dir(tasks).unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
        let blocked = u64::from_str_radix(blocked, 16).unwrap();
        assert_eq!(blocked & asynchronous, asynchronous, "{status}");
    }
    eddy.stop();
}

//! Filters from libraries: probed in a separate process, and the effects of their failures.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{BackgroundLoad, DEADLINE, Directory, EddyProcess, get, run_to_end, try_get};
use rustix::process::Signal;

/// Builds the library of faulty filters of `eddy-guest` with these flags.
pub(crate) fn faults(directory: &Directory, name: &str, flags: &[&str]) -> PathBuf {
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
        "\
workers: 2
drain_timeout: 1s
filters:
  it:
    native: {{filter: {filter}, library: '{library}'}}
    config: '{settings}'
listeners:
  - {{address: '127.0.0.1:0', routes: site, filters: [it]}}
routes:
  site:
    - {{match: {{path: {{prefix: /}}}}, respond: {{status: 200, body: ok}}}}
"
    )
}

/// Returns exit code, output and duration of `eddy check` for a filter.
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
fn valid_filters_pass_the_check() {
    let (code, text, _) = check("set", &[], "{}");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn filter_problems_are_reported() {
    for (filter, flags, settings, expected) in [
        ("nobody", &[][..], "", "has no filter \"nobody\"; it has: pass, set"),
        ("refuse", &[], "", "the password is missing"),
        ("set", &["-DFAULT_ABI"], "", "built for version 99 of the filter ABI"),
        ("set", &["-DFAULT_NO_SYMBOL"], "", "no symbol `eddy_library_open`"),
        ("set", &["-DFAULT_NULL"], "", "it does not support this version of eddy: needs a newer eddy"),
        ("set", &["-DFAULT_TOOLCHAIN"], "", "Go filters need at least go1.24"),
        ("set", &["-Dpause=eddy_nowhere"], "", "undefined symbol: eddy_nowhere"),
        ("crash", &[], "early", ": signal 11 (SIGSEGV)"),
        ("set", &["-DFAULT_INIT_ABORT"], "", ": signal 6 (SIGABRT)"),
    ] {
        let (code, text, _) = check(filter, flags, settings);
        assert_eq!(code, Some(1), "{filter} {flags:?}: {text}");
        assert!(text.contains(expected) && text.contains("filter \"it\""), "{filter} {flags:?}: {text}");
        // What a filter refuses is its configuration.
        let place = if filter == "refuse" { "eddy.yaml:6:5" } else { "eddy.yaml:4:3" };
        assert!(text.contains(place), "{filter} {flags:?}: {text}");
    }
    let (_, text, _) = check("set", &["-DFAULT_INIT_ABORT"], "");
    assert!(text.contains("its output: libfaults: no licence found"), "{text}");
}

#[test]
fn the_check_of_a_hanging_filter_times_out() {
    for (filter, flags, settings) in [("set", &["-DFAULT_INIT_HANG"][..], ""), ("hang", &[], "early")] {
        let (code, text, time) = check(filter, flags, settings);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("took longer than 5 s"), "{text}");
        assert!(time < Duration::from_secs(15), "{time:?}");
    }
}

#[test]
fn a_bad_library_changes_nothing_at_a_reload() {
    let libraries = Directory::new();
    let good = faults(&libraries, "libgood.so", &[]);
    let bad = faults(&libraries, "libbad.so", &["-DFAULT_INIT_ABORT"]);
    let mut eddy = EddyProcess::start(&config("set", &good, "{}"));
    let gateway = eddy.gateway();
    eddy.write_config(&config("set", &bad, "{}"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration rejected; the last good one stays in force");
    assert!(eddy.log().contains(": signal 6 (SIGABRT)"), "{}", eddy.log());
    assert_eq!(eddy.gateway(), gateway);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    eddy.stop();
}

#[test]
fn a_process_with_filters_exits_cleanly_and_blocks_signals_in_all_threads() {
    let libraries = Directory::new();
    let eddy = EddyProcess::start(&config("set", &faults(&libraries, "libfaults.so", &[]), "{}"));
    let tasks = format!("/proc/{}/task", eddy.gateway().as_raw_nonzero());
    // HUP, INT, QUIT, USR1, USR2, TERM and CHLD, as `/proc` numbers their bits; URG and PROF belong to the Go runtime.
    let asynchronous: u64 = [1, 2, 3, 10, 12, 15, 17].iter().map(|signal| 1_u64 << (signal - 1)).sum();
    for task in std::fs::read_dir(tasks).unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
        let blocked = u64::from_str_radix(blocked, 16).unwrap();
        assert_eq!(blocked & asynchronous, asynchronous, "{status}");
    }
    eddy.stop();
}

#[test]
fn a_filter_responds_and_the_process_exits_cleanly_under_load() {
    let libraries = Directory::new();
    let eddy = EddyProcess::start(&config("reply", &faults(&libraries, "libfaults.so", &[]), "{}"));
    let address = eddy.address();
    assert_eq!(get(address, "/fixed").status, 403);
    // Requests fail once eddy has ended.
    let clients = BackgroundLoad::start(4, move || drop(try_get(address, "/fixed")));
    eddy.stop();
    clients.stop();
}

#[test]
fn a_crashing_filter_is_named_and_the_process_replaced() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    for (filter, cause) in
        [("crash", "signal 11 (SIGSEGV)"), ("abort", "signal 6 (SIGABRT)"), ("exit", "exit code 3")]
    {
        let mut eddy = EddyProcess::start(&config(filter, &library, "{}"));
        let before = eddy.gateway();
        let crashed = Instant::now();
        assert!(try_get(eddy.address(), "/fixed").is_err());
        let died = eddy.record("gateway process ended unexpectedly; another one replaces it");
        eddy.record("ready");
        let silence = crashed.elapsed();
        assert_eq!((died["filter"].as_str(), died["cause"].as_str()), (Some("it"), Some(cause)), "{died}");
        assert_ne!(eddy.gateway(), before);
        println!("{filter}: another process serves after {silence:?}");
        // 300 ms on an idle machine, which tests do not have.
        assert!(silence < Duration::from_secs(2), "{silence:?} without a gateway");
    }
}

#[test]
fn a_hanging_filter_is_named_and_the_process_replaced() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let mut eddy = EddyProcess::start(&config("hang", &library, "{}"));
    let address = eddy.address();
    let client = std::thread::spawn(move || try_get(address, "/fixed").is_err());
    let held = eddy.record_where("held", |record| record["held_ms"].is_u64());
    assert_eq!((held["filter"].as_str(), held["level"].as_str()), (Some("it"), Some("warn")), "{held}");
    let held = eddy.record_where("held", |record| record["held_ms"].is_u64());
    assert!(held["held_ms"].as_u64().unwrap() >= 1000, "{held}");
    let hung = eddy.record("a worker hangs; its process is killed");
    assert_eq!(hung["filter"], "it", "{hung}");
    let died = eddy.record("gateway process ended unexpectedly; another one replaces it");
    assert_eq!(died["filter"], "it", "{died}");
    eddy.record("ready");
    assert!(client.join().unwrap());
}

#[test]
fn a_changed_library_is_loaded_by_a_new_process() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let mut eddy = EddyProcess::start(&config("reply", &library, "{}"));
    let before = eddy.gateway();
    assert_eq!(get(eddy.address(), "/fixed").status, 403);
    // A new file at the same path, as linkers create it.
    let fresh = faults(&libraries, "fresh.so", &["-O1"]);
    std::fs::rename(&fresh, &library).unwrap();
    eddy.signal(Signal::HUP);
    eddy.record("filter libraries renewed; the previous process drains");
    assert_ne!(eddy.gateway(), before);
    assert_eq!(get(eddy.address(), "/fixed").status, 403);
    // An additional library needs no new process.
    let other = faults(&libraries, "libother.so", &[]);
    let now = eddy.gateway();
    eddy.write_config(&config("reply", &other, "{}"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration reloaded");
    assert_eq!(eddy.gateway(), now);
    assert_eq!(get(eddy.address(), "/fixed").status, 403);
    eddy.stop();
}

/// Builds the library of faulty filters in Go; returns `None` without Go, which skips the test.
fn go_faults(directory: &Directory, name: &str) -> Option<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    go_library(&crates.join("eddy-guest/tests/golang/faults"), directory.join(name))
}

/// Builds the library of a Go package; returns `None` without Go, which skips the test.
pub(crate) fn go_library(package: &Path, library: PathBuf) -> Option<PathBuf> {
    if !test_peers::all_present(&[test_peers::GO]).unwrap() {
        return None;
    }
    let built = Command::new("go")
        .current_dir(package)
        .args(["build", "-buildmode=c-shared", "-o"])
        .arg(&library)
        .arg(".")
        .status();
    assert!(built.unwrap().success(), "the library in Go does not compile");
    Some(library)
}

fn go_config(filter: &str, library: &Path) -> String {
    config(filter, library, "{}").replace("native:", "go:")
}

#[test]
fn another_go_bundle_is_loaded_by_a_new_process_under_load() {
    let libraries = Directory::new();
    let Some(library) = go_faults(&libraries, "libone.so") else { return };
    let other = libraries.join("libtwo.so");
    std::fs::copy(&library, &other).unwrap();
    let mut eddy = EddyProcess::start(&go_config("collect", &library));
    let (address, before) = (eddy.address(), eddy.gateway());
    let clients = BackgroundLoad::start(4, move || assert_eq!(get(address, "/fixed").status, 200));
    eddy.write_config(&go_config("collect", &other));
    eddy.signal(Signal::HUP);
    eddy.record("filter libraries renewed; the previous process drains");
    // A runtime that is busy until the very end must not cause an abnormal exit.
    let ended = eddy.record("gateway process has drained and ended");
    assert_eq!(ended["gateway"], before.as_raw_nonzero().get(), "{ended}");
    assert_ne!(eddy.gateway(), before);
    clients.stop();
    eddy.stop();
}

#[test]
fn a_panic_in_a_hook_is_an_error_response_and_not_a_crash() {
    let libraries = Directory::new();
    let Some(library) = go_faults(&libraries, "libgo.so") else { return };
    let eddy = EddyProcess::start(&go_config("panic-run", &library));
    let before = eddy.gateway();
    for _ in 0..20 {
        assert_eq!(get(eddy.address(), "/fixed").status, 500);
    }
    assert_eq!(eddy.gateway(), before);
    eddy.stop();
}

#[test]
fn a_panic_in_a_goroutine_names_its_package() {
    let libraries = Directory::new();
    let Some(library) = go_faults(&libraries, "libgo.so") else { return };
    let mut eddy = EddyProcess::start(&go_config("panic-goroutine", &library));
    let _ = try_get(eddy.address(), "/fixed");
    let died = eddy.record("gateway process ended unexpectedly; another one replaces it");
    assert!(died["said"].as_str().unwrap().starts_with("panic: in a goroutine"), "{died}");
    assert_eq!(died["at"], "main.refresh", "{died}");
    eddy.record("ready");
}

/// A goroutine that was called from C cannot exit and return to C, so the process is lost: at once, and with the
/// filter's name.
#[test]
fn goexit_in_a_hook_is_a_filter_fault_and_not_a_hang() {
    let libraries = Directory::new();
    let Some(library) = go_faults(&libraries, "libgo.so") else { return };
    for filter in ["exit-run", "exit-ended"] {
        let mut eddy = EddyProcess::start(&go_config(filter, &library));
        let entered = Instant::now();
        let _ = try_get(eddy.address(), "/fixed");
        // The last output of the process may be lost with it; the data that its parent has is not.
        let died = eddy.record("gateway process ended unexpectedly; another one replaces it");
        assert_eq!(died["filter"], "it", "{died}");
        assert!(died["said"].as_str().unwrap().contains("runtime.Goexit"), "{died}");
        eddy.record("ready");
        // Far less than the watchdog needs to detect a hanging worker.
        assert!(entered.elapsed() < Duration::from_secs(4), "{:?}", entered.elapsed());
        eddy.stop();
    }
}

/// Returns the value of a metric without labels.
fn figure(eddy: &EddyProcess, name: &str) -> i64 {
    let text = get(eddy.admin(), "/metrics").text;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

#[test]
fn the_go_runtime_is_shown_and_limited() {
    let libraries = Directory::new();
    let Some(library) = go_faults(&libraries, "libgo.so") else { return };
    let text = go_config("collect", &library) + "admin: {address: '127.0.0.2:0'}\n";
    let limits = ["", "limits: {go_memory_percent: 25}\n"].map(|limits| {
        let eddy = EddyProcess::start(&format!("{text}{limits}"));
        assert!(figure(&eddy, "eddy_library_go_goroutines") > 0);
        let heap = figure(&eddy, "eddy_library_go_heap_bytes");
        assert!(figure(&eddy, "eddy_library_go_memory_bytes") > heap && heap > 0);
        // The filter runs a garbage collection in each request, which is shown a second later at most.
        let before = figure(&eddy, "eddy_library_go_collections_total");
        let begun = Instant::now();
        while figure(&eddy, "eddy_library_go_collections_total") < before + 10 {
            assert_eq!(get(eddy.address(), "/fixed").status, 200);
            assert!(begun.elapsed() < DEADLINE, "no collection is shown");
        }
        assert!(figure(&eddy, "eddy_library_go_pause_nanoseconds_total") > 0);
        let page = get(eddy.admin(), "/filters").text;
        assert!(page.contains("\"go_goroutines\""), "{page}");
        let limit = figure(&eddy, "eddy_library_go_memory_limit_bytes");
        eddy.stop();
        limit
    });
    // Percentages of the available memory, which has not changed between the two.
    assert!(limits[0] > 0 && (limits[0] - 2 * limits[1]).abs() <= 2, "{limits:?}");
}

#[test]
fn metrics_of_filters_are_shown_by_name() {
    let libraries = Directory::new();
    let library = faults(&libraries, "libfaults.so", &[]);
    let text = config("metric", &library, "{}") + "admin: {address: '127.0.0.2:0'}\n";
    let mut eddy = EddyProcess::start(&text);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    let shown = || get(eddy.admin(), "/metrics").text;
    let count = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("eddy_filter_hits{filter=\"it\"} "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = count(&shown());
    assert!(before >= 3);
    // A filter that is created again continues its count.
    eddy.write_config(&text.replace("'{}'", "'{\"other\": 1}'"));
    eddy.signal(Signal::HUP);
    eddy.record("configuration reloaded");
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    assert!(count(&get(eddy.admin(), "/metrics").text) > before);
    eddy.stop();
}

//! Panics of Go filters in each entry point.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use eddy_filter::{
    EndReason, EndedExchange, ExchangeInfo, ExchangeView, FilterEdit, FilterInvocation, FilterLibrary, Phase,
    Verdict,
};
use eddy_guest::{CreatedFilter, GoRuntime, Guest, NativeLibrary, go_runtime, needs_new_process};

use super::build::{Into, build};
use super::support::{HOST, host, next_id, reclaim_queue, run_in};

/// Opens the library; `None` if Go is not installed.
fn library() -> Option<Arc<NativeLibrary>> {
    static LIBRARY: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        build("crates/eddy-guest/tests/golang/faults", ".", Into::Library, "libgofaults.so")
    });
    let path = LIBRARY.as_ref()?;
    Some(NativeLibrary::open(path, &host()).unwrap())
}

fn view() -> ExchangeView<'static> {
    ExchangeView {
        phase: Phase::RequestHead,
        is_end: true,
        is_buffered: false,
        request: eddy_filter::RequestView { target: b"/", method_name: b"GET", ..Default::default() },
        response: None,
        trailers: eddy_http::Fields::default(),
        body: b"",
        facts: &ExchangeInfo::UNKNOWN,
    }
}

fn made(library: &NativeLibrary, name: &str) -> (CreatedFilter, FilterInvocation) {
    let id = next_id();
    let made = library.filter(name, "{}", id, &reclaim_queue()).unwrap();
    let step = FilterInvocation { filter: made.number, id, ..FilterInvocation::default() };
    (made, step)
}

#[test]
fn a_panic_in_a_hook_fails_only_that_filter() {
    let Some(library) = library() else { return };
    for (name, said) in [("panic-run", "in Run"), ("panic-nil", "nil pointer")] {
        let filters = [made(&library, "set"), made(&library, name), made(&library, "set")];
        for _ in 0..1000 {
            let mut steps = [filters[0].1, filters[1].1, filters[2].1];
            let outcome = run_in(&library, &mut steps, Some(&view()), &[]);
            assert_eq!((outcome.stopped, outcome.current), (1, 0));
            assert_eq!(outcome.steps[1].verdict, Verdict::Fault);
            let edits: Vec<FilterEdit<'_>> =
                outcome.edits.records().map(|record| record.unwrap().edit).collect();
            let [FilterEdit::Set { .. }, FilterEdit::Fault(why)] = edits[..] else { panic!("{edits:?}") };
            assert!(String::from_utf8_lossy(why).contains(said), "{}", String::from_utf8_lossy(why));
        }
    }
}

#[test]
fn a_panic_outside_of_hooks_is_an_error_or_a_log_entry() {
    let Some(library) = library() else { return };
    let error = library.filter("panic-new", "{}", next_id(), &reclaim_queue()).unwrap_err().to_string();
    assert!(error.contains("in New"), "{error}");
    let (filter, _) = made(&library, "panic-config");
    let error =
        library.rule_config(filter.number, &filter.owner, "{}", &reclaim_queue()).unwrap_err().to_string();
    assert!(error.contains("in NewConfig"), "{error}");

    let yard = reclaim_queue();
    let of_rule = library.filter("panic-free", "{}", next_id(), &yard).unwrap();
    drop(library.rule_config(of_rule.number, &of_rule.owner, "\"panic\"", &yard).unwrap());
    drop(of_rule);
    yard.drain();

    let (ending, step) = made(&library, "panic-ended");
    let ended = [EndedExchange { filter: ending.number, state: 5, reason: EndReason::Cut }];
    run_in(&library, &mut [step], Some(&view()), &ended);
    run_in(&library, &mut [], None, &ended);
    let said = || HOST.said.lock().unwrap().iter().map(|(.., text)| format!("{text}\n")).collect::<String>();
    for expected in ["in Close", "in Close of a configuration", "in Ended"] {
        assert!(said().contains(expected), "{expected}: {}", said());
    }
    eddy_guest::stop_all();
    assert!(said().contains("at the end"), "{}", said());
}

#[test]
fn goexit_during_filter_creation_is_an_error() {
    let Some(library) = library() else { return };
    let error = library.filter("exit-new", "{}", next_id(), &reclaim_queue()).unwrap_err().to_string();
    assert!(error.contains("filter exit-new called runtime.Goexit"), "{error}");
    let (filter, _) = made(&library, "exit-config");
    let error =
        library.rule_config(filter.number, &filter.owner, "{}", &reclaim_queue()).unwrap_err().to_string();
    assert!(error.contains("a rule called runtime.Goexit"), "{error}");
    let yard = reclaim_queue();
    drop(library.filter("exit-free", "{}", next_id(), &yard).unwrap());
    yard.drain();
    let said = HOST.said.lock().unwrap().iter().map(|(.., text)| format!("{text}\n")).collect::<String>();
    assert!(said.contains("closing: exit-free called runtime.Goexit"), "{said}");
}

#[test]
fn a_second_runtime_is_refused_before_it_starts() {
    let Some(library) = library() else { return };
    assert!(library.has_go() && library.toolchain().starts_with("go1."));
    assert_eq!(go_runtime(library.path()).unwrap(), GoRuntime::Inside);
    let copy = library.path().with_file_name("libgocopy.so");
    std::fs::copy(library.path(), &copy).unwrap();
    assert!(needs_new_process(&copy));
    let error = NativeLibrary::open(&copy, &host()).unwrap_err().to_string();
    assert!(error.contains("a process can have only one Go runtime"), "{error}");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("libgofaults.so") && !maps.contains("libgocopy.so"));
}

#[test]
fn views_are_safe_during_garbage_collection_on_many_threads() {
    let Some(library) = library() else { return };
    let filters = [made(&library, "collect"), made(&library, "state"), made(&library, "set")];
    let steps = [filters[0].1, filters[1].1, filters[2].1];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let outcome = run_in(&library, &mut steps.clone(), Some(&view()), &[]);
                    assert_eq!((outcome.stopped, outcome.steps[1].state), (3, 5));
                    assert_eq!(outcome.set("x-guest").as_deref(), Some("seen"));
                }
            });
        }
    });
    let edits = run_in(&library, &mut steps.clone(), Some(&view()), &[]);
    assert_eq!(edits.edits.records().count(), 2);
    assert!(library.name().ends_with(".so"));
}

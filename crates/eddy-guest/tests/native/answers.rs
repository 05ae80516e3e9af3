//! Entering filters: their views, their results, and the handling of invalid results.

use std::process::Command;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use eddy_filter::{
    DynamicMetadata, EditLog, EndReason, EndedExchange, ExchangeInfo, ExchangeView, FilterEdit,
    FilterInvocation, FilterLibrary, Handle, LibraryCall, Phase, RequestView, ResponseView, Verdict,
};
use eddy_guest::{CreatedFilter, Guest, NativeLibrary};
use eddy_http::{Field, FieldId, Fields, Method, Span, Version};

use super::support::{
    HOST, SANITIZER, build, enter, faults, host, make, next_id, reclaim_queue, run, run_in, run_with,
};

const HEAD: &[u8] = b"GET /a?b HTTP/1.1\r\nHost: example\r\nX-Key: value\r\n\r\n";

fn field(name: &str, value: &str, id: FieldId) -> Field {
    let find = |text: &str| {
        let start = HEAD.windows(text.len()).position(|part| part == text.as_bytes()).unwrap();
        Span::new(start, start + text.len())
    };
    Field { name: find(name), value: find(value), id, ..Field::default() }
}

fn with_view<T>(phase: Phase, look: impl FnOnce(&ExchangeView<'_>) -> T) -> T {
    let places = [field("Host", "example", FieldId::Host), field("X-Key", "value", FieldId::Other)];
    let mut metadata = DynamicMetadata::new();
    metadata.set(b"auth", b"user", b"\"a\"").unwrap();
    let view = ExchangeView {
        phase,
        is_end: true,
        is_buffered: false,
        request: RequestView {
            fields: Fields::new(HEAD, &places),
            method: Method::Get,
            method_name: b"GET",
            target: b"/a?b",
            authority: b"example",
            version: Version::Http11,
            is_tls: false,
        },
        response: (phase > Phase::RequestTrailers).then(|| ResponseView {
            fields: Fields::default(),
            status: 404,
            is_local: true,
        }),
        trailers: Fields::default(),
        body: b"",
        facts: &ExchangeInfo {
            peer: b"192.0.2.1:7",
            metadata: Some(&metadata),
            started_unix_us: 1234,
            ..ExchangeInfo::UNKNOWN
        },
    };
    look(&view)
}

#[test]
fn a_filter_sees_the_unchanged_message() {
    let seen =
        |phase| with_view(phase, |view| enter(&[make("summary", "null")], Some(view), &[]).set("summary"));
    let request =
        "GET http example /a?b [Host(1)=example;X-Key(0)=value;][]  192.0.2.1:7 1234 auth.user=\"a\"";
    assert_eq!(seen(Phase::RequestHead).unwrap(), format!("0/3/11/1/0/100000200000003/9 {request}"));
    assert_eq!(seen(Phase::ResponseHead).unwrap(), format!("3/7/11/1/404/100000200000003/9 {request}"));
}

#[test]
fn facts_are_given_to_a_library_that_asks_in_the_call() {
    let outcome =
        with_view(Phase::RequestHead, |view| enter(&[make("about", "null")], Some(view), &[]).set("about"));
    assert_eq!(outcome.unwrap(), "-5 -5 -5 1 0 0 1");
}

#[test]
fn a_library_without_flags_has_the_facts_from_the_start() {
    let library = NativeLibrary::open(&build("old", &["-DFAULT_OLD"]), &host()).unwrap();
    let id = next_id();
    let made = library.filter("about", "null", id, &reclaim_queue()).unwrap();
    let mut steps = [FilterInvocation { filter: made.number, id, ..FilterInvocation::default() }];
    let outcome =
        with_view(Phase::RequestHead, |view| run_in(&library, &mut steps, Some(view), &[]).set("about"));
    assert_eq!(outcome.unwrap(), "-5 -5 -5 0 0 0 1");
}

#[test]
fn filters_of_a_run_return_verdicts_in_order() {
    let filters = [make("pass", "null"), make("set", "null"), make("reply", "null"), make("set", "null")];
    let outcome = with_view(Phase::RequestHead, |view| enter(&filters, Some(view), &[]));
    assert_eq!((outcome.stopped, outcome.current), (2, 0));
    let verdicts: Vec<Verdict> = outcome.steps.iter().map(|step| step.verdict).collect();
    assert_eq!(verdicts, [Verdict::Continue, Verdict::Continue, Verdict::Reply, Verdict::Continue]);
    let nanos: Vec<u32> = outcome.steps.iter().map(|step| step.nanos).collect();
    assert_eq!(nanos, [7, 7, 7, 0]);
    assert_eq!(outcome.edits.records().count(), 2);
    assert!(outcome.shown()[0].contains("step: 1") && outcome.shown()[1].contains("step: 2"));
}

#[test]
fn state_configuration_and_flags_are_passed_to_filters() {
    let (state, config) = (make("state", "null"), make("config", "{\"own\": 1}"));
    let reclaim_queue = reclaim_queue();
    let (number, owner) =
        faults().rule_config(config.0.number, &config.0.owner, "{\"of\": \"rule\"}", &reclaim_queue).unwrap();
    let mut steps = [
        FilterInvocation { filter: state.0.number, id: state.1, state: 37, ..FilterInvocation::default() },
        FilterInvocation {
            filter: config.0.number,
            id: config.1,
            config: number,
            flags: FilterInvocation::BLOCKING,
            ..FilterInvocation::default()
        },
    ];
    let outcome = with_view(Phase::RequestHead, |view| run(&mut steps, Some(view), &[]));
    assert_eq!(outcome.steps[0].state, 42);
    assert_eq!(outcome.set("config").unwrap(), "{\"of\": \"rule\"}");
    assert_eq!(outcome.set("blocking").unwrap(), "1");
    drop(owner);
}

#[test]
fn ended_exchanges_are_reported_with_and_without_a_phase() {
    let (made, id) = make("pass", "null");
    let ended = |state, reason| EndedExchange { filter: made.number, state, reason };
    let both = [ended(5, EndReason::Complete), ended(6, EndReason::Cut)];
    let outcome = run(&mut [], None, &both);
    assert_eq!((outcome.stopped, outcome.edits.len()), (0, 0));
    with_view(Phase::RequestHead, |view| run(&mut [], Some(view), &both[..1]));
    assert_eq!(HOST.logged_by(id), ["ended 5 0", "ended 6 1", "ended 5 0"]);
}

#[test]
fn edits_grow_up_to_the_limit() {
    for (size, expected) in [(100, "grown"), (5_000, "grown"), (3_000_000, "grown"), (17 << 20, "failed")] {
        let filters = [make("grow", &format!("{size}"))];
        let outcome = with_view(Phase::RequestHead, |view| enter(&filters, Some(view), &[]));
        assert_eq!(outcome.set("before").unwrap(), "1");
        assert_eq!(outcome.set("after").unwrap(), expected, "{size}");
        assert_eq!(outcome.set("big").map(|value| value.len()), (expected == "grown").then_some(size));
    }
    let other = with_view(Phase::RequestHead, |view| enter(&[make("grow-other", "null")], Some(view), &[]));
    assert_eq!(other.set("grow").unwrap(), "-5 -5");
}

#[test]
fn verdicts_of_filters_that_were_not_entered_do_not_count() {
    let filters = [make("spoil", "null"), make("pass", "null"), make("pass", "null")];
    let outcome = with_view(Phase::RequestHead, |view| enter(&filters, Some(view), &[]));
    let verdicts: Vec<Verdict> = outcome.steps.iter().map(|step| step.verdict).collect();
    assert_eq!((outcome.stopped, verdicts), (0, vec![Verdict::Reply, Verdict::Continue, Verdict::Continue]));
}

#[test]
fn invalid_outcomes_are_faults() {
    for (name, stopped, expected) in [
        ("lie-edits", 1, "bytes of edits to a buffer of"),
        ("lie-stopped", 0, "it stopped at step 4, which does not exist"),
        ("verdict", 1, "it returned verdict 200, which does not exist"),
        ("stop-continue", 1, "it stopped at a filter that continues"),
        ("go-on", 1, "it continued after a filter that did not continue"),
    ] {
        let filters = [make("set", "null"), make(name, "null"), make("pass", "null")];
        let outcome = with_view(Phase::RequestHead, |view| enter(&filters, Some(view), &[]));
        // After an invalid result it is unclear which steps were entered; the first one is blamed if no other is known.
        let stopped = if name == "lie-edits" { outcome.stopped } else { stopped };
        assert_eq!(outcome.stopped, stopped, "{name}");
        assert_eq!(outcome.steps[stopped].verdict, Verdict::Fault, "{name}");
        let others = outcome.steps.iter().filter(|step| step.verdict != Verdict::Continue).count();
        // Edits of other filters count as long as it is clear which steps were entered.
        let records = if matches!(name, "verdict" | "stop-continue") { 2 } else { 1 };
        assert_eq!((others, outcome.edits.records().count()), (1, records), "{name}");
        assert!(outcome.shown().last().unwrap().contains("Fault"), "{name}");
        let reason = outcome.edits.records().find_map(|record| {
            let FilterEdit::Fault(why) = record.unwrap().edit else { return None };
            Some(why.to_vec())
        });
        let text = String::from_utf8(reason.unwrap()).unwrap();
        assert!(text.contains(expected), "{name}: {text}");
        assert_eq!(outcome.current, 0);
    }
}

#[test]
fn a_library_that_claims_more_than_it_wrote_leaks_no_earlier_bytes() {
    let step = |(made, id): &(CreatedFilter, u32)| FilterInvocation {
        filter: made.number,
        id: *id,
        ..FilterInvocation::default()
    };
    let (writer, claimer) = (make("set", "null"), make("claim", "null"));
    let mut log = EditLog::new();
    for _ in 0..2 {
        let mut steps = vec![step(&writer); 4];
        let outcome = with_view(Phase::RequestHead, |view| {
            run_with(&faults(), &mut steps, Some(view), &[], std::mem::take(&mut log))
        });
        assert_eq!(outcome.edits.records().count(), 4);
        log = outcome.edits;
        log.clear();
        let outcome = with_view(Phase::RequestHead, |view| {
            run_with(&faults(), &mut [step(&claimer)], Some(view), &[], std::mem::take(&mut log))
        });
        log = outcome.edits;
        assert_eq!(*log.bytes_mut(), [0; 128], "nothing of the records before");
        log.clear();
    }
}

#[test]
fn verdicts_in_the_log_phase_have_no_effect() {
    for name in ["set", "verdict", "lie-edits", "lie-stopped", "reply"] {
        let outcome = with_view(Phase::Log, |view| enter(&[make(name, "null")], Some(view), &[]));
        assert_eq!((outcome.stopped, outcome.edits.len()), (1, 0), "{name}");
        assert_eq!(outcome.steps[0].verdict, Verdict::Continue);
    }
}

#[test]
fn threads_that_enter_have_a_large_signal_stack() {
    let filters = [make("altstack", "null")];
    let outcome =
        std::thread::spawn(move || with_view(Phase::RequestHead, |view| enter(&filters, Some(view), &[])));
    assert_eq!(outcome.join().unwrap().set("altstack").unwrap(), "65536");
}

#[test]
fn host_functions_validate_their_arguments() {
    let metric = make("metric", "null");
    let outcome = with_view(Phase::RequestHead, |view| enter(slice::from_ref(&metric), Some(view), &[]));
    assert_eq!(outcome.set("metric").unwrap(), "0 -5 -5");
    let views = HOST.metrics.views();
    let view = views.iter().find(|view| view.filter == metric.1).unwrap();
    assert_eq!((&*view.name, &view.values[..]), ("hits", &[3][..]));
    let log = make("log", "null");
    let outcome = with_view(Phase::RequestHead, |view| enter(slice::from_ref(&log), Some(view), &[]));
    assert_eq!(outcome.set("log").unwrap(), "0 -5 -5");
    assert_eq!(HOST.logged_by(log.1), ["from the guest"]);
    for (config, expected) in [("null", "0 -6"), ("bad", "-6 -6"), ("small", "-5 -6")] {
        let outcome = with_view(Phase::RequestHead, |view| enter(&[make("send", config)], Some(view), &[]));
        assert_eq!(outcome.set("send").unwrap(), expected, "{config}");
    }
    let sent = HOST.sent.lock().unwrap().join("\n");
    assert!(sent.contains("cluster: \"users\"") && sent.contains("timeout: Millis(0)"), "{sent}");
}

#[test]
fn resumes_from_eight_threads_reach_only_waiting_exchanges() {
    let handle = HOST.handles.open(0, 0).unwrap();
    let before = HOST.resumed.load(Ordering::Relaxed);
    with_view(Phase::RequestHead, |view| enter(&[make("storm", "null")], Some(view), &[]));
    assert_eq!(HOST.resumed.load(Ordering::Relaxed), before, "nothing waits");
    HOST.handles.announce(handle, eddy_filter::Direction::Request, 1);
    with_view(Phase::RequestHead, |view| enter(&[make("storm", "null")], Some(view), &[]));
    assert!(HOST.resumed.load(Ordering::Relaxed) <= before + 1, "a turn is resumed once");
    HOST.handles.close(handle);
    let _ = host();
}

#[test]
fn outcome_tests_pass_with_the_address_sanitizer() {
    if std::env::var_os(SANITIZER).is_some()
        || !test_peers::all_present(&[test_peers::GCC_SANITIZERS]).unwrap()
    {
        return;
    }
    let asked = Command::new("cc").arg("-print-file-name=libasan.so").output().unwrap();
    let runtime = String::from_utf8(asked.stdout).unwrap().trim().to_owned();
    let output = Command::new(std::env::current_exe().unwrap())
        // Tests that measure time or stack size are skipped, because the sanitizer changes both.
        .args(["answers::", "--skip", "a_crossing", "--skip", "signal_stack"])
        .env(SANITIZER, "-fsanitize=address")
        .env("LD_PRELOAD", runtime)
        .env("ASAN_OPTIONS", "detect_leaks=0,use_sigaltstack=0")
        .output()
        .unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("resumes_from_eight_threads_reach_only_waiting_exchanges"), "{text}");
}

#[test]
fn a_crossing_allocates_nothing_and_is_fast() {
    let filters = [make("pass", "null"), make("set", "null")];
    let library = faults();
    let current = AtomicU32::new(0);
    let mut edits = EditLog::new();
    let mut steps: Vec<FilterInvocation> = filters
        .iter()
        .map(|(made, id)| FilterInvocation { filter: made.number, id: *id, ..FilterInvocation::default() })
        .collect();
    let mut enter = |view: &ExchangeView<'_>, entered: usize| {
        edits.clear();
        let mut call = LibraryCall {
            worker: 0,
            exchange: Handle::from_number(1),
            turn: 1,
            is_sampled: false,
            view: Some(view),
            steps: &mut steps[..entered],
            ended: &[],
            edits: &mut edits,
            stopped: 0,
            wait: None,
            current: &current,
        };
        library.run(&mut call);
        assert_eq!(call.stopped, entered);
    };
    with_view(Phase::RequestHead, |view| {
        enter(view, 2);
        let told = allocation_counter::measure(|| (0..1000).for_each(|_| enter(view, 2)));
        assert_eq!(told.count_total, 0);
        let bare = ExchangeView { facts: &ExchangeInfo::UNKNOWN, ..*view };
        let begun = Instant::now();
        (0..ROUNDS).for_each(|_| enter(&bare, 1));
        // Some 30 ns when optimised; a lock or a system call in the path would be noticed even in an unoptimised build.
        let each = begun.elapsed() / ROUNDS;
        println!("{each:?} a crossing");
        assert!(each.as_micros() < 5, "{each:?} a crossing");
    });
}

const ROUNDS: u32 = 100_000;

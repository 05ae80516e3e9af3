//! Modules that fail, pause and call the host.

use std::time::{Duration, Instant};

use eddy_filter::{
    EndReason, EndedExchange, EventKind, ExchangeInfo, ExchangeView, FilterEvent, FilterInvocation,
    LoadError, MetricKind, Phase, RequestView, Verdict,
};
use eddy_guest::{Guest, LinearLimits, LinearModule, ReclaimQueue};
use eddy_http::{Field, FieldId, Fields, Method, Span};

use super::support::{CALL_TIME_MAX, LinearTestBench};

/// Request head with credentials and other headers.
struct CredentialHead {
    bytes: Vec<u8>,
    places: Vec<Field>,
}

impl CredentialHead {
    fn new(credential: &str) -> Self {
        let mut head = Self { bytes: Vec::new(), places: Vec::new() };
        for index in 0..19 {
            head.add(&format!("x-field-{index}"), "a value of some length");
        }
        head.add("authorization", credential);
        head
    }

    fn add(&mut self, name: &str, value: &str) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name.as_bytes());
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(value.as_bytes());
        let (name_at, value_at) = (Span::new(start, middle), Span::new(middle, self.bytes.len()));
        let id = FieldId::from_name(name.as_bytes());
        self.places.push(Field { name: name_at, value: value_at, id, ..Field::default() });
    }

    fn view(&self) -> ExchangeView<'_> {
        ExchangeView {
            phase: Phase::RequestHead,
            is_end: true,
            is_buffered: false,
            request: RequestView {
                fields: Fields::new(&self.bytes, &self.places),
                method: Method::Get,
                method_name: b"GET",
                target: b"/twelve/bytes",
                authority: b"example.com",
                ..RequestView::default()
            },
            response: None,
            trailers: Fields::default(),
            body: b"",
            facts: &ExchangeInfo { peer: b"127.0.0.1:4711", listener: b"front", ..ExchangeInfo::UNKNOWN },
        }
    }
}

#[test]
fn a_panic_is_a_fault_and_earlier_filters_keep_their_edits() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk");
    let filters = [bench.made("mark", "{}"), bench.made("panic", "{}"), bench.made("mark", "{}")];
    for _ in 0..3 {
        let exchange = bench.exchange(1);
        let mut steps: Vec<FilterInvocation> = filters.iter().map(|(_, step)| *step).collect();
        let outcome = bench.run(exchange, &mut steps, Some(&head.view()), &[]);
        assert_eq!((outcome.stopped, outcome.current, outcome.steps[1].verdict), (1, 0, Verdict::Fault));
        let shown = outcome.shown();
        assert!(shown[0] == "x-mark=seen" && shown[1].contains("in a hook"), "{shown:?}");
        bench.host.handles.close(exchange);
    }
}

#[test]
fn a_module_that_never_returns_is_stopped_and_replaced() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic x");
    for (name, why) in [
        ("loop", "it used more CPU time than `wasm.cpu` allows ("),
        ("sleep", "it used more CPU time than `wasm.cpu` allows ("),
        ("memory", "it needs more memory than `wasm.memory` allows ("),
        ("wait", "deadlock"),
    ] {
        let filters = [bench.made("mark", "{}"), bench.made(name, "{}"), bench.made("count", "{}")];
        let exchange = bench.exchange(1);
        let mut steps: Vec<FilterInvocation> = filters.iter().map(|(_, step)| *step).collect();
        let outcome = bench.run(exchange, &mut steps, Some(&head.view()), &[]);
        assert_eq!((outcome.stopped, outcome.steps[1].verdict), (1, Verdict::Fault), "{name}");
        let shown = outcome.shown();
        assert!(shown[0] == "x-mark=seen" && shown[1].contains(why), "{name}: {shown:?}");
        // The next exchange gets a new instance with the same filters.
        let mut steps = [filters[0].1, filters[2].1];
        let outcome = bench.run(bench.exchange(2), &mut steps, Some(&head.view()), &[]);
        assert_eq!((outcome.stopped, outcome.shown().len()), (2, 1), "{name}");
    }
}

#[test]
fn time_without_a_processor_does_not_count_against_the_module() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic x");
    let (_, step) = bench.made("ask", "{}");
    *bench.host.held_up.lock().unwrap() = 2 * CALL_TIME_MAX;
    let outcome = bench.run(bench.exchange(1), &mut [step], Some(&head.view()), &[]);
    assert_eq!((outcome.stopped, outcome.steps[0].verdict), (0, Verdict::Pause), "{:?}", outcome.shown());
}

#[test]
fn filter_state_is_lost_with_its_instance() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic x");
    let (mark, count, broken) =
        (bench.made("mark", "{}"), bench.made("count", "{}"), bench.made("wait", "{}"));
    let exchange = bench.exchange(1);
    let mut steps = [mark.1, count.1];
    let first = bench.run(exchange, &mut steps, Some(&head.view()), &[]);
    assert!(first.steps[1].state != 0 && first.stopped == 2);
    bench.run(bench.exchange(2), &mut [broken.1], Some(&head.view()), &[]);
    let mut steps = [first.steps[0], first.steps[1]];
    let later = bench.run(exchange, &mut steps, Some(&head.view()), &[]);
    assert_eq!((later.stopped, later.steps[1].verdict), (1, Verdict::Fault));
    assert!(
        later.shown()[0] == "x-mark=seen" && later.shown()[1].contains("was restarted"),
        "{:?}",
        later.shown()
    );
    // A new exchange has the same number in the new instance; the end of the old exchange must not end it.
    let exchange = bench.exchange(3);
    let mut steps = [count.1];
    let fresh = bench.run(exchange, &mut steps, Some(&head.view()), &[]);
    let ended = EndedExchange { filter: count.1.filter, state: first.steps[1].state, reason: EndReason::Cut };
    bench.run(exchange, &mut [], None, &[ended]);
    let mut steps = [fresh.steps[0]];
    assert_eq!(bench.run(exchange, &mut steps, Some(&head.view()), &[]).stopped, 1);
}

#[test]
fn a_filter_calls_a_cluster_and_continues_with_the_response() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic x");
    let (_, step) = bench.made("ask", "{}");
    let outcome = bench.run(bench.exchange(1), &mut [step], Some(&head.view()), &[]);
    assert_eq!((outcome.stopped, outcome.steps[0].verdict), (0, Verdict::Pause), "{:?}", outcome.shown());
    let (token, sent) = bench.host.sent.lock().unwrap().pop().unwrap();
    assert_eq!(sent, "guards GET /allowed [\"x-who: /twelve/bytes\"] body");
    let event = FilterEvent {
        kind: EventKind::Response,
        filter: step.id,
        token,
        worker: 1,
        status: 200,
        fields: Fields::default(),
        body: b"yes",
    };
    eddy_filter::FilterLibrary::event(&bench.library, &event);
    let resumed = bench.host.resumed.lock().unwrap();
    let [(Verdict::Continue, edits)] = resumed.as_slice() else { panic!("{resumed:?}") };
    let text = String::from_utf8_lossy(edits);
    assert!(text.contains("x-answeryes"), "{text:?}");
}

#[test]
fn a_filter_uses_metrics_logs_and_large_edits() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic x");
    let (_, count) = bench.made("count", "{}");
    for slot in 0..3 {
        bench.run(bench.exchange(slot), &mut [count], Some(&head.view()), &[]);
    }
    let shown = bench.host.metrics.views();
    let value = |kind: MetricKind| shown.iter().find(|metric| metric.kind == kind).unwrap().values.clone();
    assert_eq!(value(MetricKind::Counter), [3]);
    assert_eq!(value(MetricKind::Histogram), [0, 0, 3, 39]);
    let said = format!("{}: made", count.id);
    assert_eq!(bench.host.said.lock().unwrap().iter().filter(|one| **one == said).count(), 2, "one a worker");
    let (_, large) = bench.made("large", "{}");
    let outcome = bench.run(bench.exchange(9), &mut [large, count], Some(&head.view()), &[]);
    assert_eq!((outcome.stopped, outcome.edits.records().count()), (2, 100));
}

#[test]
fn filters_that_cannot_be_created_are_refused() {
    let Some(bench) = LinearTestBench::start() else { return };
    let made = |name: &str, config: &str| {
        bench.library.filter(name, config, 99, &ReclaimQueue::new(|| ())).unwrap_err().to_string()
    };
    assert!(made("mark", "{\"greeting\": \"panic\"}").contains("in New"));
    assert!(made("mark", "{\"greeting\": \"error\"}").starts_with("no no no"));
    assert!(made("mark", "{\"other\": 1}").contains("other"));
    assert!(made("nobody", "{}").contains("has no filter \"nobody\"; it has: "));
    let compile = |bytes: &[u8]| LinearModule::compile("x.wasm", bytes, LinearLimits::default(), None);
    let refused = |bytes: &[u8]| compile(bytes).unwrap_err();
    assert!(matches!(refused(b"no module"), LoadError::Library { .. }));
    let empty = refused(b"\0asm\x01\0\0\0").to_string();
    assert!(empty.contains("does not export eddy_abi_1"), "{empty}");
}

#[test]
fn a_number_without_a_filter_has_no_configuration() {
    let Some(bench) = LinearTestBench::start() else { return };
    let (mark, _) = bench.made("mark", "{}");
    let of = |number: u64| {
        let made = bench.library.rule_config(number, &mark.owner, "{}", &ReclaimQueue::new(|| ()));
        made.map(|_| ()).map_err(|error| error.to_string())
    };
    for number in [0, mark.number + 1, u64::MAX] {
        assert_eq!(of(number), Err(format!("the module has no filter {number}")));
    }
}

#[test]
fn filters_are_created_while_a_worker_restarts_its_instance() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic x");
    let (mark, broken) = (bench.made("mark", "{}"), bench.made("wait", "{}"));
    std::thread::scope(|scope| {
        let creator = scope.spawn(|| (0..200).map(|_| bench.made("mark", "{}")).collect::<Vec<_>>());
        while !creator.is_finished() {
            bench.run(bench.exchange(1), &mut [broken.1], Some(&head.view()), &[]);
            let outcome = bench.run(bench.exchange(2), &mut [mark.1], Some(&head.view()), &[]);
            assert_eq!(outcome.stopped, 1, "{:?}", outcome.shown());
        }
        for (_, step) in creator.join().unwrap() {
            let outcome = bench.run(bench.exchange(2), &mut [step], Some(&head.view()), &[]);
            assert_eq!((outcome.stopped, outcome.shown().len()), (1, 1), "{:?}", outcome.shown());
        }
    });
}

#[test]
fn a_crossing_is_fast() {
    let Some(bench) = LinearTestBench::start() else { return };
    let head = CredentialHead::new("Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk");
    for name in ["empty", "auth", "mark"] {
        let (_, step) = bench.made(name, "{}");
        let exchange = bench.exchange(1);
        let rounds = 2000;
        let best = (0..5)
            .map(|_| {
                let begun = Instant::now();
                for _ in 0..rounds {
                    let outcome = bench.run(exchange, &mut [step], Some(&head.view()), &[]);
                    assert_eq!(outcome.stopped, 1);
                }
                begun.elapsed() / rounds
            })
            .min();
        let best = best.unwrap();
        println!("{name}: {best:?} a crossing");
        // An unoptimized build, in parallel with other tests; benchmarks measure the actual cost.
        assert!(best < Duration::from_millis(1), "{name}: {best:?}");
    }
}

//! Effects of filter verdicts and edits on an exchange, tested with a gateway in this process.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a filter of a test minds the phases it is about")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::collections::VecDeque;
use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eddy_config::{GatewayConfig, RuleFilterConfig};
use eddy_filter::{
    CallBond, EditLog, EndReason, ExchangeView, FailurePolicy, Filter, FilterEdit, FilterEvent, FilterInfo,
    FilterLibrary, FilterLogLevel, FilterOutboundRequest, FilterPolicy, Handle, HostApi, HostError, Interest,
    LibraryCall, LibraryKeepAlive, Phase, Verdict,
};
use eddy_ids::Millis;
use eddy_proxy::{FilterHost, Gateway, Stats};
use place::{TestListener, connect, listen, start_filtered, use_filters};

const PATIENCE: Duration = Duration::from_secs(20);

type OnEvent = dyn FnMut(u64, u16) + Send;
type HookFn = dyn Fn(&ExchangeView<'_>, &mut HookOutput<'_>) -> Verdict + Send + Sync;

/// Outputs of a hook besides its verdict.
struct HookOutput<'a> {
    edits: &'a mut EditLog,
    step: u16,
    state: &'a mut u64,
    wait: &'a mut Option<Millis>,
    exchange: Handle,
    turn: u32,
}

impl HookOutput<'_> {
    fn edit(&mut self, edit: &FilterEdit<'_>) {
        self.edits.push(self.step, edit).unwrap();
    }

    fn reply(&mut self, status: u32, body: &str) -> Verdict {
        self.edit(&FilterEdit::Reply { status, body: body.as_bytes(), details: b"said" });
        Verdict::Reply
    }
}

/// A library whose filters are closures, numbered from 1.
struct Closures {
    hooks: Vec<Box<HookFn>>,
    crossings: AtomicUsize,
    ended: Mutex<Vec<(u64, u64, EndReason)>>,
    events: Mutex<Vec<(u64, u16, String)>>,
    /// Called on the worker's thread with token and status of each event.
    on_event: Mutex<Option<Box<OnEvent>>>,
}

impl fmt::Debug for Closures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closures")
    }
}

impl FilterLibrary for Closures {
    fn is_own(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        "closures"
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        let ended = call.ended.iter().map(|ended| (ended.filter, ended.state, ended.reason));
        self.ended.lock().unwrap().extend(ended);
        let Some(view) = call.view else { return };
        self.crossings.fetch_add(1, Relaxed);
        call.stopped = call.steps.len();
        for (index, step) in call.steps.iter_mut().enumerate() {
            call.current.store(step.id, Relaxed);
            let mut said = HookOutput {
                edits: call.edits,
                step: u16::try_from(index).unwrap(),
                state: &mut step.state,
                wait: &mut call.wait,
                exchange: call.exchange,
                turn: call.turn,
            };
            let hook = &self.hooks[usize::try_from(step.filter).unwrap() - 1];
            step.verdict = hook(view, &mut said);
            if step.verdict != Verdict::Continue {
                call.stopped = index;
                break;
            }
        }
    }

    fn event(&self, event: &FilterEvent<'_>) {
        if let Some(on_event) = self.on_event.lock().unwrap().as_mut() {
            on_event(event.token, event.status);
        }
        let body = String::from_utf8_lossy(event.body).into_owned();
        self.events.lock().unwrap().push((event.token, event.status, body));
    }
}

/// A gateway whose listener has these filters in this order.
struct FilterTestGateway {
    _gateway: Gateway,
    address: SocketAddr,
    library: Arc<Closures>,
    host: Arc<FilterHost>,
    stats: Arc<Stats>,
}

#[derive(Default)]
struct Setup {
    hooks: Vec<(Interest, Box<HookFn>)>,
    policy: FilterPolicy,
    keeps_length: bool,
    /// Filters that the rule leaves out, by name.
    left_out: Vec<&'static str>,
    keys: &'static str,
    rest: &'static str,
}

const FORWARD: &str = "routes: {site: [{cluster: c}]}\nclusters: {c: {endpoints: ['ORIGIN']}}";
const HEADS: &[Phase] = &[Phase::RequestHead, Phase::ResponseHead];
const BODIES_AND_HEADS: &[Phase] =
    &[Phase::RequestHead, Phase::RequestBody, Phase::ResponseHead, Phase::ResponseBody];

impl Setup {
    fn hook(
        mut self,
        phases: &[Phase],
        hook: impl Fn(&ExchangeView<'_>, &mut HookOutput<'_>) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        self.hooks.push((Interest::of(phases), Box::new(hook)));
        self
    }

    fn start(self, origin: SocketAddr) -> FilterTestGateway {
        let listener = listen();
        let address = listener.address;
        let rest = if self.rest.is_empty() { FORWARD } else { self.rest };
        let config =
            place::config(address, origin, self.keys, &format!("limits: {{queue_delay: 0s}}\n{rest}"));
        self.start_config(listener, config)
    }

    fn start_config(self, listener: TestListener, mut config: GatewayConfig) -> FilterTestGateway {
        let host = FilterHost::new(1, 1000, FilterLogLevel::Info);
        let (interests, hooks): (Vec<_>, Vec<_>) = self.hooks.into_iter().unzip();
        let library = Arc::new(Closures {
            hooks,
            crossings: AtomicUsize::new(0),
            ended: Mutex::default(),
            events: Mutex::default(),
            on_event: Mutex::default(),
        });
        let filters = (1..).zip(interests).map(|(number, interest)| {
            let name = format!("f{number}");
            Filter {
                id: host.number(&name),
                name: name.into(),
                library: Arc::clone(&library) as Arc<dyn FilterLibrary>,
                number,
                info: FilterInfo { interest, keeps_length: self.keeps_length, expects_tunnels: false },
                policy: self.policy,
                owner: LibraryKeepAlive::default(),
            }
        });
        let set = use_filters(&mut config, filters.collect());
        if !config.tables.is_empty() {
            let rules = self.left_out.into_iter().map(|name| RuleFilterConfig {
                filter: config.filters.id_of(name).unwrap(),
                is_disabled: Some(true),
                config: None,
                builtin: None,
                lua: None,
            });
            let rules: Vec<_> = rules.collect();
            place::change_action(&mut config, |action| action.filters = rules);
        }
        let address = listener.address;
        let gateway = start_filtered(listener, config, &set, Arc::clone(&host));
        let stats = gateway.stats();
        FilterTestGateway { _gateway: gateway, address, library, host, stats }
    }
}

impl FilterTestGateway {
    /// Returns all bytes that a new connection delivers in response to `request`, up to its end.
    fn ask(&self, request: &str) -> String {
        let mut stream = connect(self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // After a reset, the bytes before it are returned.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn metrics(&self) -> String {
        let mut out = String::new();
        self.stats.render(&mut out);
        out
    }

    /// Waits until this many requests of filters have ended: token, status, body or reason.
    fn events(&self, count: usize) -> Vec<(u64, u16, String)> {
        wait_for(count, &self.library.events)
    }

    /// Waits until this many ends of exchanges were reported.
    fn ends(&self, count: usize) -> Vec<(u64, u64, EndReason)> {
        wait_for(count, &self.library.ended)
    }
}

/// Waits until a list has this many entries, but not for ever; returns those that it has.
fn wait_for<T: Clone>(count: usize, list: &Mutex<Vec<T>>) -> Vec<T> {
    let begun = std::time::Instant::now();
    loop {
        let entries = list.lock().unwrap().clone();
        if entries.len() >= count || begun.elapsed() > PATIENCE {
            return entries;
        }
        std::thread::yield_now();
    }
}

/// Starts an origin that reports the requests it received and answers each with the next of `answers`; the last one
/// repeats.
fn start_origin(answers: &[&str]) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answers: VecDeque<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    let answers = Arc::new(Mutex::new(answers));
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for link in listener.incoming() {
            let (link, answers, sender) = (link.unwrap(), Arc::clone(&answers), sender.clone());
            std::thread::spawn(move || serve(link, &answers, &sender));
        }
    });
    (address, receiver)
}

fn serve(mut link: std::net::TcpStream, answers: &Mutex<VecDeque<String>>, sender: &Sender<String>) {
    let mut held = String::new();
    loop {
        while !is_whole(&held) {
            let mut bytes = [0; 8192];
            match link.read(&mut bytes) {
                Ok(count @ 1..) => held.push_str(&String::from_utf8_lossy(&bytes[..count])),
                _ => return,
            }
        }
        let _ = sender.send(std::mem::take(&mut held));
        let mut answers = answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
        drop(answers);
        if link.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    if head.contains("Transfer-Encoding: chunked") {
        return body.ends_with("0\r\n\r\n") || body.contains("\r\n0\r\n") && body.ends_with("\r\n\r\n");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: origin\r\n\r\nhello";
const GET: &str = "GET /a?b HTTP/1.1\r\nHost: a\r\nX-Old: 1\r\nConnection: close\r\n\r\n";

fn post(body: &str) -> String {
    format!(
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn body_of(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

#[track_caller]
fn assert_status(answer: &str, status: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer:?}");
}

#[test]
fn each_side_receives_the_changes_of_filters() {
    let (origin, seen) = start_origin(&[OK]);
    let place = Setup::default()
        .hook(HEADS, |view, said| {
            match view.phase {
                Phase::RequestHead => {
                    assert_eq!(view.request.fields.first_named(b"x-old"), Some(b"1".as_slice()));
                    assert!(view.is_end && view.response.is_none());
                    said.edit(&FilterEdit::Set { name: b"x-new", value: b"2" });
                    said.edit(&FilterEdit::Remove { name: b"X-Old" });
                    said.edit(&FilterEdit::Target(b"/c/%64?e"));
                }
                _ => {
                    let response = view.response.unwrap();
                    assert_eq!((response.status, response.is_local), (200, false));
                    assert_eq!(view.request.fields.first_named(b"x-new"), Some(b"2".as_slice()));
                    said.edit(&FilterEdit::Set { name: b"server", value: b"eddy" });
                    said.edit(&FilterEdit::Status(201));
                }
            }
            Verdict::Continue
        })
        .start(origin);
    let answer = place.ask(GET);
    let request = seen.recv_timeout(PATIENCE).unwrap();
    assert!(request.starts_with("GET /c/d?e HTTP/1.1\r\nHost: a\r\n"), "{request}");
    assert!(request.contains("\r\nx-new: 2\r\n") && !request.contains("X-Old"), "{request}");
    assert_status(&answer, 201);
    assert!(answer.contains("\r\nserver: eddy\r\n") && !answer.contains("origin"), "{answer}");
    assert_eq!(body_of(&answer), "hello");
    let metrics = place.metrics();
    for phase in ["request_head", "response_head"] {
        assert!(
            metrics.contains(&format!("eddy_filter_calls_total{{filter=\"f1\",phase=\"{phase}\"}} 1\n")),
            "{metrics}"
        );
    }
}

#[test]
fn a_chain_is_one_crossing_and_is_reversed_for_the_response() {
    let (origin, seen) = start_origin(&[OK]);
    let mut setup = Setup::default();
    for number in ["1", "2", "3"] {
        setup = setup.hook(HEADS, move |view, said| {
            let name: &[u8] = if view.phase == Phase::RequestHead { b"x-way" } else { b"x-back" };
            said.edit(&FilterEdit::Add { name, value: number.as_bytes() });
            Verdict::Continue
        });
    }
    let place = setup.start(origin);
    let answer = place.ask(GET);
    let numbers = |text: &str, name: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix(name)).map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(numbers(&seen.recv_timeout(PATIENCE).unwrap(), "x-way:"), ["1", "2", "3"]);
    assert_eq!(numbers(&answer, "x-back:"), ["3", "2", "1"]);
    assert_eq!(place.library.crossings.load(Relaxed), 2);
}

#[test]
fn a_reply_passes_the_filters_that_saw_the_request() {
    let (origin, seen) = start_origin(&[OK]);
    let mark = |name: &'static [u8]| {
        move |view: &ExchangeView<'_>, said: &mut HookOutput<'_>| {
            if view.phase == Phase::ResponseHead {
                assert!(view.response.unwrap().is_local);
                assert_eq!(view.response.unwrap().status, 401);
                said.edit(&FilterEdit::Add { name, value: b"1" });
            }
            Verdict::Continue
        }
    };
    let replier = |view: &ExchangeView<'_>, said: &mut HookOutput<'_>| {
        if view.phase == Phase::ResponseHead {
            said.edit(&FilterEdit::Add { name: b"x-replier", value: b"1" });
            return Verdict::Continue;
        }
        said.edit(&FilterEdit::ReplyField { name: b"www-authenticate", value: b"Basic realm=\"a\"" });
        said.edit(&FilterEdit::ReplyField { name: b"content-type", value: b"text/html" });
        said.reply(401, "who are you?")
    };
    let place = Setup::default()
        .hook(HEADS, mark(b"x-before"))
        .hook(HEADS, replier)
        .hook(HEADS, mark(b"x-after"))
        .start(origin);
    let answer = place.ask(GET);
    assert_status(&answer, 401);
    for line in
        ["x-before: 1", "x-replier: 1", "www-authenticate: Basic realm=\"a\"", "content-type: text/html"]
    {
        assert!(answer.contains(&format!("\r\n{line}\r\n")), "{answer}");
    }
    assert!(!answer.contains("x-after") && !answer.contains("text/plain"), "{answer}");
    assert_eq!(body_of(&answer), "who are you?");
    assert!(seen.try_recv().is_err(), "the origin was asked");
    let head = place.ask(&GET.replace("GET", "HEAD"));
    assert!(head.contains("Content-Length: 12\r\n") && body_of(&head).is_empty(), "{head}");
}

#[test]
fn filters_see_unmatched_requests_and_can_reroute_them() {
    let (origin, seen) = start_origin(&[OK]);
    let place = Setup {
        rest: "routes: {site: [{match: {path: /new/}, cluster: c}]}\nclusters: {c: {endpoints: ['ORIGIN']}}",
        ..Setup::default()
    }
    .hook(HEADS, |view, said| {
        if view.phase == Phase::RequestHead && view.request.target.starts_with(b"/old") {
            said.edit(&FilterEdit::Target(b"/new/x"));
            said.edit(&FilterEdit::ClearRoute);
        }
        if view.phase == Phase::ResponseHead {
            said.edit(&FilterEdit::Add { name: b"x-seen", value: b"1" });
        }
        Verdict::Continue
    })
    .start(origin);
    let missed = place.ask(GET);
    assert_status(&missed, 404);
    assert!(missed.contains("x-seen: 1"), "{missed}");
    assert_status(&place.ask(&GET.replace("/a?b", "/old")), 200);
    assert!(seen.recv_timeout(PATIENCE).unwrap().starts_with("GET /new/x HTTP/1.1\r\n"));
}

#[test]
fn the_demo_endpoint_has_filters_too() {
    let listener = listen();
    let address = listener.address;
    let text =
        format!("workers: 1\nlisteners: [{{address: '{address}', demo: true}}]\nlimits: {{queue_delay: 0s}}");
    let source = eddy_spec::problem::SourceText::new("test.yaml", text.as_str());
    let config = eddy_dialects::check(&[source]).unwrap().config;
    let place = Setup::default()
        .hook(HEADS, |view, said| {
            said.edit(&FilterEdit::Set { name: b"x-demo", value: b"1" });
            if view.is_end { Verdict::Continue } else { Verdict::Buffer }
        })
        .start_config(listener, config);
    let answer = place.ask(&post("the body"));
    assert_status(&answer, 200);
    assert_eq!(answer.matches("x-demo: 1").count(), 2, "{answer}");
    assert!(answer.ends_with("the body"), "{answer}");
}

#[test]
fn a_rule_can_disable_a_filter() {
    let (origin, _seen) = start_origin(&[OK]);
    let place = Setup {
        rest: "routes: {site: [{match: {path: /free/}, cluster: c}, {cluster: c}]}\nclusters: {c: {endpoints: ['ORIGIN']}}",
        left_out: vec!["f1"],
        ..Setup::default()
    }
    .hook(HEADS, |_, said| said.reply(403, "no"))
    .start(origin);
    assert_status(&place.ask(GET), 403);
    assert_status(&place.ask(&GET.replace("/a?b", "/free/")), 200);
}

/// Returns a filter that pauses in a phase and reports its pauses to the test.
fn pausing(
    phase: Phase,
) -> (Receiver<(Handle, u32)>, impl Fn(&ExchangeView<'_>, &mut HookOutput<'_>) -> Verdict + Send + Sync) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let hook = move |view: &ExchangeView<'_>, said: &mut HookOutput<'_>| {
        if view.phase != phase {
            return Verdict::Continue;
        }
        sender.lock().unwrap().send((said.exchange, said.turn)).unwrap();
        Verdict::Pause
    };
    (receiver, hook)
}

fn edits(all: &[FilterEdit<'_>]) -> Vec<u8> {
    let mut log = EditLog::new();
    all.iter().for_each(|edit| log.push(0, edit).unwrap());
    log.bytes_mut().clone()
}

#[test]
fn a_pause_ends_once_from_any_thread() {
    for phase in [Phase::RequestHead, Phase::ResponseHead] {
        let (origin, seen) = start_origin(&[OK]);
        let (paused, hook) = pausing(phase);
        let place = Setup::default()
            .hook(HEADS, hook)
            .hook(HEADS, |_, said| {
                said.edit(&FilterEdit::Set { name: b"x-next", value: b"1" });
                Verdict::Continue
            })
            .start(origin);
        let host = Arc::clone(&place.host);
        let answering = std::thread::spawn(move || {
            let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
            assert_eq!(host.resume(exchange, turn + 1, Verdict::Continue, &[]), Err(HostError::Stale));
            let edits = edits(&[FilterEdit::Set { name: b"x-late", value: b"1" }]);
            assert_eq!(host.resume(exchange, turn, Verdict::Continue, &edits), Ok(()));
            let again = host.resume(exchange, turn, Verdict::Reply, &[]);
            assert!(matches!(again, Err(HostError::Stale | HostError::Gone)), "{again:?}");
            exchange
        });
        let answer = place.ask(GET);
        let exchange = answering.join().unwrap();
        assert_status(&answer, 200);
        let changed = if phase == Phase::RequestHead { seen.recv_timeout(PATIENCE).unwrap() } else { answer };
        for name in ["x-late: 1", "x-next: 1"] {
            assert!(changed.contains(name), "{phase:?}: {changed}");
        }
        assert_eq!(place.host.resume(exchange, 1, Verdict::Continue, &[]), Err(HostError::Gone));
        assert!(place.metrics().contains("eddy_filter_paused{filter=\"f1\"} 0\n"));
    }
}

#[test]
fn a_pause_that_lasts_too_long_is_answered_504() {
    let (origin, _seen) = start_origin(&[OK]);
    let (paused, hook) = pausing(Phase::RequestHead);
    let policy = FilterPolicy { pause_timeout: Duration::from_millis(60), ..FilterPolicy::default() };
    let place = Setup { policy, ..Setup::default() }.hook(HEADS, hook).start(origin);
    assert_status(&place.ask(GET), 504);
    let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
    assert_eq!(place.host.resume(exchange, turn, Verdict::Continue, &[]), Err(HostError::Gone));
    let metrics = place.metrics();
    assert!(metrics.contains("eddy_filter_faults_total{filter=\"f1\",kind=\"timeout\"} 1\n"), "{metrics}");
    assert!(metrics.contains("eddy_filter_paused{filter=\"f1\"} 0\n"), "{metrics}");
}

#[test]
fn a_pause_can_end_by_itself() {
    let (origin, _seen) = start_origin(&[OK]);
    let place = Setup::default()
        .hook(&[Phase::RequestHead], |_, said| {
            *said.wait = Some(Millis::new(30));
            Verdict::Pause
        })
        .start(origin);
    assert_status(&place.ask(GET), 200);
}

#[test]
fn a_pause_can_end_with_a_reply_or_a_fault() {
    let (origin, _seen) = start_origin(&[OK]);
    let (paused, hook) = pausing(Phase::ResponseHead);
    let place = Setup::default().hook(HEADS, hook).start(origin);
    let host = Arc::clone(&place.host);
    let ends = [
        (Verdict::Reply, edits(&[FilterEdit::Reply { status: 418, body: b"tea", details: b"" }])),
        (Verdict::Fault, edits(&[FilterEdit::Fault(b"broke")])),
        (Verdict::Reply, Vec::new()),
        (Verdict::Continue, vec![1, 2, 3]),
        (Verdict::Reset, Vec::new()),
    ];
    std::thread::spawn(move || {
        for (verdict, edits) in ends {
            let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
            host.resume(exchange, turn, verdict, &edits).unwrap();
            // A reply passes the response filters, so that this filter pauses there again, unless it failed.
            if verdict == Verdict::Reply && !edits.is_empty() {
                let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
                host.resume(exchange, turn, Verdict::Continue, &[]).unwrap();
            }
        }
    });
    let tea = place.ask(GET);
    assert_status(&tea, 418);
    assert_eq!(body_of(&tea), "tea");
    (0..3).for_each(|_| assert_status(&place.ask(GET), 500));
    assert_eq!(place.ask(GET), "");
}

#[test]
fn a_failing_filter_fails_closed_or_is_skipped() {
    let failing = |_: &ExchangeView<'_>, said: &mut HookOutput<'_>| {
        said.edit(&FilterEdit::Set { name: b"x-broken", value: b"1" });
        said.edit(&FilterEdit::Fault(b"it broke"));
        Verdict::Fault
    };
    let bad_edit = |_: &ExchangeView<'_>, said: &mut HookOutput<'_>| {
        said.edit(&FilterEdit::Set { name: b"host", value: b"1" });
        // Edits after a refused one are not applied either.
        said.edit(&FilterEdit::Set { name: b"x-broken", value: b"1" });
        Verdict::Continue
    };
    let silent_reply = |_: &ExchangeView<'_>, _: &mut HookOutput<'_>| Verdict::Reply;
    let hooks: [(&str, Box<HookFn>); 3] =
        [("fault", Box::new(failing)), ("edit", Box::new(bad_edit)), ("fault", Box::new(silent_reply))];
    for (kind, hook) in hooks {
        let hook: Arc<HookFn> = hook.into();
        for on_failure in [FailurePolicy::Closed, FailurePolicy::Open] {
            let (origin, seen) = start_origin(&[OK]);
            let policy = FilterPolicy { on_failure, ..FilterPolicy::default() };
            let hook = Arc::clone(&hook);
            let place = Setup { policy, ..Setup::default() }
                .hook(HEADS, move |view, said| hook(view, said))
                .hook(HEADS, |_, said| {
                    said.edit(&FilterEdit::Set { name: b"x-next", value: b"1" });
                    Verdict::Continue
                })
                .start(origin);
            let answer = place.ask(GET);
            if on_failure == FailurePolicy::Closed {
                assert_status(&answer, 500);
                assert!(seen.try_recv().is_err());
            } else {
                assert_status(&answer, 200);
                let request = seen.recv_timeout(PATIENCE).unwrap();
                assert!(request.contains("x-next: 1") && !request.contains("x-broken"), "{request}");
            }
            let line = format!("eddy_filter_faults_total{{filter=\"f1\",kind=\"{kind}\"}}");
            assert!(!place.metrics().contains(&format!("{line} 0\n")), "{}", place.metrics());
        }
    }
}

#[test]
fn a_filter_that_failed_is_not_entered_again() {
    let bad_edit = FilterEdit::Set { name: b"transfer-encoding", value: b"chunked" };
    for (on_failure, status) in [(FailurePolicy::Closed, 500), (FailurePolicy::Open, 200)] {
        for is_fault in [true, false] {
            let (origin, _seen) = start_origin(&[OK]);
            let entered = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&entered);
            let policy = FilterPolicy { on_failure, ..FilterPolicy::default() };
            let phases = [Phase::RequestHead, Phase::ResponseHead, Phase::ResponseBody, Phase::Log];
            let place = Setup { policy, ..Setup::default() }
                .hook(&phases, move |_, said| {
                    *said.state = 1;
                    count.fetch_add(1, Relaxed);
                    if is_fault {
                        return Verdict::Fault;
                    }
                    said.edit(&bad_edit);
                    Verdict::Continue
                })
                .start(origin);
            assert_status(&place.ask(GET), status);
            // The filter has state, so it is notified of the end all the same.
            assert_eq!(place.ends(1).len(), 1);
            assert_eq!(entered.load(Relaxed), 1, "{on_failure:?}");
        }
    }
}

#[test]
fn the_verdict_of_a_skipped_filter_is_ignored() {
    for verdict in [Verdict::Pause, Verdict::Buffer, Verdict::Reset, Verdict::Reply] {
        let (origin, _seen) = start_origin(&[OK]);
        let policy = FilterPolicy { on_failure: FailurePolicy::Open, ..FilterPolicy::default() };
        let (sender, said) = channel();
        let sender = Mutex::new(sender);
        let place = Setup { policy, ..Setup::default() }
            .hook(&[Phase::RequestHead], move |_, said| {
                sender.lock().unwrap().send((said.exchange, said.turn)).unwrap();
                said.edit(&FilterEdit::Set { name: b"content-length", value: b"1" });
                verdict
            })
            .start(origin);
        let begun = std::time::Instant::now();
        assert_status(&place.ask(&post("abc")), 200);
        assert!(begun.elapsed() < PATIENCE, "{verdict:?}");
        let (exchange, turn) = said.recv_timeout(PATIENCE).unwrap();
        assert!(place.host.resume(exchange, turn, Verdict::Continue, &[]).is_err());
    }
}

#[test]
fn routing_is_repeated_although_an_adjacent_filter_fails() {
    for is_last in [true, false] {
        let (origin, seen) = start_origin(&[OK]);
        let policy = FilterPolicy { on_failure: FailurePolicy::Open, ..FilterPolicy::default() };
        let rest =
            "routes: {site: [{match: {path: /new/}, cluster: c}]}\nclusters: {c: {endpoints: ['ORIGIN']}}";
        let mut setup = Setup { policy, rest, ..Setup::default() }
            .hook(&[Phase::RequestHead], |_, said| {
                said.edit(&FilterEdit::Target(b"/new/x"));
                said.edit(&FilterEdit::ClearRoute);
                Verdict::Continue
            })
            .hook(&[Phase::RequestHead], |_, _| Verdict::Fault);
        if !is_last {
            setup = setup.hook(&[Phase::RequestHead], |_, _| Verdict::Continue);
        }
        let place = setup.start(origin);
        assert_status(&place.ask(GET), 200);
        assert!(seen.recv_timeout(PATIENCE).unwrap().starts_with("GET /new/x HTTP/1.1\r\n"));
    }
}

#[test]
fn a_pause_that_ended_by_itself_cannot_be_resumed() {
    let (sender, paused) = channel();
    let sender = Mutex::new(sender);
    // Accepts the request and responds only when asked to.
    let origin = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = Setup::default()
        .hook(&[Phase::RequestHead], move |_, said| {
            *said.wait = Some(Millis::new(5));
            sender.lock().unwrap().send((said.exchange, said.turn)).unwrap();
            Verdict::Pause
        })
        .start(origin.local_addr().unwrap());
    let mut client = connect(place.address);
    client.write_all(GET.as_bytes()).unwrap();
    let (mut link, _) = origin.accept().unwrap();
    link.read_exact(&mut [0; 4]).unwrap();
    let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
    let late = edits(&[FilterEdit::Reply { status: 418, body: b"late", details: b"" }]);
    assert_eq!(place.host.resume(exchange, turn, Verdict::Reply, &late), Err(HostError::Stale));
    link.write_all(OK.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_status(&answer, 200);
}

/// Starts an origin that answers one request, closes the link after `before_close` when the next one has begun, and
/// reports each later connection.
fn start_closing_origin(before_close: impl FnOnce() + Send + 'static) -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = listener.local_addr().unwrap();
    let (sender, again) = channel();
    std::thread::spawn(move || {
        let (mut link, _) = listener.accept().unwrap();
        let mut bytes = [0; 8192];
        assert!(link.read(&mut bytes).unwrap() > 0);
        link.write_all(OK.as_bytes()).unwrap();
        assert!(link.read(&mut bytes).unwrap() > 0);
        before_close();
        drop(link);
        while listener.accept().is_ok() {
            sender.send(()).unwrap();
        }
    });
    (origin, again)
}

#[test]
fn a_streamed_body_is_not_sent_again() {
    let (origin, again) = start_closing_origin(|| {});
    let place = Setup::default().hook(&[Phase::RequestBody], |_, _| Verdict::Continue).start(origin);
    assert_status(&place.ask(GET), 200);
    let put = post(&"abc".repeat(100_000)).replace("POST", "PUT");
    assert_status(&place.ask(&put), 502);
    assert!(again.try_recv().is_err(), "a part of the body was sent again");
}

#[test]
fn the_rest_of_a_body_is_not_resent_as_a_complete_body() {
    let (tell_buffered, buffered) = channel();
    // The link closes when a filter has buffered the rest of the body.
    let (origin, again) = start_closing_origin(move || buffered.recv_timeout(PATIENCE).unwrap());
    let tell_buffered = Mutex::new(tell_buffered);
    let place = Setup::default()
        .hook(&[Phase::RequestBody], move |view, said| {
            *said.state += 1;
            if view.is_buffered {
                assert!(view.is_end && view.body.len() < 300_000);
                tell_buffered.lock().unwrap().send(()).unwrap();
            }
            if *said.state == 1 { Verdict::Continue } else { Verdict::Buffer }
        })
        .start(origin);
    assert_status(&place.ask(GET), 200);
    let put = post(&"abc".repeat(100_000)).replace("POST", "PUT");
    assert_status(&place.ask(&put), 502);
    assert!(again.try_recv().is_err(), "a part of the body was sent as a whole request");
}

#[test]
fn a_fail_open_filter_that_made_changes_fails_closed() {
    let (origin, _seen) = start_origin(&[OK]);
    let policy = FilterPolicy { on_failure: FailurePolicy::Open, ..FilterPolicy::default() };
    let place = Setup { policy, ..Setup::default() }
        .hook(HEADS, |view, said| {
            if view.phase == Phase::ResponseHead && !view.response.unwrap().is_local {
                return Verdict::Fault;
            }
            said.edit(&FilterEdit::Set { name: b"x-mark", value: b"1" });
            Verdict::Continue
        })
        .start(origin);
    assert_status(&place.ask(GET), 500);
}

/// Returns a filter that changes a body to upper case, piece by piece.
fn shout(phase: Phase) -> impl Fn(&ExchangeView<'_>, &mut HookOutput<'_>) -> Verdict + Send + Sync {
    move |view, said| {
        if view.phase == phase {
            said.edit(&FilterEdit::BodySet(&view.body.to_ascii_uppercase()));
            if view.is_end {
                said.edit(&FilterEdit::BodyAppend(b"!"));
            }
        }
        Verdict::Continue
    }
}

#[test]
fn bodies_are_changed_as_they_stream() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    for answer in [OK, chunked] {
        let (origin, seen) = start_origin(&[answer]);
        let place = Setup::default()
            .hook(&[Phase::RequestBody], shout(Phase::RequestBody))
            .hook(&[Phase::ResponseBody], shout(Phase::ResponseBody))
            .start(origin);
        let large = "abc".repeat(50_000);
        for body in ["abc", &large] {
            let answer = place.ask(&post(body));
            assert_status(&answer, 200);
            let text: String = dechunk(body_of(&answer));
            assert_eq!(text, "HELLO!");
            let request = seen.recv_timeout(PATIENCE).unwrap();
            assert!(request.contains("Transfer-Encoding: chunked") && !request.contains("Content-Length"));
            assert_eq!(dechunk(body_of(&request)), format!("{}!", body.to_uppercase()));
        }
        let old = place.ask("GET / HTTP/1.0\r\n\r\n");
        assert!(!old.contains("chunked") && body_of(&old) == "HELLO!", "{old}");
        let _ = seen.recv_timeout(PATIENCE).unwrap();
        let chunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX-T: 1\r\n\r\n";
        assert_status(&place.ask(chunks), 200);
        let request = seen.recv_timeout(PATIENCE).unwrap();
        assert!(request.ends_with("0\r\nX-T: 1\r\n\r\n"), "{request}");
        assert_eq!(dechunk(body_of(&request)), "ABC");
    }
}

fn dechunk(mut text: &str) -> String {
    let mut data = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        data.push_str(&rest[..size]);
        text = &rest[size + 2..];
    }
    data
}

#[test]
fn a_filter_that_only_reads_bodies_keeps_their_framing() {
    let (origin, seen) = start_origin(&[OK]);
    let place = Setup { keeps_length: true, ..Setup::default() }
        .hook(&[Phase::RequestBody, Phase::ResponseBody], |_, _| Verdict::Continue)
        .start(origin);
    let answer = place.ask(&post("abc"));
    assert!(answer.contains("Content-Length: 5\r\n") && body_of(&answer) == "hello", "{answer}");
    assert!(seen.recv_timeout(PATIENCE).unwrap().contains("Content-Length: 3\r\n"));
}

#[test]
fn a_filter_may_change_a_body_without_content_length() {
    let (origin, seen) = start_origin(&[OK]);
    let place = Setup { keeps_length: true, ..Setup::default() }
        .hook(BODIES_AND_HEADS, |view, said| {
            match view.phase {
                Phase::RequestHead | Phase::ResponseHead => {
                    said.edit(&FilterEdit::Remove { name: b"Content-Length" });
                }
                _ => said.edit(&FilterEdit::BodyAppend(b"!")),
            }
            Verdict::Continue
        })
        .start(origin);
    let answer = place.ask(&post("abc"));
    assert!(answer.contains("chunked") && !answer.contains("Content-Length"), "{answer}");
    assert_eq!(dechunk(body_of(&answer)), "hello!");
    let request = seen.recv_timeout(PATIENCE).unwrap();
    assert!(request.contains("chunked") && !request.contains("Content-Length"), "{request}");
    assert_eq!(dechunk(body_of(&request)), "abc!");
}

#[test]
fn bytes_may_move_between_chunks_of_a_body_that_keeps_its_length() {
    let large = "abcde".repeat(40_000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{large}", large.len());
    let (origin, seen) = start_origin(&[&answer]);
    let late = Mutex::new(Vec::new());
    let place = Setup { keeps_length: true, ..Setup::default() }
        .hook(&[Phase::RequestBody, Phase::ResponseBody], move |view, said| {
            // The last byte of a piece is passed on with the next one.
            let mut late = late.lock().unwrap();
            let mut body = std::mem::take(&mut *late);
            body.extend_from_slice(view.body);
            if !view.is_end {
                late.extend(body.pop());
            }
            said.edit(&FilterEdit::BodySet(&body));
            Verdict::Continue
        })
        .start(origin);
    let answer = place.ask(&post(&large));
    assert!(answer.contains("Content-Length: 200000\r\n"), "{}", answer.len());
    assert_eq!(body_of(&answer), large);
    let request = seen.recv_timeout(PATIENCE).unwrap();
    assert!(request.contains("Content-Length: 200000\r\n") && body_of(&request) == large);
}

#[test]
fn a_head_is_sent_while_a_filter_buffers_the_body() {
    let (origin, _seen) = start_origin(&[OK]);
    let (sender, paused) = channel();
    let sender = Mutex::new(sender);
    let place = Setup { keeps_length: true, ..Setup::default() }
        .hook(&[Phase::ResponseBody], move |_, said| {
            sender.lock().unwrap().send((said.exchange, said.turn)).unwrap();
            Verdict::Pause
        })
        .start(origin);
    let mut stream = connect(place.address);
    stream.write_all(post("abc").as_bytes()).unwrap();
    let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    place.host.resume(exchange, turn, Verdict::Continue, &[]).unwrap();
    let mut body = String::new();
    stream.read_to_string(&mut body).unwrap();
    assert_eq!(body, "hello");
}

#[test]
fn a_length_that_changes_after_its_head_ends_the_exchange() {
    for on_failure in [FailurePolicy::Closed, FailurePolicy::Open] {
        for phase in [Phase::RequestBody, Phase::ResponseBody] {
            for edit in [FilterEdit::BodyAppend(b"!"), FilterEdit::BodyDrain(1), FilterEdit::BodySet(b"")] {
                let text = format!("{edit:?}");
                let (origin, _seen) = start_origin(&[OK]);
                let policy = FilterPolicy { on_failure, ..FilterPolicy::default() };
                let hook = move |_: &ExchangeView<'_>, said: &mut HookOutput<'_>| {
                    said.edit(&edit);
                    Verdict::Continue
                };
                let place = Setup { keeps_length: true, policy, ..Setup::default() }
                    .hook(&[phase], hook)
                    .hook(&[phase], |_, _| Verdict::Continue)
                    .start(origin);
                let answer = place.ask(&post("abc"));
                // If the head was sent before the body arrived, the body is shorter than announced.
                let is_cut = answer.contains("Content-Length: 5\r\n") && body_of(&answer).len() < 5;
                let is_in_response = answer.starts_with("HTTP/1.1 500 ");
                assert!(
                    is_in_response || (is_cut && phase == Phase::ResponseBody),
                    "{phase:?} {text}: {answer}"
                );
                let metrics = place.metrics();
                assert!(
                    metrics.contains("eddy_filter_faults_total{filter=\"f1\",kind=\"edit\"} 1"),
                    "{phase:?} {text}: {metrics}"
                );
            }
        }
    }
}

#[test]
fn a_filter_can_buffer_the_body_and_then_change_the_head() {
    let both = [Phase::RequestHead, Phase::RequestBody, Phase::ResponseHead, Phase::ResponseBody];
    for is_head in [true, false] {
        let (origin, seen) = start_origin(&[OK]);
        let collector = move |view: &ExchangeView<'_>, said: &mut HookOutput<'_>| match view.phase {
            Phase::RequestHead | Phase::ResponseHead if is_head && !view.is_end => Verdict::Buffer,
            Phase::RequestBody | Phase::ResponseBody if view.is_buffered => {
                assert!(view.is_end);
                let digest = format!("{}", view.body.len());
                if is_head {
                    said.edit(&FilterEdit::Set { name: b"x-size", value: digest.as_bytes() });
                }
                said.edit(&FilterEdit::BodyPrepend(b"<"));
                said.edit(&FilterEdit::BodyAppend(b">"));
                Verdict::Continue
            }
            Phase::RequestBody | Phase::ResponseBody if !is_head => Verdict::Buffer,
            _ => Verdict::Continue,
        };
        let place = Setup::default()
            .hook(&[Phase::RequestBody, Phase::ResponseBody], |view, said| {
                if !view.is_buffered {
                    said.edit(&FilterEdit::BodySet(&view.body.to_ascii_uppercase()));
                }
                Verdict::Continue
            })
            .hook(&both, collector)
            .hook(HEADS, |_, said| {
                said.edit(&FilterEdit::Add { name: b"x-last", value: b"1" });
                Verdict::Continue
            })
            .start(origin);
        let body = "abc".repeat(20_000);
        let answer = place.ask(&post(&body));
        let request = seen.recv_timeout(PATIENCE).unwrap();
        let upper = format!("<{}>", body.to_uppercase());
        if is_head {
            assert!(request.contains("x-size: 60000\r\n") && request.contains("Content-Length: 60002\r\n"));
            assert_eq!(body_of(&request), upper);
            // Responses reach the collector first: it buffers what the first filter has not changed yet.
            assert!(answer.contains("x-size: 5\r\n") && answer.contains("Content-Length: 7\r\n"), "{answer}");
            assert_eq!(body_of(&answer), "<hello>");
        } else {
            assert_eq!(dechunk(body_of(&request)), upper);
            assert_eq!(dechunk(body_of(&answer)), "<hello>");
        }
        assert_eq!(request.matches("x-last: 1").count(), 1, "{request:.300}");
        assert_eq!(answer.matches("x-last: 1").count(), 1, "{answer}");
        assert_status(&place.ask(GET), 200);
    }
}

#[test]
fn a_head_can_wait_while_its_filter_gets_the_chunks() {
    let chunks = |end: &str| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n{end}")
    };
    let (origin, seen) = start_origin(&[&chunks("0\r\n\r\n"), &chunks("0\r\nx-end: 1\r\n\r\n")]);
    // Releases the request at its second piece, the response at its end.
    let holder = |view: &ExchangeView<'_>, said: &mut HookOutput<'_>| match view.phase {
        Phase::RequestHead | Phase::ResponseHead => Verdict::Hold,
        Phase::RequestBody => {
            assert!(!view.is_buffered);
            said.edit(&FilterEdit::BodySet(&view.body.to_ascii_uppercase()));
            *said.state += view.body.len() as u64;
            if *said.state <= 3 { Verdict::Hold } else { Verdict::Continue }
        }
        _ => {
            if view.trailers.first_named(b"x-end").is_some() {
                said.edit(&FilterEdit::Status(404));
                said.edit(&FilterEdit::BodySet(b"gone"));
            } else if view.is_end {
                said.edit(&FilterEdit::Set { name: b"x-end", value: b"2" });
            }
            Verdict::Hold
        }
    };
    let place = Setup::default()
        .hook(BODIES_AND_HEADS, |view, said| {
            if view.phase == Phase::ResponseHead {
                let end = view.response.unwrap().fields.first_named(b"x-end").unwrap_or(b"none").to_vec();
                said.edit(&FilterEdit::Set { name: b"x-seen", value: &end });
            }
            if view.phase == Phase::ResponseBody {
                assert!(view.is_buffered);
                said.edit(&FilterEdit::BodyAppend(b"!"));
            }
            Verdict::Continue
        })
        .hook(BODIES_AND_HEADS, holder)
        .start(origin);
    let post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n";
    let answer = place.ask(post);
    assert_eq!(dechunk(body_of(&seen.recv_timeout(PATIENCE).unwrap())), "ABCDEF");
    // The header set at the end is in the head before the next filter sees it.
    assert_status(&answer, 200);
    assert!(answer.contains("x-seen: 2\r\n") && answer.contains("Content-Length: 7\r\n"), "{answer}");
    assert_eq!(body_of(&answer), "abcdef!");
    let answer = place.ask(post);
    assert_status(&answer, 404);
    assert!(answer.contains("abcdefgone!") && answer.contains("x-end: 1"), "{answer}");
    // A message without a body has nothing to wait for.
    assert_status(&place.ask(GET), 404);
}

#[test]
fn a_body_can_be_added_to_a_message_without_one() {
    let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let none = "HTTP/1.1 204 No Content\r\n\r\n";
    let (origin, seen) = start_origin(&[empty, OK, none]);
    let place = Setup::default()
        .hook(BODIES_AND_HEADS, |view, said| {
            match view.phase {
                Phase::ResponseBody if !view.response.unwrap().is_local => {
                    assert_eq!((view.body, view.is_buffered), (b"made".as_slice(), true));
                    said.edit(&FilterEdit::BodyAppend(b"!"));
                }
                Phase::RequestBody => panic!("it stands before the one that makes the body"),
                _ => {}
            }
            Verdict::Continue
        })
        .hook(HEADS, |view, said| {
            if view.phase == Phase::RequestHead {
                said.edit(&FilterEdit::Method(b"POST"));
            }
            if !view.response.is_some_and(|response| response.is_local) {
                said.edit(&FilterEdit::BodySet(b"made"));
            }
            Verdict::Continue
        })
        .start(origin);
    let answer = place.ask(GET);
    let request = seen.recv_timeout(PATIENCE).unwrap();
    assert!(request.starts_with("POST /a?b ") && request.contains("Content-Length: 4\r\n"), "{request}");
    assert_eq!((body_of(&request), body_of(&answer)), ("made", "made!"));
    // A body cannot be set with the head when there is one already, nor when none is allowed.
    assert_status(&place.ask(GET), 500);
    assert_status(&place.ask(GET), 500);
}

#[test]
fn buffered_bodies_are_limited() {
    let policy = FilterPolicy { body_bytes_max: 1000, ..FilterPolicy::default() };
    let (origin, _seen) = start_origin(&[&OK.replace("hello", &"x".repeat(2000)).replace(": 5", ": 2000")]);
    let place = Setup { policy, ..Setup::default() }
        .hook(HEADS, |view, _| {
            let is_ours = view.phase == Phase::RequestHead || !view.response.unwrap().is_local;
            if is_ours { Verdict::Buffer } else { Verdict::Continue }
        })
        .start(origin);
    assert_status(&place.ask(&post(&"x".repeat(1001))), 413);
    assert_status(&place.ask(GET), 502);
    assert!(place.metrics().contains("eddy_filter_faults_total{filter=\"f1\",kind=\"body\"} 2\n"));
}

#[test]
fn filtered_bodies_are_limited_like_others() {
    for is_collected in [true, false] {
        let (origin, _seen) = start_origin(&[OK]);
        let place = Setup { keys: "limits: {body_bytes: 10},", ..Setup::default() }
            .hook(&[Phase::RequestHead, Phase::RequestBody], move |view, _| {
                let collects = is_collected && view.phase == Phase::RequestHead;
                if collects { Verdict::Buffer } else { Verdict::Continue }
            })
            .start(origin);
        let chunked = |size: usize| {
            let head =
                "POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
            format!("{head}{size:x}\r\n{}\r\n0\r\n\r\n", "a".repeat(size))
        };
        assert_status(&place.ask(&chunked(10)), 200);
        assert_status(&place.ask(&chunked(11)), 413);
    }
}

#[test]
fn a_buffered_request_is_retried_where_that_is_safe() {
    let (origin, seen) = start_origin(&[OK]);
    let rest = "routes: {site: [{cluster: c}]}\nclusters: {c: {endpoints: ['127.0.0.1:1', 'ORIGIN']}}";
    let place = Setup { rest, ..Setup::default() }
        .hook(HEADS, |view, _| if view.is_end { Verdict::Continue } else { Verdict::Buffer })
        .start(origin);
    for _ in 0..4 {
        assert_status(&place.ask(&post("abc")), 200);
        assert!(seen.recv_timeout(PATIENCE).unwrap().ends_with("\r\n\r\nabc"));
    }
}

#[test]
fn pauses_within_bodies_keep_every_byte_in_order() {
    let large = "0123456789".repeat(30_000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{large}", large.len());
    let (origin, seen) = start_origin(&[&answer]);
    let (sender, paused) = channel();
    let sender = Mutex::new(sender);
    let phases = [Phase::RequestBody, Phase::ResponseBody];
    let place = Setup::default()
        .hook(&phases, move |_, said| {
            sender.lock().unwrap().send((said.exchange, said.turn)).unwrap();
            Verdict::Pause
        })
        .hook(&phases, |_, _| Verdict::Continue)
        .start(origin);
    let host = Arc::clone(&place.host);
    std::thread::spawn(move || {
        for (count, (exchange, turn)) in paused.iter().enumerate() {
            let edits = if count % 3 == 0 { edits(&[FilterEdit::BodyAppend(b"")]) } else { Vec::new() };
            host.resume(exchange, turn, Verdict::Continue, &edits).unwrap();
        }
    });
    let answer = place.ask(&post(&large));
    assert_eq!(dechunk(body_of(&answer)), large);
    assert_eq!(dechunk(body_of(&seen.recv_timeout(PATIENCE).unwrap())), large);
}

#[test]
fn the_end_of_every_state_is_reported_once() {
    let (origin, _seen) = start_origin(&[OK, OK, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\ncut"]);
    let count = AtomicUsize::new(0);
    let logged = Arc::new(AtomicUsize::new(0));
    let log_count = Arc::clone(&logged);
    let place = Setup::default()
        .hook(&[Phase::RequestHead, Phase::ResponseHead, Phase::Log], move |view, said| {
            if view.phase == Phase::RequestHead {
                assert_eq!(*said.state, 0);
                *said.state = count.fetch_add(1, Relaxed) as u64 + 100;
            }
            assert!(*said.state >= 100);
            if view.phase == Phase::Log {
                assert!(view.about().duration_us > 0 && view.response.is_some());
                log_count.fetch_add(1, Relaxed);
                return Verdict::Pause;
            }
            Verdict::Continue
        })
        .hook(HEADS, |_, _| Verdict::Continue)
        .start(origin);
    (0..2).for_each(|_| assert_status(&place.ask(GET), 200));
    drop(_seen);
    assert_eq!(place.ends(2), [(1, 100, EndReason::Complete), (1, 101, EndReason::Complete)]);
    assert_eq!(logged.load(Relaxed), 2);
}

#[test]
fn a_client_disconnect_ends_the_pause_of_a_filter() {
    let (origin, _seen) = start_origin(&[OK]);
    let (paused, hook) = pausing(Phase::RequestHead);
    let place = Setup::default()
        .hook(HEADS, move |view, said| {
            *said.state = 7;
            hook(view, said)
        })
        .start(origin);
    let mut client = connect(place.address);
    client.write_all(GET.as_bytes()).unwrap();
    let (exchange, turn) = paused.recv_timeout(PATIENCE).unwrap();
    drop(client);
    assert_eq!(place.ends(1), [(1, 7, EndReason::Cut)]);
    assert!(place.metrics().contains("eddy_filter_paused{filter=\"f1\"} 0\n"), "{}", place.metrics());
    assert_eq!(place.host.resume(exchange, turn, Verdict::Continue, &[]), Err(HostError::Gone));
}

#[test]
fn metadata_is_passed_along_the_chain() {
    let (origin, _seen) = start_origin(&[OK]);
    let place = Setup::default()
        .hook(&[Phase::RequestHead], |_, said| {
            said.edit(&FilterEdit::Metadata { space: b"auth", key: b"user", value: b"\"me\"" });
            Verdict::Continue
        })
        .hook(HEADS, |view, said| {
            if view.phase == Phase::ResponseHead {
                let user = view.about().metadata.unwrap().get(b"auth", b"user").unwrap_or(b"nobody");
                said.edit(&FilterEdit::Set { name: b"x-user", value: user });
            }
            Verdict::Continue
        })
        .start(origin);
    assert!(place.ask(GET).contains("x-user: \"me\"\r\n"));
}

#[test]
fn a_filter_can_select_the_endpoint() {
    let (origin, seen) = start_origin(&[OK]);
    let rest = "routes: {site: [{cluster: c}]}\nclusters: {c: {endpoints: ['127.0.0.1:1', 'ORIGIN']}}";
    let place = Setup { rest, ..Setup::default() }
        .hook(&[Phase::RequestHead], move |view, said| {
            let address =
                if view.request.target == b"/none" { "127.0.0.9:9".to_owned() } else { origin.to_string() };
            said.edit(&FilterEdit::Endpoint { address: address.as_bytes(), is_strict: true });
            Verdict::Continue
        })
        .start(origin);
    for _ in 0..5 {
        assert_status(&place.ask(GET), 200);
        seen.recv_timeout(PATIENCE).unwrap();
    }
    assert_status(&place.ask(&GET.replace("/a?b", "/none")), 503);
}

#[test]
fn exchange_info_is_current_in_each_phase() {
    let (origin, _seen) = start_origin(&[OK]);
    let place = Setup { keys: "request_id: x-request-id, name: front,", ..Setup::default() }
        .hook(HEADS, move |view, said| {
            let about = view.about();
            assert!(about.peer.starts_with(b"127.0.0.1:") && about.peer_ip.is_some());
            assert_eq!(
                (about.listener, about.rule, about.cluster),
                (&b"front"[..], &b"site/1"[..], &b"c"[..])
            );
            assert!(about.started_unix_us > 1_600_000_000_000_000 && about.connection > 0);
            if view.phase == Phase::ResponseHead {
                assert_eq!(about.endpoint, origin.to_string().as_bytes());
                assert_eq!(about.attempts, 1);
                said.edit(&FilterEdit::Set { name: b"x-facts", value: b"right" });
            }
            Verdict::Continue
        })
        .start(origin);
    assert!(place.ask(GET).contains("x-facts: right"));
}

fn outbound(token: u64, cluster: &str) -> FilterOutboundRequest<'_> {
    FilterOutboundRequest {
        filter: 1,
        token,
        exchange: None,
        bond: CallBond::Awaited,
        cluster,
        method: b"POST",
        target: b"/check?a",
        authority: b"",
        fields: vec![(b"x-a", b"1")],
        body: b"question",
        timeout: Millis::new(10_000),
    }
}

#[test]
fn a_filter_calls_a_cluster_and_gets_the_end_once() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let (origin, seen) =
        start_origin(&[OK, chunked, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", "broken\r\n\r\n"]);
    let place = Setup::default().hook(HEADS, |_, _| Verdict::Continue).start(origin);
    place.host.send(&outbound(1, "c")).unwrap();
    assert_eq!(place.events(1), [(1, 200, "hello".to_owned())]);
    let request = seen.recv_timeout(PATIENCE).unwrap();
    assert!(request.starts_with("POST /check?a HTTP/1.1\r\nHost: c\r\n"), "{request}");
    assert!(request.contains("\r\nx-a: 1\r\n") && request.ends_with("\r\n\r\nquestion"), "{request}");
    place.host.send(&outbound(2, "c")).unwrap();
    assert_eq!(place.events(2)[1], (2, 200, "abc".to_owned()));
    place.host.send(&FilterOutboundRequest { timeout: Millis::new(50), ..outbound(3, "c") }).unwrap();
    assert_eq!(place.events(3)[2], (3, 0, "timeout".to_owned()));
    place.host.send(&outbound(4, "c")).unwrap();
    assert_eq!(place.events(4)[3], (4, 0, "response_head".to_owned()));
    assert_eq!(place.host.cancel(1, 4), Err(HostError::Unknown));
    assert_eq!(place.host.send(&outbound(5, "none")), Err(HostError::Unknown));
    assert_eq!(
        place.host.send(&FilterOutboundRequest { filter: 99, ..outbound(5, "c") }),
        Err(HostError::Unknown)
    );
    assert_eq!(
        place.host.send(&FilterOutboundRequest { target: b"x", ..outbound(5, "c") }),
        Err(HostError::Invalid)
    );
    let gone = FilterOutboundRequest { exchange: Some(Handle::from_number(7)), ..outbound(5, "c") };
    assert_eq!(place.host.send(&gone), Err(HostError::Gone));
}

#[test]
fn requests_that_are_not_idempotent_are_not_sent_over_a_closed_link() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (close, closing) = channel();
    let (tell, closed) = channel();
    std::thread::spawn(move || {
        for link in listener.incoming() {
            let mut link = link.unwrap();
            let mut held = String::new();
            while !is_whole(&held) {
                let mut bytes = [0; 8192];
                let count = link.read(&mut bytes).unwrap();
                held.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
            link.write_all(OK.as_bytes()).unwrap();
            let _ = closing.recv();
            drop(link);
            let _ = tell.send(());
        }
    });
    let place = Setup::default().hook(HEADS, |_, _| Verdict::Continue).start(address);
    let host = Arc::clone(&place.host);
    // The link closes, and the next request comes before the worker polls its sockets again.
    let on_event = move |token, status| {
        if status == 200 && token < 3 {
            close.send(()).unwrap();
            closed.recv().unwrap();
            host.send(&outbound(token + 1, "c")).unwrap();
        }
    };
    *place.library.on_event.lock().unwrap() = Some(Box::new(on_event));
    place.host.send(&outbound(1, "c")).unwrap();
    let hello = |token| (token, 200, "hello".to_owned());
    assert_eq!(place.events(3), [hello(1), hello(2), hello(3)]);
}

#[test]
fn outbound_requests_of_an_exchange_end_with_it() {
    // Accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (paused, hook) = pausing(Phase::RequestHead);
    let place = Setup::default().hook(HEADS, hook).start(silent.local_addr().unwrap());
    let mut client = connect(place.address);
    client.write_all(GET.as_bytes()).unwrap();
    let (exchange, _) = paused.recv_timeout(PATIENCE).unwrap();
    place.host.send(&FilterOutboundRequest { exchange: Some(exchange), ..outbound(1, "c") }).unwrap();
    place.host.send(&FilterOutboundRequest { exchange: Some(exchange), ..outbound(2, "c") }).unwrap();
    assert_eq!(place.host.send(&outbound(2, "c")), Err(HostError::Invalid));
    assert_eq!(place.host.cancel(1, 2), Ok(()));
    drop(client);
    assert_eq!(place.events(1), [(1, 0, "exchange_over".to_owned())]);
    assert_eq!(place.host.cancel(1, 1), Err(HostError::Unknown));
}

//! Runs a case with a guest in any language.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use eddy_filter::{
    DynamicMetadata, EditLog, EndReason, EndedExchange, ExchangeInfo, ExchangeView, FilterEdit,
    FilterInvocation, Handle, LibraryCall, LibraryKeepAlive, Phase, RequestView, ResponseView,
};
use eddy_guest::{Guest, ReclaimQueue};
use eddy_http::{Field, FieldId, Fields, Method, Span, Version};

use crate::format::{CallOf, EditOf, FieldOf, PHASES, VERDICTS, VectorCase, listed, number_of};
use crate::host;

/// Filter as configured by a case.
struct VectorFilter {
    step: FilterInvocation,
    _owners: (LibraryKeepAlive, Option<LibraryKeepAlive>),
}

/// Runs a case and returns the differences from the expectation.
pub(crate) fn case(guest: &dyn Guest, case: &VectorCase) -> Vec<String> {
    static EXCHANGES: AtomicU64 = AtomicU64::new(1);
    let exchange = EXCHANGES.fetch_add(1, Ordering::Relaxed);
    let reclaim_queue = ReclaimQueue::new(|| ());
    let made: Vec<VectorFilter> =
        case.steps.iter().map(|step| make(guest, &reclaim_queue, &step.config, step.rule.as_ref())).collect();
    let mut steps: Vec<FilterInvocation> = made.iter().map(|made| made.step).collect();
    let mut wrong = Vec::new();
    for (index, call) in case.calls.iter().enumerate() {
        let turn = u32::try_from(index + 1).unwrap();
        let found = run(guest, call, &mut steps, exchange, turn);
        wrong.extend(found.into_iter().map(|what| format!("call {index}: {what}")));
    }
    let ended: Vec<EndedExchange> = steps
        .iter()
        .filter(|step| step.state != 0)
        .map(|step| EndedExchange { filter: step.filter, state: step.state, reason: EndReason::Complete })
        .collect();
    enter(guest, &mut [], None, &ended, (exchange, 0), false);
    drop(made);
    reclaim_queue.drain();
    wrong
}

fn make(
    guest: &dyn Guest,
    reclaim_queue: &ReclaimQueue,
    config: &serde_json::Value,
    rule: Option<&serde_json::Value>,
) -> VectorFilter {
    static IDS: AtomicU32 = AtomicU32::new(1);
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    let filter =
        guest.filter("vector", &config.to_string(), id, reclaim_queue).expect("the case's configuration");
    let rule = rule.map(|rule| {
        guest
            .rule_config(filter.number, &filter.owner, &rule.to_string(), reclaim_queue)
            .expect("the rule's configuration")
    });
    let (config, owner) = rule.map_or((0, None), |(number, owner)| (number, Some(owner)));
    let step = FilterInvocation { filter: filter.number, config, id, ..FilterInvocation::default() };
    VectorFilter { step, _owners: (filter.owner, owner) }
}

fn run(
    guest: &dyn Guest,
    call: &CallOf,
    steps: &mut [FilterInvocation],
    exchange: u64,
    turn: u32,
) -> Vec<String> {
    let phase = Phase::ALL[usize::from(number_of(PHASES, &call.phase))];
    let default_fields = [FieldOf::One(text(b"Host"), text(b"example.com"))];
    let request = call.request.as_ref();
    let request_fields = VectorFields::of(request.map_or(&default_fields[..], |request| &request.fields));
    let response_fields =
        VectorFields::of(call.response.as_ref().map_or(&[][..], |response| &response.fields));
    let trailers = VectorFields::of(&call.trailers);
    let mut metadata = DynamicMetadata::new();
    for (space, key, value) in &call.metadata {
        metadata.set(space.as_bytes(), key.as_bytes(), value.as_bytes()).unwrap();
    }
    let method = request.map_or("GET", |request| &request.method);
    let about = &call.about;
    let is_of_trailers = matches!(phase, Phase::RequestTrailers | Phase::ResponseTrailers);
    let view = ExchangeView {
        phase,
        is_end: call.end,
        is_buffered: call.buffered,
        request: RequestView {
            fields: request_fields.fields(),
            method: Method::from_bytes(method.as_bytes()),
            method_name: method.as_bytes(),
            target: request.map_or("/", |request| &request.target).as_bytes(),
            authority: request.map_or("example.com", |request| &request.authority).as_bytes(),
            version: if request.is_some_and(|request| request.version == 10) {
                Version::Http10
            } else {
                Version::Http11
            },
            is_tls: call.tls,
        },
        response: (phase as u8 >= Phase::ResponseHead as u8).then(|| ResponseView {
            fields: response_fields.fields(),
            status: call.response.as_ref().map_or(200, |response| response.status),
            is_local: call.local,
        }),
        trailers: if is_of_trailers { trailers.fields() } else { Fields::default() },
        body: &call.body.0,
        facts: &ExchangeInfo {
            peer: about.peer.as_bytes(),
            local: about.local.as_bytes(),
            listener: about.listener.as_bytes(),
            rule: about.rule.as_bytes(),
            cluster: about.cluster.as_bytes(),
            endpoint: about.endpoint.as_bytes(),
            request_id: about.request_id.as_bytes(),
            details: about.details.as_bytes(),
            metadata: Some(&metadata),
            request_bytes: about.request_bytes,
            response_bytes: about.response_bytes,
            attempts: about.attempts,
            ..ExchangeInfo::UNKNOWN
        },
    };
    let (stopped, edits) = enter(guest, steps, Some(&view), &[], (exchange, turn), call.sample);
    let mut wrong = Vec::new();
    if phase != Phase::Log {
        wrong.extend(compare_verdicts(call, steps, stopped));
        wrong.extend(compare("edit", &edits, &call.expect.edits));
    }
    if let Some(expected) = &call.expect.resume {
        match host::resumed(exchange, turn) {
            None => wrong.push("nobody resumed".to_owned()),
            Some((verdict, records)) => {
                let mut edits = EditLog::new();
                edits.append(&records).expect("edits that the host can read");
                wrong.extend(compare("later edit", &edits, &expected.edits));
                if verdict as u8 != number_of(VERDICTS, &expected.verdict) {
                    wrong.push(format!("resumed with {verdict:?}"));
                }
            }
        }
    }
    wrong
}

/// Enters the steps; returns the index of the step that stopped and the edits.
fn enter(
    guest: &dyn Guest,
    steps: &mut [FilterInvocation],
    view: Option<&ExchangeView<'_>>,
    ended: &[EndedExchange],
    (exchange, turn): (u64, u32),
    is_sampled: bool,
) -> (usize, EditLog) {
    let mut edits = EditLog::new();
    let current = AtomicU32::new(0);
    let mut call = LibraryCall {
        worker: 0,
        exchange: Handle::from_number(exchange),
        turn,
        is_sampled,
        view,
        steps,
        ended,
        edits: &mut edits,
        stopped: 0,
        wait: None,
        current: &current,
    };
    guest.run(&mut call);
    let stopped = call.stopped;
    assert_eq!(current.load(Ordering::Relaxed), 0, "nobody is entered any more");
    (stopped, edits)
}

fn compare_verdicts(call: &CallOf, steps: &[FilterInvocation], stopped: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    if stopped != call.expect.stopped.unwrap_or(steps.len()) {
        wrong.push(format!("stopped at {stopped}"));
    }
    for (index, step) in steps.iter().enumerate().take(stopped + 1) {
        let expected = call.expect.verdicts.get(index).map_or("continue", String::as_str);
        if step.verdict as u8 != number_of(VERDICTS, expected) {
            wrong.push(format!("step {index} says {:?}", step.verdict));
        }
        if call.sample && step.nanos == 0 {
            wrong.push(format!("the time of step {index} is not told"));
        }
    }
    wrong
}

fn compare(what: &str, written: &EditLog, expected: &[EditOf]) -> Vec<String> {
    let written: Vec<_> = written.records().map(|record| record.expect("an edit that can be read")).collect();
    let mut wrong = Vec::new();
    if written.len() != expected.len() {
        wrong.push(format!("{} of {what}, not {}", written.len(), expected.len()));
    }
    for (index, (record, expected)) in written.iter().zip(expected).enumerate() {
        let (op, number, name, value) = parts(&record.edit);
        if !expected.is_that(op, record.step, number, &name, value) {
            let (found, wanted) = (format!("{record:?}"), format!("{expected:?}"));
            wrong.push(format!("{what} {index}: {found:.300}, not {wanted:.300}"));
        }
    }
    wrong
}

/// Returns operation number and parts of an edit, as in the filter ABI.
fn parts<'a>(edit: &FilterEdit<'a>) -> (u8, u32, Vec<u8>, &'a [u8]) {
    let nameless = |op, number, value| (op, number, Vec::new(), value);
    match *edit {
        FilterEdit::Set { name, value } => (1, 0, name.to_vec(), value),
        FilterEdit::Add { name, value } => (2, 0, name.to_vec(), value),
        FilterEdit::Remove { name } => (3, 0, name.to_vec(), b""),
        FilterEdit::Method(value) => nameless(4, 0, value),
        FilterEdit::Target(value) => nameless(5, 0, value),
        FilterEdit::Authority(value) => nameless(6, 0, value),
        FilterEdit::Status(number) => nameless(7, number, b""),
        FilterEdit::BodySet(value) => nameless(8, 0, value),
        FilterEdit::BodyAppend(value) => nameless(9, 0, value),
        FilterEdit::BodyPrepend(value) => nameless(10, 0, value),
        FilterEdit::BodyDrain(number) => nameless(11, number, b""),
        FilterEdit::Reply { status, body, details } => (12, status, details.to_vec(), body),
        FilterEdit::ReplyField { name, value } => (13, 0, name.to_vec(), value),
        FilterEdit::Metadata { space, key, value } => (14, 0, [space, b"\0", key].concat(), value),
        FilterEdit::ClearRoute => nameless(15, 0, b""),
        FilterEdit::Endpoint { address, is_strict } => nameless(16, is_strict.into(), address),
        FilterEdit::Fault(why) => nameless(17, 0, why),
        FilterEdit::LimitFault { limit, why } => nameless(17, limit as u32, why),
        FilterEdit::ReplyGrpc(number) => nameless(18, number, b""),
        FilterEdit::Trailer { change, name, value } => (19, change as u32, name.to_vec(), value),
    }
}

/// Fields with their bytes.
struct VectorFields {
    bytes: Vec<u8>,
    places: Vec<Field>,
}

impl VectorFields {
    fn of(list: &[FieldOf]) -> Self {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        for (name, value) in listed(list) {
            let mut put = |part: &[u8]| {
                let start = bytes.len();
                bytes.extend_from_slice(part);
                Span::new(start, bytes.len())
            };
            let (name_at, value_at) = (put(name.as_bytes()), put(value));
            places.push(Field {
                name: name_at,
                value: value_at,
                id: FieldId::from_name(name.as_bytes()),
                ..Field::default()
            });
        }
        Self { bytes, places }
    }

    fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.places)
    }
}

fn text(bytes: &[u8]) -> crate::format::VectorBytes {
    crate::format::VectorBytes(bytes.to_vec())
}

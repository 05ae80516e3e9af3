//! Runs a case by a guest, whatever it is written in.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use eddy_filter::{
    About, Call, Edit, EditLog, EndReason, Ended, Handle, Metadata, Owner, Phase, RequestView, ResponseView,
    Step, View,
};
use eddy_guest::{Guest, ReclaimQueue};
use eddy_http::{Field, FieldId, Fields, Method, Span, Version};

use crate::format::{CallOf, Case, EditOf, FieldOf, PHASES, VERDICTS, listed, number_of};
use crate::host;

/// A filter as a case configures it.
struct Made {
    step: Step,
    _owners: (Owner, Option<Owner>),
}

/// What is otherwise than expected.
pub(crate) fn case(guest: &dyn Guest, case: &Case) -> Vec<String> {
    static EXCHANGES: AtomicU64 = AtomicU64::new(1);
    let exchange = EXCHANGES.fetch_add(1, Ordering::Relaxed);
    let reclaim_queue = ReclaimQueue::new(|| ());
    let made: Vec<Made> =
        case.steps.iter().map(|step| make(guest, &reclaim_queue, &step.config, step.rule.as_ref())).collect();
    let mut steps: Vec<Step> = made.iter().map(|made| made.step).collect();
    let mut wrong = Vec::new();
    for (index, call) in case.calls.iter().enumerate() {
        let turn = u32::try_from(index + 1).unwrap();
        let found = run(guest, call, &mut steps, exchange, turn);
        wrong.extend(found.into_iter().map(|what| format!("call {index}: {what}")));
    }
    let ended: Vec<Ended> = steps
        .iter()
        .filter(|step| step.state != 0)
        .map(|step| Ended { filter: step.filter, state: step.state, reason: EndReason::Complete })
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
) -> Made {
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
    let step = Step { filter: filter.number, config, id, ..Step::default() };
    Made { step, _owners: (filter.owner, owner) }
}

fn run(guest: &dyn Guest, call: &CallOf, steps: &mut [Step], exchange: u64, turn: u32) -> Vec<String> {
    let phase = Phase::ALL[usize::from(number_of(PHASES, &call.phase))];
    let default_fields = [FieldOf::One(text(b"Host"), text(b"example.com"))];
    let request = call.request.as_ref();
    let request_fields = Section::of(request.map_or(&default_fields[..], |request| &request.fields));
    let response_fields = Section::of(call.response.as_ref().map_or(&[][..], |response| &response.fields));
    let trailers = Section::of(&call.trailers);
    let mut metadata = Metadata::new();
    for (space, key, value) in &call.metadata {
        metadata.set(space.as_bytes(), key.as_bytes(), value.as_bytes()).unwrap();
    }
    let method = request.map_or("GET", |request| &request.method);
    let about = &call.about;
    let is_of_trailers = matches!(phase, Phase::RequestTrailers | Phase::ResponseTrailers);
    let view = View {
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
        about: About {
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
            ..About::default()
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

/// Enters, and gives the index that was stopped at and the edits.
fn enter(
    guest: &dyn Guest,
    steps: &mut [Step],
    view: Option<&View<'_>>,
    ended: &[Ended],
    (exchange, turn): (u64, u32),
    is_sampled: bool,
) -> (usize, EditLog) {
    let mut edits = EditLog::new();
    let current = AtomicU32::new(0);
    let mut call = Call {
        worker: 0,
        exchange: Handle::from_number(exchange),
        turn,
        is_sampled,
        view,
        steps,
        ended,
        edits: &mut edits,
        stopped: 0,
        wait_ms: 0,
        current: &current,
    };
    guest.run(&mut call);
    let stopped = call.stopped;
    assert_eq!(current.load(Ordering::Relaxed), 0, "nobody is entered any more");
    (stopped, edits)
}

fn compare_verdicts(call: &CallOf, steps: &[Step], stopped: usize) -> Vec<String> {
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

/// An edit as the contract numbers and names its parts.
fn parts<'a>(edit: &Edit<'a>) -> (u8, u32, Vec<u8>, &'a [u8]) {
    let nameless = |op, number, value| (op, number, Vec::new(), value);
    match *edit {
        Edit::Set { name, value } => (1, 0, name.to_vec(), value),
        Edit::Add { name, value } => (2, 0, name.to_vec(), value),
        Edit::Remove { name } => (3, 0, name.to_vec(), b""),
        Edit::Method(value) => nameless(4, 0, value),
        Edit::Target(value) => nameless(5, 0, value),
        Edit::Authority(value) => nameless(6, 0, value),
        Edit::Status(number) => nameless(7, number, b""),
        Edit::BodySet(value) => nameless(8, 0, value),
        Edit::BodyAppend(value) => nameless(9, 0, value),
        Edit::BodyPrepend(value) => nameless(10, 0, value),
        Edit::BodyDrain(number) => nameless(11, number, b""),
        Edit::Reply { status, body, details } => (12, status, details.to_vec(), body),
        Edit::ReplyField { name, value } => (13, 0, name.to_vec(), value),
        Edit::Metadata { space, key, value } => (14, 0, [space, b"\0", key].concat(), value),
        Edit::ClearRoute => nameless(15, 0, b""),
        Edit::Endpoint { address, is_strict } => nameless(16, is_strict.into(), address),
        Edit::Fault(why) => nameless(17, 0, why),
        Edit::LimitFault { limit, why } => nameless(17, limit as u32, why),
        Edit::ReplyGrpc(number) => nameless(18, number, b""),
    }
}

/// Fields as they lie in a message.
struct Section {
    bytes: Vec<u8>,
    places: Vec<Field>,
}

impl Section {
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

fn text(bytes: &[u8]) -> crate::format::Text {
    crate::format::Text(bytes.to_vec())
}

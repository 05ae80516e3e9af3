//! `abi/chains/cases.json`: exchanges through chains, with the calls and the messages that a filter run makes of them.

use std::fmt::Write;
use std::path::Path;

use eddy_filter::{Phase, Verdict};

use crate::machine::Machine;
use crate::scenario::{ChainScenario, Edit, FilterAction, MessageSpec, StepSpec, TraceEvent};

/// Number of cases in the file.
const CASES: usize = 120;

#[test]
fn the_generated_chain_vectors_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/chains/cases.json");
    let text = cases();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let is_same = std::fs::read_to_string(&path).unwrap() == text;
    assert!(is_same, "abi/chains/cases.json differs from what filter runs do; UPDATE=1 rewrites it");
}

fn cases() -> String {
    let mut rng = Rng(1);
    let mut machine = Machine::default();
    let mut cases = Vec::new();
    while cases.len() < CASES {
        let scenario = rng.scenario();
        let trace = machine.run(&scenario).unwrap();
        // One in four has a step that buffers the rest of a body before a step that holds the head.
        if is_fit(&scenario, &trace) && (cases.len() % 4 > 0 || has_inner_hold(&trace)) {
            cases.push(case(cases.len() + 1, &scenario, &trace));
        }
    }
    format!("{{\"cases\": [\n{}\n]}}\n", cases.join(",\n"))
}

/// Whether the exchange ends with a response, and has something to show.
fn is_fit(scenario: &ChainScenario, trace: &[TraceEvent]) -> bool {
    let calls = trace.iter().filter(|event| matches!(event, TraceEvent::Call { .. })).count();
    let has_failed =
        trace.iter().any(|event| matches!(event, TraceEvent::Failed(_) | TraceEvent::TooLarge(_)));
    let heads = trace.iter().filter(|event| matches!(event, TraceEvent::Head(_))).count();
    let reply = trace.iter().position(|event| matches!(event, TraceEvent::Reply(_)));
    // A response that has begun is cut off by a reply.
    let is_cut = heads > 2 && reply.is_some() || is_late(trace, reply);
    calls >= scenario.steps.len().max(2) && !has_failed && !is_cut
}

/// Whether a step has seen two pieces and then the rest of a body whose head is held.
fn has_inner_hold(trace: &[TraceEvent]) -> bool {
    let shown = |event: &TraceEvent, step: u8, phase: Phase, whole: bool| {
        matches!(event, TraceEvent::Call { step: its, phase: at, is_buffered, is_head_open: true, .. }
            if *its == step && *at == phase && *is_buffered == whole)
    };
    (0..6).any(|step| {
        [Phase::RequestBody, Phase::ResponseBody].into_iter().any(|phase| {
            let pieces = trace.iter().filter(|event| shown(event, step, phase, false)).count();
            pieces >= 2 && trace.iter().any(|event| shown(event, step, phase, true))
        })
    })
}

/// Whether a filter replies to a response whose head is written.
fn is_late(trace: &[TraceEvent], reply: Option<usize>) -> bool {
    let Some(reply) = reply else { return false };
    let before = &trace[..reply];
    let is_response =
        before.iter().any(|event| matches!(event, TraceEvent::Call { phase, .. } if phase.is_reversed()));
    let heads = before.iter().filter(|event| matches!(event, TraceEvent::Head(_))).count();
    is_response && heads == 2
}

fn case(number: usize, scenario: &ChainScenario, trace: &[TraceEvent]) -> String {
    let mut out = format!("{{\"name\": \"{number}\",\n \"filters\": [");
    for (index, step) in scenario.steps.iter().enumerate() {
        let phases = Phase::ALL.iter().filter(|phase| step.phases & phase.bit() != 0);
        let phases: Vec<_> = phases.map(|phase| format!("\"{}\"", phase.name())).collect();
        let actions: Vec<_> = step.actions.iter().map(action).collect();
        let separator = if index == 0 { "" } else { "," };
        let (phases, actions) = (phases.join(", "), actions.join(", "));
        write!(out, "{separator}\n  {{\"phases\": [{phases}], \"actions\": [{actions}]}}").unwrap();
    }
    let (request, response) = (message(&scenario.request), message(&scenario.response));
    write!(out, "],\n \"request\": {request}, \"response\": {response},\n \"calls\": [").unwrap();
    let calls: Vec<_> = trace.iter().filter_map(call).collect();
    let is_replied = trace.iter().position(|event| matches!(event, TraceEvent::Reply(_)));
    let is_of_response =
        |event: &TraceEvent| matches!(event, TraceEvent::Call { phase, .. } if phase.is_reversed());
    let in_request = is_replied.is_some_and(|reply| !trace[..reply].iter().any(is_of_response));
    let ends: Vec<_> = (0..trace.len()).filter(|at| matches!(trace[*at], TraceEvent::End(_))).collect();
    let (forwarded, answered) = match (in_request, is_replied) {
        (true, Some(reply)) => ("null".to_owned(), written(&trace[reply..])),
        (_, Some(reply)) => (written(&trace[..=ends[0]]), written(&trace[reply..])),
        (_, None) => (written(&trace[..=ends[0]]), written(&trace[ends[0] + 1..])),
    };
    let calls = calls.join(",");
    write!(out, "{calls}],\n \"forwarded\": {forwarded},\n \"answered\": {answered}}}").unwrap();
    out
}

fn action(action: &FilterAction) -> String {
    let verdict = match action.verdict {
        Verdict::Buffer => "buffer",
        Verdict::Reply => "reply",
        _ => "continue",
    };
    format!("\"{} {verdict}\"", format!("{:?}", action.edit).to_lowercase())
}

fn message(spec: &MessageSpec) -> String {
    let pieces: Vec<_> = spec.contents().iter().map(|piece| text(piece)).collect();
    format!("{{\"pieces\": [{}], \"trailers\": {}}}", pieces.join(", "), spec.has_trailers)
}

fn call(event: &TraceEvent) -> Option<String> {
    let TraceEvent::Call { step, phase, is_end, is_buffered, data, head, is_head_open } = event else {
        return None;
    };
    let (phase, data, head) = (phase.name(), text(data), text(head));
    Some(format!(
        "\n  {{\"filter\": {step}, \"phase\": \"{phase}\", \"end\": {is_end}, \"buffered\": {is_buffered}, \"body\": {data}, \"head\": {head}, \"open\": {is_head_open}}}"
    ))
}

/// Returns the message that was written: letters of its head, body, letters of its trailers.
fn written(trace: &[TraceEvent]) -> String {
    let (mut head, mut body, mut trailers) = (Vec::new(), Vec::new(), Vec::new());
    for event in trace {
        match event {
            TraceEvent::Head(letters) => head.clone_from(letters),
            TraceEvent::Data(data) => body.extend(data),
            TraceEvent::End(letters) => trailers.clone_from(letters),
            _ => {}
        }
    }
    format!("{{\"head\": {}, \"body\": {}, \"trailers\": {}}}", text(&head), text(&body), text(&trailers))
}

/// Returns a JSON string; all contents are ASCII.
fn text(bytes: &[u8]) -> String {
    format!("{:?}", str::from_utf8(bytes).unwrap())
}

/// A generator whose cases do not depend on the version of another crate (splitmix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % limit
    }

    fn scenario(&mut self) -> ChainScenario {
        let steps = (0..=self.below(4)).map(|_| self.step()).collect();
        ChainScenario { steps, request: self.message(), response: self.message(), cancelled_after: None }
    }

    fn step(&mut self) -> StepSpec {
        let phases = if self.below(2) == 0 { 0x3f } else { u32::try_from(self.below(0x40)).unwrap() };
        let actions = (0..=self.below(3)).map(|_| self.action()).collect();
        StepSpec { phases, library: 0, is_open: false, body_bytes_max: 1000, actions }
    }

    fn action(&mut self) -> FilterAction {
        let edits =
            [Edit::None, Edit::Head, Edit::Append, Edit::Replace, Edit::Drain, Edit::Clear, Edit::Trailer];
        let edit = edits[usize::try_from(self.below(7)).unwrap()];
        let verdict = match self.below(12) {
            0..7 => Verdict::Continue,
            7..11 => Verdict::Buffer,
            _ => Verdict::Reply,
        };
        FilterAction { edit, paused: None, verdict }
    }

    fn message(&mut self) -> MessageSpec {
        let count = self.below(5);
        let pieces: Vec<u8> = (0..count).map(|_| u8::try_from(1 + self.below(4)).unwrap()).collect();
        let has_trailers = count > 0 && self.below(2) == 0;
        MessageSpec { pieces: (count > 0).then_some(pieces), has_trailers }
    }
}

//! Judges attempts with request cases by what the client saw and what the origin received.

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;

use anyhow::Result;

use super::finding::{DriveReport, Findings};
use super::plan::RequestCasePlan;
use super::request::{Attempt, AttemptEnd, RequestDriver};
use crate::corpus::{Expect, FramingCase};
use crate::differential::{Panel, SeenMessage};
use crate::origin::TapEvent;
use crate::wire::{Segments, WireRequest};

/// Messages that the origin received, by client address.
#[derive(Default)]
struct Forwarded {
    whole: HashMap<Ipv4Addr, Vec<(WireRequest, Vec<u8>)>>,
    cut: Vec<Vec<u8>>,
    findings: Findings,
}

/// Judges the attempts of `driver` by the events at its origin and the parsers of `panel`.
///
/// # Errors
/// When a parser fails to answer.
pub async fn judge_requests(
    driver: &RequestDriver,
    attempts: &[Attempt],
    events: Vec<TapEvent>,
    panel: &mut Panel,
) -> Result<DriveReport> {
    let forwarded = Forwarded::sort(events);
    let mut report = DriveReport {
        cases: driver.cases().len(),
        attempts: attempts.len(),
        forwarded: forwarded.whole.values().map(Vec::len).sum(),
        findings: forwarded.findings.clone(),
        ..DriveReport::default()
    };
    let mut whole: BTreeMap<usize, &Attempt> = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.segments == Segments::Whole) {
        whole.insert(attempt.case, attempt);
    }
    for attempt in attempts {
        let Some((case, plan)) = driver.cases().get(attempt.case) else {
            continue;
        };
        let messages = forwarded.of(attempt.source);
        let mut found = Vec::new();
        judge_ending(case, attempt, &mut found);
        judge_expectation(case, plan, attempt, messages, &mut found);
        judge_answers(attempt, messages, &mut found);
        judge_content(plan, messages, &mut found);
        if let Some(whole) = whole.get(&attempt.case) {
            judge_same(whole, forwarded.of(whole.source), attempt, messages, &mut found);
        }
        for what in found {
            report.findings.add(&case.name(), attempt.segments, what);
        }
        let wants_status = whole.get(&attempt.case).is_some_and(|whole| !whole.outcome.answers.is_empty());
        report.lost += usize::from(wants_status && attempt.outcome.answers.is_empty());
        judge_by_panel(case, attempt, messages, panel, &mut report).await?;
    }
    for raw in &forwarded.cut {
        let verdict = panel.judge_cut(&without_address(raw)).await?;
        for (parser, seen) in verdict.disagree {
            let shown = String::from_utf8_lossy(raw);
            report.findings.add("a message cut upstream", parser, format!("{seen:?} in {shown:?}"));
        }
    }
    report.judged = panel.judged();
    Ok(report)
}

impl Forwarded {
    fn sort(events: Vec<TapEvent>) -> Self {
        let mut forwarded = Self::default();
        for event in events {
            match event {
                TapEvent::Request { request, raw, .. } => match client_of(&request) {
                    Some(client) => forwarded.whole.entry(client).or_default().push((*request, raw)),
                    None => forwarded.findings.add(
                        "a message at the origin",
                        "of no client",
                        format!("X-Forwarded-For is {:?}", request.fields.text("x-forwarded-for")),
                    ),
                },
                TapEvent::Bad { why, raw, .. } => {
                    let shown = String::from_utf8_lossy(&raw).into_owned();
                    forwarded.findings.add("bytes at the origin", why, format!("{shown:?}"));
                }
                TapEvent::Ended { rest, .. } if !rest.is_empty() => forwarded.cut.push(rest),
                TapEvent::Connected { .. } | TapEvent::Head { .. } | TapEvent::Ended { .. } => {}
            }
        }
        forwarded
    }

    fn of(&self, client: Ipv4Addr) -> &[(WireRequest, Vec<u8>)] {
        self.whole.get(&client).map(Vec::as_slice).unwrap_or_default()
    }
}

fn client_of(request: &WireRequest) -> Option<Ipv4Addr> {
    let values: Vec<&[u8]> = request.fields.all("x-forwarded-for").collect();
    let [value] = values[..] else {
        return None;
    };
    String::from_utf8_lossy(value).parse().ok()
}

fn judge_ending(case: &FramingCase, attempt: &Attempt, found: &mut Vec<String>) {
    match &attempt.outcome.ending {
        AttemptEnd::Hung => found.push("neither a response nor the end of the connection".into()),
        AttemptEnd::Bad(why) => found.push(format!("the client received invalid HTTP: {why}")),
        AttemptEnd::Open | AttemptEnd::Ended(_) => {}
    }
    if attempt.outcome.is_pushed && case.expect != Expect::Any {
        found.push("no response before the client closed".into());
    }
}

fn judge_expectation(
    case: &FramingCase,
    plan: &RequestCasePlan,
    attempt: &Attempt,
    messages: &[(WireRequest, Vec<u8>)],
    found: &mut Vec<String>,
) {
    let statuses = statuses(attempt);
    let good = statuses.iter().filter(|status| **status == 200).count();
    match case.expect {
        Expect::Accept => {
            let wanted = if plan.is_invalid { 1 } else { plan.messages.len() };
            if good != wanted || statuses.len() != wanted || messages.len() != wanted {
                found.push(format!(
                    "(e) expected to be accepted: {wanted} messages; answers {statuses:?}, {} forwarded",
                    messages.len()
                ));
            }
        }
        Expect::Reject => {
            if messages.len() > case.before {
                let raw = messages.last().map(|(_, raw)| String::from_utf8_lossy(raw).into_owned());
                found.push(format!("(d) expected to be rejected, but forwarded: {raw:?}"));
            }
            if messages.len() < case.before
                || statuses.get(..case.before).is_some_and(|s| s.iter().any(|s| *s != 200))
            {
                found.push(format!("{} messages before the fault; answers {statuses:?}", case.before));
            }
            let refusals = statuses.get(case.before..).unwrap_or_default();
            if refusals.len() > 1 {
                found.push(format!("(c) read on after rejecting: answers {statuses:?}"));
            }
            if refusals.iter().any(|status| *status < 400) {
                found.push(format!("expected to be rejected, but answered {statuses:?}"));
            }
            if refusals.is_empty() && attempt.segments == Segments::Whole {
                found.push(format!("rejected without a status: {:?}", attempt.outcome.ending));
            }
            if attempt.outcome.ending == AttemptEnd::Open {
                found.push("rejected, but the connection stays open".into());
            }
        }
        Expect::Any => {
            let refused = statuses.iter().position(|status| *status >= 400);
            if refused.is_some_and(|at| at + 1 < statuses.len() && statuses[at] == 400) {
                found.push(format!("(c) read on after rejecting: answers {statuses:?}"));
            }
            if good > messages.len() {
                found.push(format!("answers {statuses:?} and {} messages forwarded", messages.len()));
            }
        }
    }
}

/// Checks that every response from the origin is for this client's own request.
fn judge_answers(attempt: &Attempt, messages: &[(WireRequest, Vec<u8>)], found: &mut Vec<String>) {
    let answers = attempt.outcome.answers.iter().filter(|answer| answer.status == 200);
    for (index, answer) in answers.enumerate() {
        let client = answer.fields.text("x-tap-client");
        if client != attempt.source.to_string() {
            found.push(format!("(f) a response for {client:?} arrived at {}", attempt.source));
        }
        let Some((request, _)) = messages.get(index) else {
            continue;
        };
        let wanted = [&request.method[..], b" ", &request.target, b"\n", &request.body].concat();
        if request.method != b"HEAD" && answer.body != wanted {
            found.push(format!(
                "(f) response {index} does not belong to request {index}: {:?}",
                answer.text()
            ));
        }
    }
}

/// Checks that the messages that a strict parser finds in the case arrive unaltered.
fn judge_content(plan: &RequestCasePlan, messages: &[(WireRequest, Vec<u8>)], found: &mut Vec<String>) {
    for (index, (sent, (got, _))) in plan.messages.iter().zip(messages).enumerate() {
        let is_of_handshake =
            |name: &str| name.starts_with("sec-websocket-") || name.starts_with("websocket-");
        let names = got.fields.0.iter().map(|(name, _)| String::from_utf8_lossy(name).to_ascii_lowercase());
        if !sent.fields.text("upgrade").is_empty() && got.fields.text("upgrade").is_empty() {
            let left = names.filter(|name| is_of_handshake(name));
            found.extend(
                left.map(|name| format!("{name} of message {index} was forwarded without its upgrade")),
            );
        }
        if sent.method != got.method || sent.body != got.body {
            found.push(format!("message {index} was altered: {sent:?} became {got:?}"));
        }
        let is_same_target = sent.target == got.target
            || sent.target.ends_with(&got.target)
            || sent.target.contains(&b'%')
            || !sent.target.starts_with(b"/");
        if !is_same_target {
            found.push(format!("the target of message {index} was altered: {:?}", got.target_text()));
        }
    }
}

/// Checks that a cut case has the same result as the uncut case.
fn judge_same(
    whole: &Attempt,
    whole_messages: &[(WireRequest, Vec<u8>)],
    attempt: &Attempt,
    messages: &[(WireRequest, Vec<u8>)],
    found: &mut Vec<String>,
) {
    let (wanted, got) = (statuses(whole), statuses(attempt));
    let ending = &attempt.outcome.ending;
    if wanted != got {
        found.push(format!("answers {got:?} and {ending:?} when cut, {wanted:?} when whole"));
    }
    let same = whole_messages.len() == messages.len()
        && whole_messages.iter().zip(messages).all(|(a, b)| is_same_message(&a.0, &b.0));
    if !same {
        found.push(format!(
            "{} messages forwarded when cut, {} when whole, or others",
            messages.len(),
            whole_messages.len()
        ));
    }
}

fn is_same_message(a: &WireRequest, b: &WireRequest) -> bool {
    (&a.method, &a.target, &a.body, a.host()) == (&b.method, &b.target, &b.body, b.host())
}

fn statuses(attempt: &Attempt) -> Vec<u16> {
    attempt.outcome.answers.iter().map(|answer| answer.status).collect()
}

async fn judge_by_panel(
    case: &FramingCase,
    attempt: &Attempt,
    messages: &[(WireRequest, Vec<u8>)],
    panel: &mut Panel,
    report: &mut DriveReport,
) -> Result<()> {
    for (request, raw) in messages {
        let verdict = panel.judge_whole(&without_address(raw), &SeenMessage::from(request)).await?;
        for (parser, seen) in verdict.disagree {
            let shown = String::from_utf8_lossy(raw);
            let what = format!("(a) {parser} reads {seen:?} in {shown:?}");
            report.findings.add(&case.name(), attempt.segments, what);
        }
        for (parser, why) in verdict.refuse {
            *report.refusals.entry(format!("{parser}: {why}")).or_default() += 1;
        }
    }
    Ok(())
}

/// Replaces the client's address in `raw` by a fixed one, so that equal messages are judged once.
fn without_address(raw: &[u8]) -> Vec<u8> {
    let name: &[u8] = b"x-forwarded-for: ";
    let Some(at) = raw.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name)) else {
        return raw.to_vec();
    };
    let (before, value) = raw.split_at(at + name.len());
    let end = value.iter().position(|byte| *byte == b'\r').unwrap_or(value.len());
    [before, b"127.0.0.1", &value[end..]].concat()
}

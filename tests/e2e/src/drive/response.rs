//! Drives response cases: each cut of each case as an origin's response, then another request on the same path
//! upstream.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use super::finding::DriveReport;
use super::plan::Cuts;
use crate::corpus::{Expect, FramingCase};
use crate::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use crate::place;
use crate::wire::{ClientEvent, ParseOutcome, Segments, WireClient, WireResponse, read_response};

/// Drives response cases through lanes: a lane is an origin with its own path prefix.
#[derive(Debug)]
pub struct ResponseDriver {
    cases: Vec<FramingCase>,
    cuts: Cuts,
    next: AtomicUsize,
}

/// An origin that responds with the current case, or with a canary.
#[derive(Debug)]
pub struct OriginLane {
    origin: TapOrigin,
    script: Arc<Mutex<Vec<ScriptStep>>>,
    prefix: String,
}

/// Number of lanes.
pub const LANES: usize = 12;

impl OriginLane {
    /// Starts the origin of lane `number`.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn start(number: usize) -> Result<Self> {
        let script: Arc<Mutex<Vec<ScriptStep>>> = Arc::default();
        let steps = Arc::clone(&script);
        let origin = TapOrigin::with(move |asked| {
            if asked.request.target.ends_with(b"/case") {
                return OriginScript::steps(steps.lock().unwrap_or_else(PoisonError::into_inner).clone());
            }
            OriginScript::send(response(200, "X-Canary: 1\r\n", &asked.request.target))
        })
        .await?;
        Ok(Self { origin, script, prefix: format!("/lane{number}") })
    }

    /// Path prefix of the lane.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Listening address of the lane's origin.
    pub fn address(&self) -> SocketAddr {
        self.origin.address()
    }
}

/// Returns the configuration of a gateway with a route and a cluster for each lane.
pub fn lanes_config(lanes: &[OriginLane]) -> String {
    let (mut routes, mut clusters) = (String::new(), String::new());
    for (number, lane) in lanes.iter().enumerate() {
        routes += &format!("  - {{match: {{path: {{prefix: {}/}}}}, cluster: lane{number}}}\n", lane.prefix);
        clusters += &format!("  lane{number}: {{endpoints: [{}]}}\n", lane.address());
    }
    format!(
        "listeners: [{{address: LISTEN, routes: site}}]\nadmin: {{address: ADMIN}}\nlimits: {{queue_delay: 0s}}\nroutes:\n  site:\n{routes}clusters:\n{clusters}"
    )
}

impl ResponseDriver {
    /// Creates a driver of `cases`.
    pub fn new(cases: Vec<FramingCase>, cuts: Cuts) -> Self {
        Self { cases, cuts, next: AtomicUsize::new(0) }
    }

    /// Drives everything through the gateway at `gateway`, which routes to `lanes`.
    ///
    /// # Errors
    /// When the gateway refuses connections.
    pub async fn run(self, gateway: SocketAddr, lanes: Vec<OriginLane>) -> Result<DriveReport> {
        let driver = Arc::new(self);
        let mut running = JoinSet::new();
        for lane in lanes {
            running.spawn(Arc::clone(&driver).run_lane(gateway, lane));
        }
        let mut report = DriveReport { cases: driver.cases.len(), ..DriveReport::default() };
        while let Some(lane) = running.join_next().await {
            let lane = lane.context("a lane panicked")??;
            report.attempts += lane.attempts;
            report.forwarded += lane.forwarded;
            report.findings.merge(lane.findings);
        }
        Ok(report)
    }

    async fn run_lane(self: Arc<Self>, gateway: SocketAddr, lane: OriginLane) -> Result<DriveReport> {
        let mut report = DriveReport::default();
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(index) else {
                return Ok(report);
            };
            for segments in self.cuts.of(&case.raw) {
                report.attempts += 1;
                let mut found = Vec::new();
                let mut is_hung = false;
                match attempt(gateway, &lane, case, segments).await {
                    Ok(seen) => {
                        is_hung = matches!(seen, CaseResponse::Hung);
                        report.forwarded +=
                            usize::from(matches!(&seen, CaseResponse::Whole(answer) if answer.status < 500));
                        judge(case, &seen, &mut found);
                    }
                    Err(error) => found.push(format!("{error:#}")),
                }
                if let Err(error) = run_canary(gateway, &lane).await {
                    found.push(format!("(f) the next request on this upstream connection: {error:#}"));
                }
                for what in found {
                    report.findings.add(&case.name(), segments, what);
                }
                if is_hung {
                    // One hang is enough; a hundred more only take time.
                    break;
                }
            }
        }
    }
}

/// Result of a case as seen by the client.
#[derive(Debug)]
enum CaseResponse {
    Whole(WireResponse),
    Cut(Option<WireResponse>),
    Bad(String),
    Hung,
}

async fn attempt(
    gateway: SocketAddr,
    lane: &OriginLane,
    case: &FramingCase,
    segments: Segments,
) -> Result<CaseResponse> {
    let sent = Gate::default();
    *lane.script.lock().unwrap_or_else(PoisonError::into_inner) = steps(case, segments, &sent);
    let mut client = WireClient::connect(gateway).await?;
    let target = format!("{}/case", lane.prefix);
    client.send(format!("{} {target} HTTP/1.1\r\nHost: a.example\r\n\r\n", case.method)).await?;
    let seen = match tokio::time::timeout(LIMIT, client.next(&case.method)).await {
        Ok(ClientEvent::Answer(answer)) => CaseResponse::Whole(answer.response),
        Ok(ClientEvent::Ended { partial, .. }) => CaseResponse::Cut(partial.map(|partial| *partial)),
        Ok(ClientEvent::Bad(why)) => CaseResponse::Bad(why),
        Err(_) => CaseResponse::Hung,
    };
    // The gateway may have closed the link before all was sent; then the gate stays closed and nothing can follow.
    let _ = tokio::time::timeout(AFTER, sent.opened()).await;
    Ok(seen)
}

/// Returns the steps that send the case. The origin closes afterwards, unless a strict parser finds a complete response
/// at the front.
///
/// The gate opens when all bytes are sent, so that bytes after a complete response arrive before the next request.
fn steps(case: &FramingCase, segments: Segments, sent: &Gate) -> Vec<ScriptStep> {
    let mut steps = vec![ScriptStep::SendIn(case.raw.clone(), segments), ScriptStep::Open(sent.clone())];
    if strictly(case).is_none_or(|(response, _)| !response.is_keep_alive()) {
        steps.push(ScriptStep::Close);
    }
    steps
}

/// Returns the final response that a strict parser finds in a case, and the number of bytes after it.
fn strictly(case: &FramingCase) -> Option<(WireResponse, usize)> {
    let mut rest = &case.raw[..];
    loop {
        match read_response(rest, case.method.as_bytes(), true) {
            ParseOutcome::Whole { message, length } => {
                rest = &rest[length..];
                if !message.is_interim() {
                    return Some((*message, rest.len()));
                }
            }
            ParseOutcome::Partial { .. } | ParseOutcome::Bad(_) => return None,
        }
    }
}

async fn run_canary(gateway: SocketAddr, lane: &OriginLane) -> Result<()> {
    let target = format!("{}/canary/{}", lane.prefix, place::next_number());
    let mut client = WireClient::connect(gateway).await?;
    let answer = client.exchange(format!("GET {target} HTTP/1.1\r\nHost: canary.example\r\n\r\n")).await?;
    anyhow::ensure!(answer.status == 200 && answer.text() == target, "{} {:?}", answer.status, answer.text());
    Ok(())
}

fn judge(case: &FramingCase, seen: &CaseResponse, found: &mut Vec<String>) {
    match seen {
        CaseResponse::Hung => found.push("no response".into()),
        CaseResponse::Bad(why) => found.push(format!("the client received invalid HTTP: {why}")),
        CaseResponse::Cut(None) if case.expect == Expect::Any => {}
        CaseResponse::Cut(None) => found.push("the connection ended without a status".into()),
        CaseResponse::Cut(Some(_)) if case.expect == Expect::Accept => {
            found.push("expected to be accepted, but truncated".into())
        }
        CaseResponse::Cut(Some(_)) => {}
        CaseResponse::Whole(answer) if is_local(answer) => {
            if case.expect == Expect::Accept {
                found.push(format!("expected to be accepted, but answered {}", answer.status));
            }
        }
        CaseResponse::Whole(answer) => {
            if case.expect == Expect::Reject {
                found.push(format!(
                    "expected to be rejected, but forwarded: {} {:?}",
                    answer.status,
                    answer.text()
                ));
            }
            match strictly(case) {
                Some((sent, _)) => judge_content(&sent, answer, found),
                None if case.expect == Expect::Accept => found.push("no strict parser accepts it".into()),
                None => {}
            }
        }
    }
}

/// Whether this is a local reply of the gateway: the cases never carry 502 or 504.
fn is_local(answer: &WireResponse) -> bool {
    matches!(answer.status, 502 | 504)
}

fn judge_content(sent: &WireResponse, got: &WireResponse, found: &mut Vec<String>) {
    if sent.status != got.status || sent.body != got.body {
        found.push(format!(
            "altered: {} {:?} became {} {:?}",
            sent.status,
            sent.text(),
            got.status,
            got.text()
        ));
    }
    for (name, _) in &sent.fields.0 {
        let name = String::from_utf8_lossy(name);
        if is_hop_by_hop(&name, sent) {
            continue;
        }
        let (a, b): (Vec<_>, Vec<_>) = (sent.fields.all(&name).collect(), got.fields.all(&name).collect());
        if a != b {
            found.push(format!("field {name:?} was altered: {a:?} became {b:?}"));
        }
    }
    if !got.trailers.0.is_empty() && sent.trailers != got.trailers {
        found.push(format!("trailers were altered: {:?}", got.trailers));
    }
}

/// Whether a field may be changed in forwarding: framing fields, hop-by-hop fields, and fields without a meaning in
/// responses.
fn is_hop_by_hop(name: &str, sent: &WireResponse) -> bool {
    const NAMES: [&str; 7] = [
        "connection",
        "keep-alive",
        "transfer-encoding",
        "content-length",
        "upgrade",
        "proxy-connection",
        "host",
    ];
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) || sent.fields.has_token("connection", name)
}

/// Longest wait for the end of a script that the gateway has interrupted.
const AFTER: Duration = Duration::from_millis(100);
const LIMIT: Duration = Duration::from_secs(5);

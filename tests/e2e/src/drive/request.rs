//! Drives request cases: each cut of each case on its own connection from its own address.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::task::JoinSet;

use super::plan::{Cuts, RequestCasePlan};
use crate::corpus::FramingCase;
use crate::place;
use crate::wire::{ClientEvent, ConnectionEnd, Segments, SocketDiag, WireClient, WireResponse};

/// Drives request cases through the gateway at an address.
#[derive(Debug)]
pub struct RequestDriver {
    gateway: SocketAddr,
    cases: Vec<(FramingCase, RequestCasePlan)>,
    cuts: Cuts,
    diag: Option<SocketDiag>,
    next: AtomicUsize,
}

/// One connection with one cut of a case, and the result.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Index of the case.
    pub case: usize,
    /// Cut of the case.
    pub segments: Segments,
    /// Source address of the client; the origin sees it in `X-Forwarded-For`.
    pub source: Ipv4Addr,
    /// Result as seen by the client.
    pub outcome: AttemptOutcome,
}

/// Result of an attempt as seen by its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// Final responses.
    pub answers: Vec<WireResponse>,
    /// End of the attempt.
    pub ending: AttemptEnd,
    /// Whether the gateway sent its last response only after the client had shut down its sending side.
    pub is_pushed: bool,
}

/// End of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// All expected responses arrived and the connection stayed open.
    Open,
    /// The gateway ended the connection.
    Ended(ConnectionEnd),
    /// The gateway sent something other than a response.
    Bad(String),
    /// The gateway neither responded nor ended the connection.
    Hung,
}

impl RequestDriver {
    /// Creates a driver of `cases`.
    pub fn new(gateway: SocketAddr, cases: Vec<FramingCase>, cuts: Cuts) -> Self {
        let cases =
            cases.into_iter().map(|case| (RequestCasePlan::of(&case), case)).map(|(plan, case)| (case, plan));
        Self { gateway, cases: cases.collect(), cuts, diag: SocketDiag::open(), next: AtomicUsize::new(0) }
    }

    /// Returns the cases with their plans.
    pub fn cases(&self) -> &[(FramingCase, RequestCasePlan)] {
        &self.cases
    }

    /// Drives everything and returns all attempts.
    ///
    /// # Errors
    /// When the gateway refuses connections, or gives a wrong answer to another client's request (the canary after each
    /// case).
    pub async fn run(self: &Arc<Self>) -> Result<Vec<Attempt>> {
        let mut lanes = JoinSet::new();
        for lane in 0..LANES {
            lanes.spawn(Arc::clone(self).run_lane(lane));
        }
        let mut attempts = Vec::new();
        while let Some(lane) = lanes.join_next().await {
            attempts.append(&mut lane.context("a lane panicked")??);
        }
        Ok(attempts)
    }

    async fn run_lane(self: Arc<Self>, lane: u32) -> Result<Vec<Attempt>> {
        let mut attempts = Vec::new();
        let mut canary = Canary::connect(self.gateway, lane).await?;
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((case, plan)) = self.cases.get(index) else {
                return Ok(attempts);
            };
            let mut push_after = None;
            for segments in self.cuts.of(&case.raw) {
                let source = place::client_address(LANES + place::next_number());
                let outcome = self.attempt(case, plan, segments, source, push_after).await;
                let outcome = outcome.with_context(|| format!("{} {segments:?}", case.name()))?;
                if outcome.is_pushed {
                    push_after = Some(outcome.answers.len());
                }
                let is_hung = outcome.ending == AttemptEnd::Hung;
                attempts.push(Attempt { case: index, segments, source, outcome });
                if is_hung {
                    // One hang is enough; a hundred more only take time.
                    break;
                }
            }
            canary.run_canary().await.with_context(|| format!("the canary after {}", case.name()))?;
        }
    }

    /// Drives one cut.
    ///
    /// `push_after` is the number of responses after which the client had to shut down its sending side in an earlier
    /// cut; after as many responses it does so at once.
    async fn attempt(
        &self,
        case: &FramingCase,
        plan: &RequestCasePlan,
        segments: Segments,
        source: Ipv4Addr,
        push_after: Option<usize>,
    ) -> Result<AttemptOutcome> {
        let mut client = WireClient::connect_from(source, self.gateway).await?;
        // A gateway that rejects a case may close before it has read all of it.
        let _ = client.send_in(&case.raw, segments, self.diag.as_ref()).await;
        let mut is_finished = plan.is_cut;
        if is_finished {
            let _ = client.finish_sending().await;
        }
        let mut outcome = AttemptOutcome { answers: Vec::new(), ending: AttemptEnd::Open, is_pushed: false };
        loop {
            let count = outcome.answers.len();
            let is_answered = !plan.is_invalid && !plan.is_cut && count == plan.messages.len();
            let is_open = outcome.answers.last().is_none_or(WireResponse::is_keep_alive);
            if is_answered && is_open && client.unused().is_empty() {
                return Ok(outcome);
            }
            let limit = match (is_finished, push_after) {
                (true, _) => FINAL_RESPONSE_TIME_MAX,
                (false, Some(last)) if last == count => Duration::ZERO,
                (false, _) => QUIET,
            };
            let method = plan.method(count, case);
            match tokio::time::timeout(limit, client.next(&method)).await {
                Ok(ClientEvent::Answer(answer)) => outcome.answers.push(answer.response),
                Ok(ClientEvent::Ended { end, .. }) => {
                    outcome.ending = AttemptEnd::Ended(end);
                    return Ok(outcome);
                }
                Ok(ClientEvent::Bad(why)) => {
                    outcome.ending = AttemptEnd::Bad(why);
                    return Ok(outcome);
                }
                Err(_) if is_finished => {
                    outcome.ending = AttemptEnd::Hung;
                    return Ok(outcome);
                }
                Err(_) => {
                    outcome.is_pushed = true;
                    is_finished = true;
                    let _ = client.finish_sending().await;
                }
            }
        }
    }
}

/// Another client, on its own connection, which lives as long as its lane.
struct Canary {
    client: WireClient,
    source: Ipv4Addr,
}

impl Canary {
    async fn connect(gateway: SocketAddr, lane: u32) -> Result<Self> {
        let source = place::client_address(lane);
        let mut canary = Self { client: WireClient::connect_from(source, gateway).await?, source };
        // The gateway soon closes a connection without a first request.
        canary.run_canary().await?;
        Ok(canary)
    }

    async fn run_canary(&mut self) -> Result<()> {
        let target = format!("/canary/{}", place::next_number());
        let request = format!("GET {target} HTTP/1.1\r\nHost: canary.example\r\n\r\n");
        let response = self.client.exchange(request).await?;
        let client = response.fields.text("x-tap-client");
        ensure!(response.status == 200, "status {}", response.status);
        ensure!(client == self.source.to_string(), "a response for {client}, not {}", self.source);
        ensure!(response.text() == format!("GET {target}\n"), "a wrong response: {:?}", response.text());
        Ok(())
    }
}

const LANES: u32 = 48;
/// Silence of a gateway that has all bytes of a case before the client shuts down its sending side.
const QUIET: Duration = Duration::from_secs(3);
/// Longest time after that until the gateway's last response.
const FINAL_RESPONSE_TIME_MAX: Duration = Duration::from_secs(10);

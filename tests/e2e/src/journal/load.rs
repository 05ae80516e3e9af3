//! The load: connections that send numbered requests one after the other; failures are recorded, never retried.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, anyhow};

use super::message::{Numbers, answer_body, hash_of, is_post, request_body, write_request};
use crate::wait::{elapse, next_look};
use crate::wire::{ClientEvent, WireClient};

/// Load for a gateway.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Address of the gateway's listener.
    pub gateway: SocketAddr,
    /// Number of concurrent connections.
    pub connections: u32,
    /// Seed of the random choices: when to pause and when to close a connection.
    pub seed: u64,
}

/// A load that runs on its own thread.
#[derive(Debug)]
pub struct RunningLoad {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: JoinHandle<Vec<ClientJournalEntry>>,
}

/// Journal entry of a client for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientJournalEntry {
    /// Request number.
    pub id: u64,
    /// Whether the request is a POST.
    pub is_post: bool,
    /// Hash of the request body.
    pub hash: u64,
    /// Result of the request.
    pub outcome: RequestOutcome,
}

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestOutcome {
    /// The origin answered correctly.
    Answered,
    /// The response has another status than the origin sends.
    Status(u16),
    /// The response belongs to another request.
    OtherResponse,
    /// The response or the request body was altered in transit.
    Altered,
    /// The response was truncated.
    Cut,
    /// The connection was refused.
    Refused,
    /// The connection ended before the first response byte, on its first request.
    Reset,
    /// The connection ended before the first response byte, on a later request, without an announced close.
    ResetReused,
    /// No response arrived in time.
    Late,
}

impl Load {
    /// Starts the load.
    pub fn start(self) -> RunningLoad {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopping, sending) = (Arc::clone(&stop), Arc::clone(&sent));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else {
                return Vec::new();
            };
            runtime.block_on(async move {
                let mut lanes = tokio::task::JoinSet::new();
                for number in 0..self.connections {
                    let lane = JournalLoadWorker {
                        gateway: self.gateway,
                        numbers: Numbers::new(self.seed ^ (u64::from(number) << 32)),
                        stop: Arc::clone(&stopping),
                        next: Arc::clone(&sending),
                        out: Vec::new(),
                    };
                    lanes.spawn(lane.run());
                }
                lanes.join_all().await.into_iter().flatten().collect()
            })
        });
        RunningLoad { stop, sent, thread }
    }
}

impl RunningLoad {
    /// Number of requests started.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Waits until `count` requests were started.
    ///
    /// # Errors
    /// When the load makes no progress for a while.
    pub async fn until_sent(&self, count: u64) -> Result<()> {
        let (mut last, mut still) = (self.sent(), 0);
        while self.sent() < count {
            next_look().await;
            still = if self.sent() == last { still + 1 } else { 0 };
            last = self.sent();
            anyhow::ensure!(still < STILL_MAX, "the load is stuck at {last} requests");
        }
        Ok(())
    }

    /// Lets the requests in flight finish, and returns all journal entries.
    ///
    /// # Errors
    /// When the load panicked.
    pub fn stop(self) -> Result<Vec<ClientJournalEntry>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the load panicked"))
    }
}

/// A worker with one connection at a time.
struct JournalLoadWorker {
    gateway: SocketAddr,
    numbers: Numbers,
    stop: Arc<AtomicBool>,
    next: Arc<AtomicU64>,
    out: Vec<u8>,
}

impl JournalLoadWorker {
    async fn run(mut self) -> Vec<ClientJournalEntry> {
        let mut journal = Vec::new();
        let mut connection: Option<(WireClient, u64)> = None;
        while !self.stop.load(Ordering::Relaxed) {
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            let (mut client, used) = match connection.take() {
                Some(open) => open,
                None => match WireClient::connect(self.gateway).await {
                    Ok(client) => (client, 0),
                    Err(_) => {
                        journal.push(sent(id, 0, RequestOutcome::Refused));
                        next_look().await;
                        continue;
                    }
                },
            };
            let (hash, outcome, may_go_on) = self.exchange(&mut client, id, used > 0).await;
            journal.push(sent(id, hash, outcome));
            // The client closes occasionally, so that connections come and go all the time.
            if may_go_on && self.numbers.below(200) != 0 {
                connection = Some((client, used + 1));
            }
            // Some connections idle briefly, so that the gateway has idle connections to close.
            if self.numbers.below(50) == 0 {
                let time = Duration::from_millis(self.numbers.below(20));
                elapse(time, "the connection is idle meanwhile").await;
            }
        }
        journal
    }

    async fn exchange(
        &mut self,
        client: &mut WireClient,
        id: u64,
        is_reused: bool,
    ) -> (u64, RequestOutcome, bool) {
        let body = request_body(id);
        let hash = hash_of(&body);
        write_request(id, &body, &mut self.out);
        // When sending fails, the response may still have arrived: the end of the connection shows it.
        let _ = client.send(&self.out).await;
        let method = if is_post(id) { "POST" } else { "GET" };
        let Ok(next) = tokio::time::timeout(ANSWER_MAX, client.next(method)).await else {
            return (hash, RequestOutcome::Late, false);
        };
        let answer = match next {
            ClientEvent::Answer(answer) => answer.response,
            ClientEvent::Ended { partial: Some(_), .. } | ClientEvent::Bad(_) => {
                return (hash, RequestOutcome::Cut, false);
            }
            ClientEvent::Ended { partial: None, .. } if !client.unused().is_empty() => {
                return (hash, RequestOutcome::Cut, false);
            }
            ClientEvent::Ended { partial: None, .. } if is_reused => {
                return (hash, RequestOutcome::ResetReused, false);
            }
            ClientEvent::Ended { partial: None, .. } => return (hash, RequestOutcome::Reset, false),
        };
        let may_go_on = answer.is_keep_alive();
        if answer.status != 200 {
            return (hash, RequestOutcome::Status(answer.status), may_go_on);
        }
        let outcome = if answer.fields.text("x-id") != id.to_string() {
            RequestOutcome::OtherResponse
        } else if answer.fields.text("x-hash") != format!("{hash:x}") || answer.body != answer_body(id) {
            RequestOutcome::Altered
        } else {
            RequestOutcome::Answered
        };
        (hash, outcome, may_go_on)
    }
}

fn sent(id: u64, hash: u64, outcome: RequestOutcome) -> ClientJournalEntry {
    ClientJournalEntry { id, is_post: is_post(id), hash, outcome }
}

const STILL_MAX: u32 = 1000;
const ANSWER_MAX: Duration = Duration::from_secs(15);

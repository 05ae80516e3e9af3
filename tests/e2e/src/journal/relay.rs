//! A small gateway with planted faults: it shows that the checker sees what it is there to see.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::place;
use crate::wire::{ParseOutcome, WireClient, WireRequest, read_request};

/// What the relay does wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Nothing.
    Nothing,
    /// It answers a request by itself.
    Lose,
    /// It drops a request and its connection.
    Drop,
    /// It sends a request twice.
    Duplicate,
    /// It changes a byte of a request's body.
    AlterRequest,
    /// It changes a byte of an answer's body.
    AlterAnswer,
    /// It gives a request the answer to another one.
    Cross,
    /// It closes an idle connection without saying so.
    CloseIdle,
}

/// A running relay.
#[derive(Debug)]
pub struct FaultyRelay {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

struct RelayState {
    origin: SocketAddr,
    plant: Plant,
    count: AtomicU64,
}

impl FaultyRelay {
    /// Starts a relay to `origin` with a fault.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn start(origin: SocketAddr, plant: Plant) -> Result<Self> {
        let listener = TcpListener::bind(place::free_address()?).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(RelayState { origin, plant, count: AtomicU64::new(0) });
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { address, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for FaultyRelay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<RelayState>) -> Result<()> {
    let mut link = WireClient::connect(shared.origin).await?;
    let mut buffer = Vec::new();
    loop {
        match read_request(&buffer) {
            ParseOutcome::Whole { message, length } => {
                let raw: Vec<u8> = buffer.drain(..length).collect();
                let is_planted = shared.is_time(&message);
                relay(&mut stream, &mut link, &shared, is_planted.then_some(shared.plant), &message, raw)
                    .await?;
            }
            ParseOutcome::Partial { .. } => {
                if stream.read_buf(&mut buffer).await? == 0 {
                    return Ok(());
                }
            }
            ParseOutcome::Bad(why) => bail!(why),
        }
    }
}

impl RelayState {
    /// The fault comes with the hundredth POST that has a body.
    fn is_time(&self, request: &WireRequest) -> bool {
        request.body.len() > 16 && self.count.fetch_add(1, Ordering::Relaxed) == 100
    }
}

async fn relay(
    stream: &mut TcpStream,
    link: &mut WireClient,
    shared: &RelayState,
    plant: Option<Plant>,
    request: &WireRequest,
    mut raw: Vec<u8>,
) -> Result<()> {
    match plant {
        Some(Plant::Drop) => bail!("planted"),
        Some(Plant::AlterRequest) => {
            // The last byte of data: before the line ends of a chunked body.
            let last = request.body.last().copied().unwrap_or_default();
            if let Some(byte) = raw.iter_mut().rev().find(|byte| **byte == last) {
                *byte ^= 1;
            }
        }
        Some(Plant::Duplicate) => {
            let mut other = WireClient::connect(shared.origin).await?;
            other.send(&raw).await?;
            other.answer("POST").await?;
        }
        _ => {}
    }
    if plant == Some(Plant::Cross) {
        raw = b"GET /j/0 HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
    }
    let method = String::from_utf8_lossy(&request.method).into_owned();
    let mut answer = if plant == Some(Plant::Lose) {
        let id = request.target_text().trim_start_matches("/j/").parse().unwrap_or_default();
        let mut answer = Vec::new();
        super::message::write_answer(id, super::message::hash_of(&request.body), &mut answer);
        answer
    } else {
        link.send(&raw).await?;
        let answer = link.answer(&method).await?.response;
        write(&answer)
    };
    if plant == Some(Plant::AlterAnswer)
        && let Some(byte) = answer.last_mut()
    {
        *byte ^= 1;
    }
    stream.write_all(&answer).await?;
    if plant == Some(Plant::CloseIdle) { bail!("planted") } else { Ok(()) }
}

fn write(answer: &crate::wire::WireResponse) -> Vec<u8> {
    let fields =
        format!("X-Id: {}\r\nX-Hash: {}\r\n", answer.fields.text("x-id"), answer.fields.text("x-hash"));
    crate::origin::response(answer.status, &fields, &answer.body)
}

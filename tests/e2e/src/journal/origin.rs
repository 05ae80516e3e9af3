//! An origin that records how often each request arrived and the hash of its body.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::message::{hash_of, write_answer};
use crate::place;
use crate::wire::{DEADLINE, ParseOutcome, WireRequest, read_request};

/// Journal entry of the origin for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginJournalEntry {
    /// Number of times the request arrived completely.
    pub count: u32,
    /// Hash of the body of its last arrival.
    pub hash: u64,
}

/// An origin with a journal, on its own thread.
#[derive(Clone, Debug)]
pub struct JournalOrigin {
    address: SocketAddr,
    journal: Arc<Mutex<Journal>>,
}

#[derive(Debug, Default)]
struct Journal {
    seen: HashMap<u64, OriginJournalEntry>,
    foreign: u64,
}

impl JournalOrigin {
    /// Starts the origin; its thread ends with the process.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub fn start() -> Result<Self> {
        let journal: Arc<Mutex<Journal>> = Arc::default();
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::clone(&journal);
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::bind(place::any_port()).await else {
                    return;
                };
                // The thread that started the origin may have ended; then the result is not needed.
                let _ = sender.send(listener.local_addr());
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&shared)));
                }
            });
        });
        let address = receiver.recv_timeout(DEADLINE).context("cannot bind the origin")??;
        Ok(Self { address, journal })
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the entries by request number, and the number of requests without a valid request number.
    pub fn seen(&self) -> (HashMap<u64, OriginJournalEntry>, u64) {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        (journal.seen.clone(), journal.foreign)
    }
}

async fn serve(mut stream: TcpStream, journal: Arc<Mutex<Journal>>) {
    // Disables Nagle's algorithm, so that a response is sent when it is written.
    let _ = stream.set_nodelay(true);
    let (mut buffer, mut answer) = (Vec::with_capacity(16 * 1024), Vec::new());
    loop {
        match read_request(&buffer) {
            ParseOutcome::Whole { message, length } => {
                buffer.drain(..length);
                note(&message, &journal, &mut answer);
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
            ParseOutcome::Partial { .. } => match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            },
            ParseOutcome::Bad(_) => {
                journal.lock().unwrap_or_else(PoisonError::into_inner).foreign += 1;
                return;
            }
        }
    }
}

fn note(request: &WireRequest, journal: &Mutex<Journal>, answer: &mut Vec<u8>) {
    let hash = hash_of(&request.body);
    let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(id) = number_of(request) else {
        journal.foreign += 1;
        *answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
        return;
    };
    let seen = journal.seen.entry(id).or_default();
    seen.count += 1;
    seen.hash = hash;
    write_answer(id, hash, answer);
}

fn number_of(request: &WireRequest) -> Option<u64> {
    std::str::from_utf8(request.target.strip_prefix(b"/j/")?).ok()?.parse().ok()
}

//! A DNS server on loopback that answers every query with one address.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::Result;

/// Answers over UDP, on its own thread, until it is dropped.
#[derive(Debug)]
pub struct NameServer {
    address: SocketAddr,
    said: Arc<Mutex<NameServerState>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct NameServerState {
    answer: Ipv4Addr,
    names: Vec<String>,
}

impl NameServer {
    /// Starts the server on a free port; every name resolves to `answer`.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub fn start(answer: Ipv4Addr) -> Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = socket.local_addr()?;
        let said = Arc::new(Mutex::new(NameServerState { answer, names: Vec::new() }));
        let own = Arc::clone(&said);
        let thread = thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Ok((length, peer)) = socket.recv_from(&mut bytes) {
                // An empty datagram stops the thread.
                let query = bytes.get(..length).filter(|query| !query.is_empty());
                let Some(query) = query else { return };
                let answer = answer_to(query, &mut own.lock().unwrap_or_else(PoisonError::into_inner));
                if let Some(answer) = answer {
                    // The client repeats the query when the answer is lost.
                    let _ = socket.send_to(&answer, peer);
                }
            }
        });
        Ok(Self { address, said, thread: Some(thread) })
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Resolves every name to another address from now on.
    pub fn answer(&self, answer: Ipv4Addr) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).answer = answer;
    }

    /// Returns the queried names.
    pub fn asked(&self) -> Vec<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).names.clone()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        let end =
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.send_to(&[], self.address));
        if let (Ok(_), Some(thread)) = (end, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// Returns the answer to a query with one question: an address for IPv4 questions, and none for others.
fn answer_to(query: &[u8], said: &mut NameServerState) -> Option<Vec<u8>> {
    let (id, rest) = (query.get(..2)?, query.get(12..)?);
    let (mut name, mut at) = (String::new(), 0);
    loop {
        let length = usize::from(*rest.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        let label = rest.get(at..at + length)?;
        name.push_str(&String::from_utf8_lossy(label));
        name.push('.');
        at += length;
    }
    let question = rest.get(..at + 4)?;
    let has_answer = question.ends_with(&[0, 1, 0, 1]);
    said.names.push(name);
    let mut answer = id.to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(has_answer), 0, 0, 0, 0]);
    answer.extend(question);
    if has_answer {
        // Answer record: a pointer to the name of the question, an IPv4 address, TTL of one second.
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        answer.extend(said.answer.octets());
    }
    Some(answer)
}

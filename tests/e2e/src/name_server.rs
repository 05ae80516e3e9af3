//! A name server on loopback that answers every question with one address.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::Result;

/// Answers over UDP, on a thread of its own, until it is dropped.
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
    /// Starts on a free port; every name has this address.
    ///
    /// # Errors
    /// When there is no socket.
    pub fn start(answer: Ipv4Addr) -> Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = socket.local_addr()?;
        let said = Arc::new(Mutex::new(NameServerState { answer, names: Vec::new() }));
        let own = Arc::clone(&said);
        let thread = thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Ok((length, peer)) = socket.recv_from(&mut bytes) {
                // What is empty ends it.
                let query = bytes.get(..length).filter(|query| !query.is_empty());
                let Some(query) = query else { return };
                let answer = answer_to(query, &mut own.lock().unwrap_or_else(PoisonError::into_inner));
                if let Some(answer) = answer {
                    // A lost answer is asked for again.
                    let _ = socket.send_to(&answer, peer);
                }
            }
        });
        Ok(Self { address, said, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives every name another address from now on.
    pub fn answer(&self, answer: Ipv4Addr) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).answer = answer;
    }

    /// The names that it was asked for.
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

/// The answer to the only question of a query: an address to those for IPv4, and none to others.
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
        // The name of the question, an address, for a second.
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        answer.extend(said.answer.octets());
    }
    Some(answer)
}

//! Threads that end pauses in random order.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use eddy_sdk::prelude::*;

/// A pause and the way to end it.
pub(crate) struct PendingPause {
    pub(crate) paused: Paused,
    pub(crate) word: String,
    pub(crate) draw: u64,
    /// Whether the pause is in a head phase, where a field can be added.
    pub(crate) is_head: bool,
}

/// Hands a pause to one of the threads.
pub(crate) fn put(waiting: PendingPause) {
    static POOL: OnceLock<Mutex<Sender<PendingPause>>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..THREADS {
            let receiver = Arc::clone(&receiver);
            thread::spawn(move || work(&receiver));
        }
        Mutex::new(sender)
    });
    let sender = pool.lock().unwrap_or_else(PoisonError::into_inner);
    // The threads live as long as the process; without them the pause is dropped, which fails the exchange.
    let _ = sender.send(waiting);
}

fn work(receiver: &Mutex<Receiver<PendingPause>>) {
    let mut held: Vec<PendingPause> = Vec::new();
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).try_recv();
        if let Ok(waiting) = next {
            held.push(waiting);
            // Collecting a few pauses makes the order more random; more may never arrive.
            if held.len() < FEW {
                continue;
            }
        }
        match held.pop() {
            Some(waiting) => finish(waiting),
            None => match receiver.lock().unwrap_or_else(PoisonError::into_inner).recv() {
                Ok(waiting) => held.push(waiting),
                Err(_) => return,
            },
        }
    }
}

/// Ends a pause; the exchange may already be over.
fn finish(waiting: PendingPause) {
    let PendingPause { mut paused, word, draw, is_head } = waiting;
    if is_head && draw % 2 == 0 {
        // The mark goes to the exchange of this word, or nowhere once that exchange is over.
        let _ = paused.add("x-mark", &word);
    }
    let _ = match draw % 41 {
        0 | 1 => paused.reply(&Reply::new(403).field("x-reply", &word).body(word.clone())),
        2 => paused.reset(),
        3 => paused.fault("drawn"),
        4 => {
            drop(paused);
            return;
        }
        _ => paused.resume(),
    };
}

const THREADS: usize = 3;
const FEW: usize = 3;

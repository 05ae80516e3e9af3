//! Record of a run, and of violations.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Prefix of every word.
const MARK: &[u8] = b"(word";
/// Length of a word with its brackets; a truncated word does not count.
pub(crate) const WORD_BYTES: usize = 22;
/// Word that belongs to no exchange, contained in everything that must have no effect.
pub(crate) const POISON: u64 = u64::MAX;

#[derive(Default)]
pub(crate) struct Book {
    pub(crate) wrong: Mutex<Vec<String>>,
    pub(crate) tally: PlayCounts,
    states: Mutex<States>,
    handles: Mutex<HashMap<u64, u64>>,
}

#[derive(Default)]
struct States {
    next: u64,
    known: HashMap<u64, TrackedExchange>,
    open: usize,
}

/// Filter state of an exchange.
struct TrackedExchange {
    word: u64,
    filter: u64,
    is_ended: bool,
    is_logged: bool,
}

#[derive(Debug, Default)]
pub(crate) struct PlayCounts {
    pub(crate) hooks: AtomicU64,
    pub(crate) resumed: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) replies: AtomicU64,
    pub(crate) ends: AtomicU64,
    pub(crate) requests: AtomicU64,
    /// Clients that left before their response was complete.
    pub(crate) resets: AtomicU64,
    /// Complete responses.
    pub(crate) whole: AtomicU64,
    /// Responses truncated by the gateway.
    pub(crate) cut: AtomicU64,
}

impl PlayCounts {
    pub(crate) fn steps(&self) -> u64 {
        let Self { hooks, resumed, refused, ends, requests, resets, .. } = self;
        [hooks, resumed, refused, ends, requests, resets].iter().map(|count| count.load(Relaxed)).sum()
    }
}

/// Returns the word of an exchange.
pub(crate) fn word_of(number: u64) -> String {
    format!("(word{number:016x})")
}

/// Returns the exchange whose word begins here.
pub(crate) fn number_of(word: &[u8]) -> Option<u64> {
    let digits = word.get(..WORD_BYTES)?.strip_prefix(MARK)?.strip_suffix(b")")?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Returns another exchange's word in these bytes, which may begin and end within a word.
fn stranger(bytes: &[u8], own: u64) -> Option<u64> {
    bytes.windows(WORD_BYTES).filter_map(number_of).find(|number| *number != own)
}

impl Book {
    pub(crate) fn complain(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }

    /// Checks for words of other exchanges.
    pub(crate) fn look(&self, whose: u64, place: &str, bytes: &[u8]) {
        if let Some(other) = stranger(bytes, whose) {
            self.complain(format!("{whose:x} sees {other:x} in {place}"));
        }
    }

    /// Checks that a handle identifies the same exchange forever.
    pub(crate) fn meet(&self, handle: u64, word: u64) {
        let known = *self.handles.lock().unwrap().entry(handle).or_insert(word);
        if known != word {
            self.complain(format!("handle {handle:x} of {known:x} names {word:x}"));
        }
    }

    pub(crate) fn handles(&self) -> Vec<u64> {
        self.handles.lock().unwrap().keys().copied().collect()
    }

    /// Creates a state for a filter that had none.
    pub(crate) fn begin_state(&self, word: u64, filter: u64) -> u64 {
        let mut states = self.states.lock().unwrap();
        states.next += 1;
        states.open += 1;
        let number = states.next;
        states.known.insert(number, TrackedExchange { word, filter, is_ended: false, is_logged: false });
        number
    }

    /// Checks a state that a filter sees again.
    pub(crate) fn see_state(&self, number: u64, word: u64, filter: u64, is_log: bool) {
        let mut states = self.states.lock().unwrap();
        let wrong = match states.known.get_mut(&number) {
            None => Some("nobody's state".to_owned()),
            Some(state) if (state.word, state.filter) != (word, filter) => {
                Some(format!("the state of filter {} and {:x}", state.filter, state.word))
            }
            Some(state) if state.is_ended => Some("a state after its end".to_owned()),
            Some(state) if state.is_logged => Some("a hook after the log".to_owned()),
            Some(state) => {
                state.is_logged = is_log;
                None
            }
        };
        drop(states);
        if let Some(wrong) = wrong {
            self.complain(format!("filter {filter} of {word:x}: {wrong}"));
        }
    }

    /// Checks the reported end of a state.
    pub(crate) fn end_state(&self, number: u64, filter: u64) {
        self.tally.ends.fetch_add(1, Relaxed);
        let mut states = self.states.lock().unwrap();
        let wrong = match states.known.get_mut(&number) {
            Some(state) if state.filter == filter && !state.is_ended => {
                state.is_ended = true;
                states.open -= 1;
                return;
            }
            Some(state) if state.is_ended => "is told twice",
            Some(_) => "is told to another filter",
            None => "is nobody's",
        };
        drop(states);
        self.complain(format!("the end of state {number} of filter {filter} {wrong}"));
    }

    pub(crate) fn open_states(&self) -> usize {
        self.states.lock().unwrap().open
    }
}

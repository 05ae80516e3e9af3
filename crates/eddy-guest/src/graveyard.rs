//! Where what guests made waits to be freed: on one thread, never on a worker's.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use crate::load::Entries;

/// Takes what no plan has any more, and frees it when the thread that may enter guests says so.
#[derive(Clone)]
pub struct Graveyard {
    shared: Arc<Shared>,
}

struct Shared {
    dead: Mutex<Vec<Dead>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// What is to be freed.
#[derive(Debug)]
pub(crate) enum Dead {
    /// A filter.
    Filter {
        /// How to enter its library.
        entries: Entries,
        /// The library's number of it.
        filter: u64,
    },
    /// What a rule said of a filter.
    Config {
        /// How to enter its library.
        entries: Entries,
        /// The library's number of the filter.
        filter: u64,
        /// The library's number of the configuration.
        config: u64,
    },
}

impl Graveyard {
    /// A graveyard that calls `wake` for each arrival, on whatever thread that happens.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { shared: Arc::new(Shared { dead: Mutex::default(), wake: Box::new(wake) }) }
    }

    /// Frees what has come, on this thread. Only the one that makes filters may call it.
    pub fn drain(&self) {
        let dead = mem::take(&mut *self.shared.dead.lock().unwrap_or_else(PoisonError::into_inner));
        for one in dead {
            match one {
                Dead::Filter { entries, filter } => entries.free_filter(filter),
                Dead::Config { entries, filter, config } => entries.free_config(filter, config),
            }
        }
    }

    pub(crate) fn bury(&self, dead: Dead) {
        self.shared.dead.lock().unwrap_or_else(PoisonError::into_inner).push(dead);
        (self.shared.wake)();
    }
}

impl fmt::Debug for Graveyard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graveyard")
    }
}

//! Where what guests made waits to be freed: on one thread, never on a worker's.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes what no plan has any more, and frees it when the thread that may enter guests says so.
#[derive(Clone)]
pub struct Graveyard {
    shared: Arc<Shared>,
}

struct Shared {
    dead: Mutex<Vec<Burial>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// Frees something.
type Burial = Box<dyn FnOnce() + Send>;

impl Graveyard {
    /// A graveyard that calls `wake` for each arrival, on whatever thread that happens.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { shared: Arc::new(Shared { dead: Mutex::default(), wake: Box::new(wake) }) }
    }

    /// Frees what has come, on this thread. Only the one that makes filters may call it.
    pub fn drain(&self) {
        let dead = mem::take(&mut *self.shared.dead.lock().unwrap_or_else(PoisonError::into_inner));
        dead.into_iter().for_each(|free| free());
    }

    /// Has `free` called on the thread that makes filters.
    pub(crate) fn bury(&self, free: impl FnOnce() + Send + 'static) {
        self.shared.dead.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(free));
        (self.shared.wake)();
    }
}

impl fmt::Debug for Graveyard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graveyard")
    }
}

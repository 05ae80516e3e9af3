//! Pending calls that this side made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::fault::{CallError, LinkEndReason, Misconduct};
use crate::slot::OneshotSlot;

/// Result of a call.
pub(crate) type CallResult = Result<Vec<u8>, CallError>;

/// Pending calls by number; numbers are never reused.
#[derive(Debug)]
pub(crate) struct Calls {
    limit: usize,
    table: Mutex<PendingCallTable>,
}

#[derive(Debug, Default)]
struct PendingCallTable {
    open: HashMap<u64, OpenCall>,
    next: u64,
    /// When the link's thread next checks for expired calls; it sleeps until then.
    watched_until: Option<Instant>,
    ended: Option<LinkEndReason>,
}

#[derive(Debug)]
struct OpenCall {
    slot: Arc<OneshotSlot<CallResult>>,
    /// When the link's thread abandons the call. Blocked threads do that themselves.
    expiry: Option<Expiry>,
}

/// Deadline of a call, and the timeout from its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expiry {
    pub(crate) deadline: Instant,
    pub(crate) timeout: Duration,
}

/// A call that was just registered.
#[derive(Debug)]
pub(crate) struct NewCall {
    pub(crate) call: u64,
    pub(crate) slot: Arc<OneshotSlot<CallResult>>,
    /// Whether the link's thread sleeps beyond the call's deadline.
    pub(crate) outlasts_sleep: bool,
}

/// Result of a check for expired calls.
#[derive(Debug)]
pub(crate) struct Expired {
    /// Calls that have expired.
    pub(crate) calls: Vec<u64>,
    /// When to check again.
    pub(crate) next: Option<Instant>,
}

impl Calls {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, table: Mutex::default() }
    }

    /// Returns the maximum number of pending calls.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Assigns a call a number and a slot for its answer.
    pub(crate) fn open(&self, expiry: Option<Expiry>) -> Result<NewCall, CallError> {
        let mut table = self.lock();
        if let Some(fault) = &table.ended {
            return Err(fault.clone().into());
        }
        if table.open.len() >= self.limit {
            return Err(CallError::Busy(self.limit));
        }
        let call = table.next;
        table.next += 1;
        let slot = Arc::new(OneshotSlot::new());
        table.open.insert(call, OpenCall { slot: Arc::clone(&slot), expiry });
        let until = table.watched_until;
        let outlasts_sleep = expiry.is_some_and(|expiry| until.is_none_or(|until| expiry.deadline < until));
        Ok(NewCall { call, slot, outlasts_sleep })
    }

    /// Delivers an answer to its waiter. The call may have been abandoned: then the answer is discarded.
    pub(crate) fn finish(&self, call: u64, outcome: CallResult) -> Result<(), Misconduct> {
        let mut table = self.lock();
        if call >= table.next {
            return Err(Misconduct::NeverCalled(call));
        }
        let open = table.open.remove(&call);
        drop(table);
        if let Some(open) = open {
            open.slot.fill(outcome);
        }
        Ok(())
    }

    /// Abandons a call, and returns whether it was still pending.
    pub(crate) fn forget(&self, call: u64) -> bool {
        self.lock().open.remove(&call).is_some()
    }

    /// Abandons expired calls.
    pub(crate) fn expire(&self, now: Instant) -> Expired {
        let mut table = self.lock();
        let mut expired = Expired { calls: Vec::new(), next: None };
        let mut given_up = Vec::new();
        table.open.retain(|call, open| match open.expiry {
            Some(expiry) if expiry.deadline <= now => {
                expired.calls.push(*call);
                given_up.push((Arc::clone(&open.slot), expiry.timeout));
                false
            }
            Some(expiry) => {
                expired.next = Some(expired.next.map_or(expiry.deadline, |next| next.min(expiry.deadline)));
                true
            }
            None => true,
        });
        table.watched_until = expired.next;
        drop(table);
        for (slot, timeout) in given_up {
            slot.fill(Err(CallError::Timeout(timeout)));
        }
        expired
    }

    /// Fails all pending calls, and all future ones.
    pub(crate) fn end(&self, fault: &LinkEndReason) {
        let mut table = self.lock();
        table.ended.get_or_insert_with(|| fault.clone());
        let open = std::mem::take(&mut table.open);
        drop(table);
        for (_, open) in open {
            open.slot.fill(Err(fault.clone().into()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, PendingCallTable> {
        self.table.lock().expect("nothing panics while the calls are locked")
    }
}

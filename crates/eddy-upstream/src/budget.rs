//! Retry budget: the retries that a worker may add to a cluster's first attempts.

use eddy_ids::WorkerTime;
use eddy_model::RetryBudget;

/// Counts requests and retries over the last ten seconds, in slots of one second.
///
/// A retry is allowed while the retries of the window are below `percent` of its requests, or those of this
/// second are below `floor_per_second`. Each worker has its own.
#[derive(Clone, Debug)]
pub struct RetryBudgetWindow {
    config: RetryBudget,
    slots: [RetryWindowSlot; WINDOW_SECONDS],
    second: u64,
}

impl RetryBudgetWindow {
    /// An empty window.
    pub fn new(config: RetryBudget) -> Self {
        Self { config, slots: [RetryWindowSlot::default(); WINDOW_SECONDS], second: 0 }
    }

    /// Changes the limits and keeps the counts.
    pub fn reconfigure(&mut self, config: RetryBudget) {
        self.config = config;
    }

    /// Counts a first attempt.
    pub fn on_request(&mut self, now: WorkerTime) {
        let slot = self.slot(now);
        slot.requests = slot.requests.saturating_add(1);
    }

    /// Whether a retry is allowed at `now`; counts it if so.
    pub fn try_retry(&mut self, now: WorkerTime) -> bool {
        let in_second = self.slot(now).retries;
        let is_allowed = in_second < self.config.floor_per_second || self.has_share();
        if is_allowed {
            let slot = self.slot(now);
            slot.retries = slot.retries.saturating_add(1);
        }
        is_allowed
    }

    fn has_share(&self) -> bool {
        let (requests, retries) = self.slots.iter().fold((0_u64, 0_u64), |(requests, retries), slot| {
            (requests + u64::from(slot.requests), retries + u64::from(slot.retries))
        });
        retries * 100 < requests * u64::from(self.config.percent)
    }

    /// Returns the slot of `now`, after clearing those that have left the window.
    fn slot(&mut self, now: WorkerTime) -> &mut RetryWindowSlot {
        // A clock that goes backwards counts as the newest second seen.
        let second = now.as_secs().max(self.second);
        let passed = (second - self.second).min(WINDOW_SECONDS as u64);
        for back in 0..passed {
            self.slots[slot_index(second - back)] = RetryWindowSlot::default();
        }
        self.second = second;
        &mut self.slots[slot_index(second)]
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct RetryWindowSlot {
    requests: u32,
    retries: u32,
}

fn slot_index(second: u64) -> usize {
    usize::try_from(second % WINDOW_SECONDS as u64).expect("below ten")
}

const WINDOW_SECONDS: usize = 10;

//! Connections, requests and retries of a cluster in use, over all workers together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use eddy_model::LimitKind;

/// Resources of one cluster in use by all workers; touched only where a cluster has limits.
#[derive(Debug, Default)]
pub struct InUse {
    counts: [LimitCount; LimitKind::ALL.len()],
}

#[derive(Debug, Default)]
struct LimitCount {
    now: AtomicU32,
    refused: AtomicU64,
}

/// Place within a limit; released on drop.
#[derive(Debug)]
#[must_use = "a place that is dropped is given back"]
pub struct LimitPermit {
    of: Arc<InUse>,
    kind: LimitKind,
}

impl InUse {
    /// Takes a place, if fewer than `max` are taken.
    ///
    /// # Cost
    /// A write to memory shared by all workers; no allocation.
    pub fn take(self: &Arc<Self>, kind: LimitKind, max: u32) -> Option<LimitPermit> {
        let below_max = |now: u32| (now < max).then_some(now + 1);
        self.count(kind).now.fetch_update(Relaxed, Relaxed, below_max).ok()?;
        Some(LimitPermit { of: Arc::clone(self), kind })
    }

    /// Counts a refusal because of a limit.
    pub fn refuse(&self, kind: LimitKind) {
        self.count(kind).refused.fetch_add(1, Relaxed);
    }

    /// Returns the number of places taken.
    pub fn now(&self, kind: LimitKind) -> u32 {
        self.count(kind).now.load(Relaxed)
    }

    /// Returns the number of refusals.
    pub fn refused(&self, kind: LimitKind) -> u64 {
        self.count(kind).refused.load(Relaxed)
    }

    fn count(&self, kind: LimitKind) -> &LimitCount {
        &self.counts[kind as usize]
    }
}

impl Drop for LimitPermit {
    fn drop(&mut self) {
        let before = self.of.count(self.kind).now.fetch_sub(1, Relaxed);
        debug_assert!(before > 0, "each place was taken");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_limited_and_returned() {
        let in_use = Arc::<InUse>::default();
        let mut places: Vec<_> = (0..3).map(|_| in_use.take(LimitKind::Requests, 2)).collect();
        assert_eq!(places.iter().flatten().count(), 2);
        assert!(in_use.take(LimitKind::Retries, 1).is_some(), "kinds are counted apart");
        places.remove(0);
        assert_eq!((in_use.now(LimitKind::Requests), in_use.now(LimitKind::Retries)), (1, 0));
        let again = in_use.take(LimitKind::Requests, 2);
        assert!(again.is_some() && in_use.take(LimitKind::Requests, 2).is_none());
    }

    #[test]
    fn all_workers_together_respect_the_limit() {
        let in_use = Arc::<InUse>::default();
        let most = AtomicU32::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5000 {
                        let place = in_use.take(LimitKind::Connections, 3);
                        most.fetch_max(in_use.now(LimitKind::Connections), Relaxed);
                        drop(place);
                    }
                });
            }
        });
        assert!((1..=3).contains(&most.load(Relaxed)));
        assert_eq!(in_use.now(LimitKind::Connections), 0);
    }
}

//! Cluster limits on connections, requests and retries, over all workers together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Maximum of each kind in use at once; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Connections to all endpoints together: idle, busy and being established.
    pub connections: Option<u32>,
    /// Requests at endpoints, including those that wait for a connection, and tunnels.
    pub requests: Option<u32>,
    /// Requests that wait for a connection to be established.
    pub pending: Option<u32>,
    /// Requests that are being retried.
    pub retries: Option<u32>,
}

/// Limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// See [`LimitsConfig::connections`].
    Connections,
    /// See [`LimitsConfig::requests`].
    Requests,
    /// See [`LimitsConfig::pending`].
    Pending,
    /// See [`LimitsConfig::retries`].
    Retries,
}

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
pub struct LimitPlace {
    of: Arc<InUse>,
    kind: LimitKind,
}

impl LimitsConfig {
    /// Whether no limit is set.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the limit of a kind.
    pub fn of(&self, kind: LimitKind) -> Option<u32> {
        match kind {
            LimitKind::Connections => self.connections,
            LimitKind::Requests => self.requests,
            LimitKind::Pending => self.pending,
            LimitKind::Retries => self.retries,
        }
    }
}

impl LimitKind {
    /// All kinds, by index.
    pub const ALL: [Self; 4] = [Self::Connections, Self::Requests, Self::Pending, Self::Retries];

    /// Returns the configuration key.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Requests => "requests",
            Self::Pending => "pending",
            Self::Retries => "retries",
        }
    }
}

impl InUse {
    /// Takes a place, if fewer than `max` are taken.
    ///
    /// # Cost
    /// A write to memory shared by all workers; no allocation.
    pub fn take(self: &Arc<Self>, kind: LimitKind, max: u32) -> Option<LimitPlace> {
        let below_max = |now: u32| (now < max).then_some(now + 1);
        self.count(kind).now.fetch_update(Relaxed, Relaxed, below_max).ok()?;
        Some(LimitPlace { of: Arc::clone(self), kind })
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

impl Drop for LimitPlace {
    fn drop(&mut self) {
        let before = self.of.count(self.kind).now.fetch_sub(1, Relaxed);
        debug_assert!(before > 0, "each place was taken");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_as_many_as_allowed_and_come_back() {
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
    fn workers_together_take_no_more_than_allowed() {
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

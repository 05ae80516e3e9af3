//! Tells when a peer that moves its bytes too slowly has had enough time.

/// Watches the average rate of a body, counting only the time spent waiting for the peer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateGuard {
    moved_bytes: u64,
    waited_ms: u64,
    waiting_since_ms: Option<u64>,
}

impl RateGuard {
    /// Counts bytes that the peer sent or took; the wait for it is over.
    pub(crate) fn moved(&mut self, bytes: u64, now_ms: u64) {
        self.moved_bytes += bytes;
        if let Some(since_ms) = self.waiting_since_ms.take() {
            self.waited_ms += now_ms.saturating_sub(since_ms);
        }
    }

    /// Notes that the peer is being waited for, and tells until when.
    ///
    /// The peer must, after `grace_ms` of waiting, have moved `rate_min` bytes for each second waited for it.
    pub(crate) fn deadline(&mut self, now_ms: u64, rate_min: u32, grace_ms: u64) -> u64 {
        if rate_min == 0 {
            return u64::MAX;
        }
        let since_ms = *self.waiting_since_ms.get_or_insert(now_ms);
        let earned_ms = self.moved_bytes.saturating_mul(1000) / u64::from(rate_min);
        since_ms.saturating_add(grace_ms.saturating_add(earned_ms).saturating_sub(self.waited_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_has_the_grace_and_no_more() {
        let mut guard = RateGuard::default();
        assert_eq!(guard.deadline(5_000, 1024, 10_000), 15_000);
        assert_eq!(guard.deadline(9_000, 1024, 10_000), 15_000);
    }

    #[test]
    fn what_was_moved_earns_time_and_waiting_uses_it_up() {
        let mut guard = RateGuard::default();
        guard.deadline(0, 1000, 10_000);
        guard.moved(2_000, 4_000);
        // 4 s waited, 2 s earned: 8 s are left.
        assert_eq!(guard.deadline(4_000, 1000, 10_000), 12_000);
        // Time spent waiting for somebody else does not count.
        guard.moved(0, 4_000);
        assert_eq!(guard.deadline(100_000, 1000, 10_000), 108_000);
    }

    #[test]
    fn a_drip_runs_out_of_time() {
        let mut guard = RateGuard::default();
        let mut now = 0;
        while guard.deadline(now, 1024, 10_000) > now + 1_000 {
            now += 1_000;
            guard.moved(1, now);
            assert!(now < 12_000, "one byte a second is too slow");
        }
    }

    #[test]
    fn no_rate_no_deadline() {
        assert_eq!(RateGuard::default().deadline(1, 0, 10), u64::MAX);
    }
}

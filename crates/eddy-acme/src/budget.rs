//! How many orders an authority is asked for, whatever happens; what was ordered is written down, so that a process that
//! starts again and again counts on.

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::store::AcmeStore;

/// The orders of the last hour.
#[derive(Debug, Default)]
pub(crate) struct OrderBudget {
    /// By the certificate's name, seconds since 1970, in their order.
    orders: BTreeMap<String, Vec<u64>>,
}

impl OrderBudget {
    /// The orders that a store has noted.
    pub(crate) fn of(store: &AcmeStore) -> Self {
        Self { orders: store.read_orders() }
    }

    /// The second from which on a certificate may be ordered; 0 for at once.
    pub(crate) fn free_at(&self, name: &str, now: u64) -> u64 {
        let own = free_at(self.orders.get(name).into_iter().flatten(), ORDERS_MAX, now);
        let all = free_at(self.orders.values().flatten(), ORDERS_OF_ALL_MAX, now);
        own.max(all)
    }

    /// Notes an order that is about to be made.
    ///
    /// # Errors
    /// When it cannot be written down; it must not be made then.
    pub(crate) fn note(&mut self, name: &str, now: u64, store: &AcmeStore) -> Result<(), StoreError> {
        self.orders.retain(|_, times| {
            times.retain(|time| is_recent(*time, now));
            !times.is_empty()
        });
        self.orders.entry(name.to_owned()).or_default().push(now);
        store.write_orders(&self.orders)
    }
}

fn free_at<'t>(times: impl Iterator<Item = &'t u64>, most: usize, now: u64) -> u64 {
    let mut recent: Vec<u64> = times.copied().filter(|time| is_recent(*time, now)).collect();
    recent.sort_unstable();
    // The next is free when so many are old that one less than the most are left.
    let oldest = recent.len().checked_sub(most).and_then(|at| recent.get(at));
    oldest.map_or(0, |time| time + PERIOD_S)
}

/// A time that is yet to come is of a clock that was wrong.
fn is_recent(time: u64, now: u64) -> bool {
    time <= now && now - time < PERIOD_S
}

const PERIOD_S: u64 = 3600;
/// Most orders of one certificate within an hour. The best-known authority refuses after five proofs that fail.
const ORDERS_MAX: usize = 4;
/// Most orders of all certificates within an hour. The best-known authority takes three hundred within three.
const ORDERS_OF_ALL_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_ordered_four_times_an_hour_at_most() {
        let free = |times: &[u64], now| {
            let orders = BTreeMap::from([("a.test".to_owned(), times.to_vec())]);
            OrderBudget { orders }.free_at("a.test", now)
        };
        assert_eq!(free(&[], 10_000), 0);
        assert_eq!(free(&[9000, 9100, 9200], 10_000), 0);
        assert_eq!(free(&[9000, 9100, 9200, 9300], 10_000), 12_600);
        assert_eq!(free(&[8000, 9000, 9100, 9200, 9300], 10_000), 12_600);
        // Old ones and those of a wrong clock don't count.
        assert_eq!(free(&[6000, 9100, 9200, 9300, 20_000], 10_000), 0);
    }

    #[test]
    fn all_certificates_together_have_a_limit_of_their_own() {
        let orders = (0..80).map(|index| (format!("{index}.test"), vec![9000 + index])).collect();
        assert_eq!(OrderBudget { orders }.free_at("new.test", 10_000), 12_600);
    }
}

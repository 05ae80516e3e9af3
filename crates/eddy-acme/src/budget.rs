//! Limits on the number of certificate orders per hour. Orders are recorded on disk, so that a process that restarts
//! again and again keeps counting.

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::store::AcmeStore;

/// Orders of the last hour.
#[derive(Debug, Default)]
pub(crate) struct OrderBudget {
    /// Times of orders by certificate name, in seconds since 1970, ascending.
    orders: BTreeMap<String, Vec<u64>>,
}

impl OrderBudget {
    /// Returns the budget with the orders recorded in a store.
    pub(crate) fn of(store: &AcmeStore) -> Self {
        Self { orders: store.read_orders() }
    }

    /// Returns the earliest second at which a certificate may be ordered; 0 for at once.
    pub(crate) fn free_at(&self, name: &str, now: u64) -> u64 {
        let own = free_at(self.orders.get(name).into_iter().flatten(), ORDERS_MAX, now);
        let all = free_at(self.orders.values().flatten(), ORDERS_TOTAL_MAX, now);
        own.max(all)
    }

    /// Records an order before it is sent.
    ///
    /// # Errors
    /// When the order cannot be written to disk; it must not be sent then.
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
    // The next order is allowed once enough orders have expired to leave one less than the maximum.
    let oldest = recent.len().checked_sub(most).and_then(|at| recent.get(at));
    oldest.map_or(0, |time| time + PERIOD_S)
}

/// A time in the future comes from a wrong clock and does not count.
fn is_recent(time: u64, now: u64) -> bool {
    time <= now && now - time < PERIOD_S
}

const PERIOD_S: u64 = 3600;
/// Maximum orders per certificate and hour. Let's Encrypt refuses after five failed validations.
const ORDERS_MAX: usize = 4;
/// Maximum orders of all certificates per hour. Let's Encrypt accepts 300 in three hours.
const ORDERS_TOTAL_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_ordered_at_most_four_times_an_hour() {
        let free = |times: &[u64], now| {
            let orders = BTreeMap::from([("a.test".to_owned(), times.to_vec())]);
            OrderBudget { orders }.free_at("a.test", now)
        };
        assert_eq!(free(&[], 10_000), 0);
        assert_eq!(free(&[9000, 9100, 9200], 10_000), 0);
        assert_eq!(free(&[9000, 9100, 9200, 9300], 10_000), 12_600);
        assert_eq!(free(&[8000, 9000, 9100, 9200, 9300], 10_000), 12_600);
        // Expired orders and those of a wrong clock don't count.
        assert_eq!(free(&[6000, 9100, 9200, 9300, 20_000], 10_000), 0);
    }

    #[test]
    fn all_certificates_together_have_a_limit_of_their_own() {
        let orders = (0..80).map(|index| (format!("{index}.test"), vec![9000 + index])).collect();
        assert_eq!(OrderBudget { orders }.free_at("new.test", 10_000), 12_600);
    }
}

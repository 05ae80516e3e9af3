//! Resolution state of one name and the time of the next lookup; pure, so that tests control the time.

use std::net::IpAddr;
use std::time::Duration;

use eddy_ids::{Millis, WorkerTime};
use eddy_model::DnsConfig;

use super::client::{AddressLookup, AddressRecords, LookupFault};
use crate::rng::Rng;

/// A name and its last good addresses.
#[derive(Clone, Debug)]
pub(crate) struct NameState {
    config: DnsConfig,
    known: LastGoodAnswer,
    failures_in_row: u32,
    warned_at: Option<WorkerTime>,
}

/// Last good answer for a name; outlives the configuration that asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastGoodAnswer {
    v4: Family,
    v6: Family,
}

#[derive(Clone, Debug, Default)]
struct Family {
    addresses: Vec<IpAddr>,
    last_success_at: WorkerTime,
}

/// Action after a lookup.
#[derive(Debug)]
pub(crate) struct LookupFollowup {
    /// Wait before the next lookup.
    pub(crate) delay: Duration,
    /// Reason of the failure, if the lookup failed.
    pub(crate) fault: Option<LookupFault>,
    /// Event to log, if any.
    pub(crate) news: Option<NameEvent>,
}

/// Event of a name that is logged for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameEvent {
    /// Lookups fail; logged at once and then once per `WARNING_INTERVAL`.
    Failing,
    /// Lookups succeed again.
    Recovered,
    /// Lookups have failed for so long that the last good addresses are no longer used.
    Dropped,
}

impl NameState {
    /// Starts with the addresses known from before, unless they are too old.
    pub(crate) fn new(config: DnsConfig, mut known: LastGoodAnswer, now: WorkerTime) -> Self {
        known.drop_stale(now, config.stale_max);
        Self { config, known, failures_in_row: 0, warned_at: None }
    }

    /// Returns the addresses to use, sorted, without duplicates, at most `ADDRESSES_MAX`.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        let both = self.known.v4.addresses.iter().chain(&self.known.v6.addresses);
        both.copied().take(ADDRESSES_MAX).collect()
    }

    pub(crate) fn known(&self) -> &LastGoodAnswer {
        &self.known
    }

    pub(crate) fn failures_in_row(&self) -> u32 {
        self.failures_in_row
    }

    /// Applies the result of a lookup at `now`.
    pub(crate) fn handle_answers(
        &mut self,
        now: WorkerTime,
        answers: AddressLookup,
        rng: &mut Rng,
    ) -> LookupFollowup {
        let (v4, v6) = (only_usable(answers.v4), only_usable(answers.v6));
        let is_good = [&v4, &v6].into_iter().flatten().any(|records| !records.addresses.is_empty());
        if is_good {
            self.handle_lookup_success(now, v4, v6, rng)
        } else {
            self.handle_lookup_failure(now, fault(v4, v6), rng)
        }
    }

    fn handle_lookup_success(
        &mut self,
        now: WorkerTime,
        v4: Result<AddressRecords, LookupFault>,
        v6: Result<AddressRecords, LookupFault>,
        rng: &mut Rng,
    ) -> LookupFollowup {
        let ttl = [&v4, &v6].into_iter().flatten().filter(|records| !records.addresses.is_empty());
        let ttl = ttl.map(|records| records.ttl).min().unwrap_or_default();
        let mut delay = self.spread(ttl, self.config.refresh_max, rng);
        for (family, answer) in [(&mut self.known.v4, v4), (&mut self.known.v6, v6)] {
            match answer {
                Ok(records) => *family = Family { addresses: records.addresses, last_success_at: now },
                // NXDOMAIN for one family while the other has addresses means: none of this family.
                Err(LookupFault::NoName) => *family = Family { addresses: Vec::new(), last_success_at: now },
                Err(_) => {
                    family.drop_stale(now, self.config.stale_max);
                    delay = delay.min(FAILURE_DELAY_MAX);
                }
            }
        }
        let news = (self.failures_in_row > 0).then_some(NameEvent::Recovered);
        self.failures_in_row = 0;
        self.warned_at = None;
        LookupFollowup { delay, fault: None, news }
    }

    fn handle_lookup_failure(
        &mut self,
        now: WorkerTime,
        fault: LookupFault,
        rng: &mut Rng,
    ) -> LookupFollowup {
        let had_addresses = !self.known.is_empty();
        self.known.drop_stale(now, self.config.stale_max);
        let news = if had_addresses && self.known.is_empty() {
            Some(NameEvent::Dropped)
        } else if self.warned_at.is_none_or(|at| (now - at).as_duration() >= WARNING_INTERVAL) {
            Some(NameEvent::Failing)
        } else {
            None
        };
        if news.is_some() {
            self.warned_at = Some(now);
        }
        let doubled =
            self.config.refresh_min.max(REFRESH_FLOOR).saturating_mul(1 << self.failures_in_row.min(16));
        self.failures_in_row = self.failures_in_row.saturating_add(1);
        let delay = self.spread(doubled, self.config.refresh_max.min(FAILURE_DELAY_MAX), rng);
        let delay =
            self.known.first_stale_in(now, self.config.stale_max).map_or(delay, |left| delay.min(left));
        LookupFollowup { delay, fault: Some(fault), news }
    }

    /// Clamps `delay` to its limits and shifts it by up to a tenth, so that names do not all expire together.
    fn spread(&self, delay: Duration, delay_max: Duration, rng: &mut Rng) -> Duration {
        let least = self.config.refresh_min.max(REFRESH_FLOOR);
        let delay = delay.min(delay_max).max(least);
        let tenth_ms = u64::try_from(delay.as_millis() / 10).unwrap_or(u64::MAX);
        let moved = Duration::from_millis(rng.below(tenth_ms.saturating_add(1)));
        if delay + moved <= delay_max { delay + moved } else { delay.saturating_sub(moved).max(least) }
    }
}

impl LastGoodAnswer {
    /// Whether there are addresses that were good at some time within the last `memory`.
    pub(crate) fn had_addresses_within(&self, now: WorkerTime, memory: Duration) -> bool {
        let filled = [&self.v4, &self.v6].into_iter().filter(|family| !family.addresses.is_empty());
        filled
            .map(|family| family.last_success_at)
            .max()
            .is_some_and(|last_success_at| (now - last_success_at).as_duration() < memory)
    }

    fn is_empty(&self) -> bool {
        self.v4.addresses.is_empty() && self.v6.addresses.is_empty()
    }

    fn drop_stale(&mut self, now: WorkerTime, stale_max: Duration) {
        self.v4.drop_stale(now, stale_max);
        self.v6.drop_stale(now, stale_max);
    }

    /// Returns the time until the first of the families with addresses becomes stale.
    fn first_stale_in(&self, now: WorkerTime, stale_max: Duration) -> Option<Duration> {
        let filled = [&self.v4, &self.v6].into_iter().filter(|family| !family.addresses.is_empty());
        filled
            .map(|family| {
                (family.last_success_at + Millis::of(stale_max) - now).as_duration().max(REFRESH_FLOOR)
            })
            .min()
    }
}

impl Family {
    fn drop_stale(&mut self, now: WorkerTime, stale_max: Duration) {
        if (now - self.last_success_at).as_duration() >= stale_max {
            self.addresses.clear();
        }
    }
}

/// Removes addresses that cannot be connected to or would accidentally mean this machine; sorts, so that the same
/// addresses in another order are the same answer.
fn only_usable(answer: Result<AddressRecords, LookupFault>) -> Result<AddressRecords, LookupFault> {
    let mut records = answer?;
    records.addresses.retain(|address| {
        let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
        !address.is_unspecified() && !address.is_multicast() && !is_broadcast
    });
    records.addresses.sort_unstable();
    records.addresses.dedup();
    records.addresses.truncate(ADDRESSES_MAX);
    Ok(records)
}

/// Returns the more specific reason of two families without an address.
fn fault(v4: Result<AddressRecords, LookupFault>, v6: Result<AddressRecords, LookupFault>) -> LookupFault {
    v4.err().or_else(|| v6.err()).unwrap_or(LookupFault::NoAddress)
}

/// Maximum addresses of one name that are used; the rest of a longer answer is ignored.
pub const ADDRESSES_MAX: usize = 1000;
/// Maximum wait after a failed lookup.
pub(crate) const FAILURE_DELAY_MAX: Duration = Duration::from_secs(30);
/// Interval at which a lasting failure is logged.
pub(crate) const WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum wait between lookups, whatever the configuration.
const REFRESH_FLOOR: Duration = Duration::from_millis(20);

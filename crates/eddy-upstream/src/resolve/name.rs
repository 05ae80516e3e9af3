//! What is known of one name, and when to ask again; pure, so that time can be anything in tests.

use std::net::IpAddr;
use std::time::Duration;

use super::client::{AddressLookup, AddressRecords, LookupFault};
use crate::config::DnsConfig;
use crate::rng::Rng;

/// A name and its last good addresses.
#[derive(Clone, Debug)]
pub(crate) struct NameState {
    config: DnsConfig,
    known: LastGoodAnswer,
    failures_in_row: u32,
    warned_at: Option<Duration>,
}

/// The last good answer of a name; outlives the configuration that asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastGoodAnswer {
    v4: Family,
    v6: Family,
}

#[derive(Clone, Debug, Default)]
struct Family {
    addresses: Vec<IpAddr>,
    good_at: Duration,
}

/// What to do after an answer.
#[derive(Debug)]
pub(crate) struct LookupFollowup {
    /// How long to wait before the next look-up.
    pub(crate) delay: Duration,
    /// Why there is no good answer, if there is none.
    pub(crate) fault: Option<LookupFault>,
    /// What to tell the operator, if anything.
    pub(crate) news: Option<News>,
}

/// What an operator wants to know of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Look-ups fail; said at once and then once in `WARNING_INTERVAL`.
    Failing,
    /// Look-ups work again.
    Recovered,
    /// Look-ups have failed for so long that the last good addresses are no longer used.
    Dropped,
}

impl NameState {
    /// Begins with what is known from before, as far as it is not too old.
    pub(crate) fn new(config: DnsConfig, mut known: LastGoodAnswer, now: Duration) -> Self {
        known.drop_stale(now, config.stale_max);
        Self { config, known, failures_in_row: 0, warned_at: None }
    }

    /// The addresses to use, sorted, each once, at most `ADDRESSES_MAX`.
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

    /// Takes in what a look-up found out at `now`.
    pub(crate) fn handle_answers(
        &mut self,
        now: Duration,
        answers: AddressLookup,
        rng: &mut Rng,
    ) -> LookupFollowup {
        let (v4, v6) = (only_usable(answers.v4), only_usable(answers.v6));
        let is_good = [&v4, &v6].into_iter().flatten().any(|records| !records.addresses.is_empty());
        if is_good { self.handle_good(now, v4, v6, rng) } else { self.handle_bad(now, fault(v4, v6), rng) }
    }

    fn handle_good(
        &mut self,
        now: Duration,
        v4: Result<AddressRecords, LookupFault>,
        v6: Result<AddressRecords, LookupFault>,
        rng: &mut Rng,
    ) -> LookupFollowup {
        let ttl = [&v4, &v6].into_iter().flatten().filter(|records| !records.addresses.is_empty());
        let ttl = ttl.map(|records| records.ttl).min().unwrap_or_default();
        let mut delay = self.spread(ttl, self.config.refresh_max, rng);
        for (family, answer) in [(&mut self.known.v4, v4), (&mut self.known.v6, v6)] {
            match answer {
                Ok(records) => *family = Family { addresses: records.addresses, good_at: now },
                // NXDOMAIN beside addresses of the other family means: none of this one.
                Err(LookupFault::NoName) => *family = Family { addresses: Vec::new(), good_at: now },
                Err(_) => {
                    family.drop_stale(now, self.config.stale_max);
                    delay = delay.min(FAILURE_DELAY_MAX);
                }
            }
        }
        let news = (self.failures_in_row > 0).then_some(News::Recovered);
        self.failures_in_row = 0;
        self.warned_at = None;
        LookupFollowup { delay, fault: None, news }
    }

    fn handle_bad(&mut self, now: Duration, fault: LookupFault, rng: &mut Rng) -> LookupFollowup {
        let had_addresses = !self.known.is_empty();
        self.known.drop_stale(now, self.config.stale_max);
        let news = if had_addresses && self.known.is_empty() {
            Some(News::Dropped)
        } else if self.warned_at.is_none_or(|at| now.saturating_sub(at) >= WARNING_INTERVAL) {
            Some(News::Failing)
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

    /// `delay` within its limits, moved by up to a tenth so that names don't all expire together.
    fn spread(&self, delay: Duration, delay_max: Duration, rng: &mut Rng) -> Duration {
        let least = self.config.refresh_min.max(REFRESH_FLOOR);
        let delay = delay.min(delay_max).max(least);
        let tenth_ms = u64::try_from(delay.as_millis() / 10).unwrap_or(u64::MAX);
        let moved = Duration::from_millis(rng.below(tenth_ms.saturating_add(1)));
        if delay + moved <= delay_max { delay + moved } else { delay.saturating_sub(moved).max(least) }
    }
}

impl LastGoodAnswer {
    /// Whether there are addresses that were good at some time in the last `memory`.
    pub(crate) fn was_good_within(&self, now: Duration, memory: Duration) -> bool {
        let filled = [&self.v4, &self.v6].into_iter().filter(|family| !family.addresses.is_empty());
        filled.map(|family| family.good_at).max().is_some_and(|good_at| now.saturating_sub(good_at) < memory)
    }

    fn is_empty(&self) -> bool {
        self.v4.addresses.is_empty() && self.v6.addresses.is_empty()
    }

    fn drop_stale(&mut self, now: Duration, stale_max: Duration) {
        self.v4.drop_stale(now, stale_max);
        self.v6.drop_stale(now, stale_max);
    }

    /// How long until the older of the families that have addresses becomes too old.
    fn first_stale_in(&self, now: Duration, stale_max: Duration) -> Option<Duration> {
        let filled = [&self.v4, &self.v6].into_iter().filter(|family| !family.addresses.is_empty());
        filled
            .map(|family| family.good_at.saturating_add(stale_max).saturating_sub(now).max(REFRESH_FLOOR))
            .min()
    }
}

impl Family {
    fn drop_stale(&mut self, now: Duration, stale_max: Duration) {
        if now.saturating_sub(self.good_at) >= stale_max {
            self.addresses.clear();
        }
    }
}

/// Leaves out what nobody can connect to, or what would mean this very machine by accident; sorts, so that
/// the same addresses in another order are the same answer.
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

/// Of two families without an address, the reason that says more.
fn fault(v4: Result<AddressRecords, LookupFault>, v6: Result<AddressRecords, LookupFault>) -> LookupFault {
    v4.err().or_else(|| v6.err()).unwrap_or(LookupFault::NoAddress)
}

/// Most addresses of one name that are used; the others of a longer answer are left out.
pub const ADDRESSES_MAX: usize = 1000;
/// Longest wait after a failed look-up.
pub(crate) const FAILURE_DELAY_MAX: Duration = Duration::from_secs(30);
/// How often a lasting failure is mentioned.
pub(crate) const WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// Shortest wait between look-ups, whatever the configuration says.
const REFRESH_FLOOR: Duration = Duration::from_millis(20);

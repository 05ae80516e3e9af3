//! Passive ejection: an endpoint that fails several times in a row is left out for a while, then tried again.

use std::time::Duration;

use crate::config::EjectionConfig;

/// Whether an endpoint is left out, since when and for how often.
///
/// In, until failures in a row push it out; out, until its time is over; then half open: one request goes there
/// and its outcome decides whether the endpoint is in again or out for longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ejection {
    place: EjectionState,
    failures_in_row: u32,
    /// When the last of them was.
    failed_last: Duration,
    /// Ejections not yet lived down; the next one lasts this many base times longer than the first.
    times: u32,
    /// Counts every ejection, to tell outcomes of requests sent before it from those sent after it.
    epoch: u32,
}

/// What an outcome did to an endpoint's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EjectionChange {
    /// Nothing.
    None,
    /// It is left out now.
    Ejected,
    /// It stays out, for longer than before.
    EjectedAgain,
    /// It is in again.
    Returned,
}

/// Whether the percentage limit leaves room for one more ejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// One more may be ejected.
    Free,
    /// As many as allowed are ejected.
    Full,
}

impl Ejection {
    /// Whether the endpoint is left out, or half open.
    pub fn is_out(&self) -> bool {
        matches!(self.place, EjectionState::Out { .. })
    }

    /// Whether a request may go there at `now`.
    pub fn is_available(&self, now: Duration) -> bool {
        match self.place {
            EjectionState::In { .. } => true,
            EjectionState::Out { until, is_probed } => now >= until && !is_probed,
        }
    }

    /// When the endpoint may be tried again, while it is out.
    pub fn until(&self) -> Option<Duration> {
        match self.place {
            EjectionState::In { .. } => None,
            EjectionState::Out { until, .. } => Some(until),
        }
    }

    /// How many ejections there were; an outcome counts only for the epoch its request was sent in.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Notes that a request is sent there; whether it is the one that decides a half-open endpoint.
    pub fn on_select(&mut self, now: Duration) -> bool {
        match &mut self.place {
            EjectionState::In { .. } => false,
            EjectionState::Out { until, is_probed } => {
                let is_probe = now >= *until && !*is_probed;
                *is_probed |= is_probe;
                is_probe
            }
        }
    }

    /// Notes that the deciding request ended without an outcome; the next one decides.
    pub fn on_probe_lost(&mut self) {
        if let EjectionState::Out { is_probed, .. } = &mut self.place {
            *is_probed = false;
        }
    }

    /// Notes that a request sent in `epoch` succeeded.
    pub fn on_success(&mut self, epoch: u32, now: Duration, config: &EjectionConfig) -> EjectionChange {
        if epoch != self.epoch {
            return EjectionChange::None;
        }
        if now.saturating_sub(self.failed_last) >= config.memory {
            self.failures_in_row = 0;
        }
        if !self.is_out() {
            return EjectionChange::None;
        }
        self.bring_back(now);
        EjectionChange::Returned
    }

    /// Notes that a request sent in `epoch` failed.
    pub fn on_failure(
        &mut self,
        epoch: u32,
        now: Duration,
        room: Room,
        config: &EjectionConfig,
    ) -> EjectionChange {
        if epoch != self.epoch || config.failures == 0 {
            return EjectionChange::None;
        }
        match self.place {
            EjectionState::In { since } => {
                self.failures_in_row = self.failures_in_row.saturating_add(1);
                self.failed_last = now;
                if self.failures_in_row < config.failures || room == Room::Full {
                    return EjectionChange::None;
                }
                self.live_down(now.saturating_sub(since), config);
                self.push_out(now, config);
                EjectionChange::Ejected
            }
            EjectionState::Out { until, .. } if now >= until => {
                self.push_out(now, config);
                EjectionChange::EjectedAgain
            }
            // Sent while every endpoint was out: it changes nothing before the time is over.
            EjectionState::Out { .. } => EjectionChange::None,
        }
    }

    /// Puts the endpoint in again whatever its time, for the sake of the percentage limit.
    pub fn bring_back(&mut self, now: Duration) {
        self.place = EjectionState::In { since: now };
        self.failures_in_row = 0;
    }

    fn push_out(&mut self, now: Duration, config: &EjectionConfig) {
        self.times = self.times.saturating_add(1);
        self.epoch = self.epoch.wrapping_add(1);
        self.failures_in_row = 0;
        let lasts = config.base_time.saturating_mul(self.times).min(config.time_max);
        self.place = EjectionState::Out { until: now.saturating_add(lasts), is_probed: false };
    }

    /// Forgets one past ejection for each base time that the endpoint was in.
    fn live_down(&mut self, was_in: Duration, config: &EjectionConfig) {
        let base_ms = config.base_time.as_millis().max(1);
        let forgotten = u32::try_from(was_in.as_millis() / base_ms).unwrap_or(u32::MAX);
        self.times = self.times.saturating_sub(forgotten);
    }
}

/// Whether one more of `total` endpoints may be ejected when `out` are.
///
/// At least one always stays, whatever the percentage.
pub fn room(out: usize, total: usize, config: &EjectionConfig) -> Room {
    if out < out_max(total, config) { Room::Free } else { Room::Full }
}

/// Most of `total` endpoints that may be out at once.
pub fn out_max(total: usize, config: &EjectionConfig) -> usize {
    let share = total.saturating_mul(usize::from(config.percent_max.min(100))) / 100;
    share.min(total.saturating_sub(1))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EjectionState {
    In { since: Duration },
    Out { until: Duration, is_probed: bool },
}

impl Default for EjectionState {
    fn default() -> Self {
        Self::In { since: Duration::ZERO }
    }
}

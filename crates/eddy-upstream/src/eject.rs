//! Passive ejection: an endpoint that fails several times in a row is excluded for a while, then tried again.

use eddy_ids::{Millis, WorkerTime};
use eddy_model::EjectionConfig;

/// Ejection state of an endpoint: whether it is ejected, until when, and how often it was.
///
/// In service until consecutive failures eject it; ejected until its time is over; then half open: one request is sent
/// and its outcome decides whether the endpoint returns or stays ejected for longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ejection {
    place: EjectionState,
    failures_in_row: u32,
    /// Time of the last failure.
    failed_last: WorkerTime,
    /// Past ejections not yet forgotten; the next one lasts this many base times longer than the first.
    times: u32,
    /// Number of ejections; separates outcomes of requests sent before an ejection from those sent after it.
    epoch: u32,
}

/// Effect of an outcome on the ejection of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EjectionChange {
    /// No change.
    None,
    /// The endpoint is ejected now.
    Ejected,
    /// The endpoint stays ejected, for longer than before.
    EjectedAgain,
    /// The endpoint is back in service.
    Returned,
}

/// Whether the percentage limit allows one more ejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// One more endpoint may be ejected.
    Free,
    /// The maximum number of endpoints is ejected.
    Full,
}

impl Ejection {
    /// Whether the endpoint is ejected or half open.
    pub fn is_out(&self) -> bool {
        matches!(self.place, EjectionState::Out { .. })
    }

    /// Whether a request may be sent to the endpoint at `now`.
    pub fn is_available(&self, now: WorkerTime) -> bool {
        match self.place {
            EjectionState::In { .. } => true,
            EjectionState::Out { until, is_probed } => now >= until && !is_probed,
        }
    }

    /// Returns when the endpoint may be tried again, while it is ejected.
    pub fn until(&self) -> Option<WorkerTime> {
        match self.place {
            EjectionState::In { .. } => None,
            EjectionState::Out { until, .. } => Some(until),
        }
    }

    /// Returns the number of ejections; an outcome counts only in the epoch in which its request was sent.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Records that a request is sent; returns whether it is the probe that decides a half-open endpoint.
    pub fn on_select(&mut self, now: WorkerTime) -> bool {
        match &mut self.place {
            EjectionState::In { .. } => false,
            EjectionState::Out { until, is_probed } => {
                let is_probe = now >= *until && !*is_probed;
                *is_probed |= is_probe;
                is_probe
            }
        }
    }

    /// Records that the probe ended without an outcome; the next request becomes the probe.
    pub fn on_probe_lost(&mut self) {
        if let EjectionState::Out { is_probed, .. } = &mut self.place {
            *is_probed = false;
        }
    }

    /// Records a success of a request sent in `epoch`.
    pub fn on_success(&mut self, epoch: u32, now: WorkerTime, config: &EjectionConfig) -> EjectionChange {
        if epoch != self.epoch {
            return EjectionChange::None;
        }
        if (now - self.failed_last).as_duration() >= config.memory {
            self.failures_in_row = 0;
        }
        if !self.is_out() {
            return EjectionChange::None;
        }
        self.end_ejection(now);
        EjectionChange::Returned
    }

    /// Records a failure of a request sent in `epoch`.
    pub fn on_failure(
        &mut self,
        epoch: u32,
        now: WorkerTime,
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
                self.decay_ejections(now - since, config);
                self.begin_ejection(now, config);
                EjectionChange::Ejected
            }
            EjectionState::Out { until, .. } if now >= until => {
                self.begin_ejection(now, config);
                EjectionChange::EjectedAgain
            }
            // Sent while all endpoints were ejected: changes nothing before the time is over.
            EjectionState::Out { .. } => EjectionChange::None,
        }
    }

    /// Returns the endpoint to service before its time, to keep the percentage limit.
    pub fn end_ejection(&mut self, now: WorkerTime) {
        self.place = EjectionState::In { since: now };
        self.failures_in_row = 0;
    }

    fn begin_ejection(&mut self, now: WorkerTime, config: &EjectionConfig) {
        self.times = self.times.saturating_add(1);
        self.epoch = self.epoch.wrapping_add(1);
        self.failures_in_row = 0;
        let lasts = config.base_time.saturating_mul(self.times).min(config.time_max);
        self.place = EjectionState::Out { until: now + Millis::of(lasts), is_probed: false };
    }

    /// Forgets one past ejection for each base time in service.
    fn decay_ejections(&mut self, was_in: Millis, config: &EjectionConfig) {
        let base = Millis::of(config.base_time).max(Millis::new(1));
        let forgotten = u32::try_from(was_in.get() / base.get()).unwrap_or(u32::MAX);
        self.times = self.times.saturating_sub(forgotten);
    }
}

/// Returns whether one more of `total` endpoints may be ejected when `out` are.
///
/// At least one endpoint always remains, whatever the percentage.
pub fn room(out: usize, total: usize, config: &EjectionConfig) -> Room {
    if out < ejected_max(total, config) { Room::Free } else { Room::Full }
}

/// Returns the maximum number of `total` endpoints that may be ejected at once.
pub fn ejected_max(total: usize, config: &EjectionConfig) -> usize {
    let share = total.saturating_mul(usize::from(config.percent_max.min(100))) / 100;
    share.min(total.saturating_sub(1))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EjectionState {
    In { since: WorkerTime },
    Out { until: WorkerTime, is_probed: bool },
}

impl Default for EjectionState {
    fn default() -> Self {
        Self::In { since: WorkerTime::ZERO }
    }
}

//! Abuse budget of an HTTP/2 peer: frames are charged before they are processed.

use eddy_ids::WorkerTime;

use super::frame::{self, FLAG_END_STREAM, FLAG_PADDED, FrameHead};

/// Charges the frames of a connection to its budget, from the preface on.
///
/// Each frame that causes work without being a request or its body has a price; the budget refills with time and with
/// complete responses. One budget thus limits all ways to keep a server busy, including those not known yet.
///
/// # Cost
/// A few comparisons per frame; no allocation.
#[derive(Debug)]
pub(super) struct AbuseMeter {
    /// Amount spent per kind since the budget was last full, to name the main cause when it is used up.
    spent: [u32; ABUSE_LABELS.len()],
    left: u32,
    budget: u32,
    refilled: WorkerTime,
}

/// Reason why the budget was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abuse {
    /// Requests that were cancelled (CVE-2023-44487), malformed so that eddy resets them (CVE-2025-8671), or over the
    /// limit.
    Resets,
    /// `CONTINUATION` frames (CVE-2024-27316 and others).
    Continuations,
    /// `SETTINGS` frames (CVE-2019-9515).
    Settings,
    /// `PING` frames (CVE-2019-9512).
    Pings,
    /// `PRIORITY` frames (CVE-2019-9513).
    Priorities,
    /// `WINDOW_UPDATE` frames.
    WindowUpdates,
    /// DATA frames without data (CVE-2019-9518).
    EmptyData,
    /// Heads many times larger than their received bytes, or beyond the limits (CVE-2026-49975 and others).
    Heads,
    /// Frames of other types.
    OtherFrames,
}

/// Metric label of each [`Abuse`].
pub const ABUSE_LABELS: [&str; 9] = [
    "resets",
    "continuations",
    "settings",
    "pings",
    "priorities",
    "window_updates",
    "empty_data",
    "heads",
    "others",
];

/// Fraction of the budget that is refilled per second: a fifth.
const REFILL_DIVISOR: u32 = 5;
/// Refill for a complete response.
const REFILL_PER_RESPONSE: u32 = 4;
/// Written bytes that refill as much as a `WINDOW_UPDATE` costs.
const REFILL_BYTES: usize = 1024;

/// Decoded size of a header block that is free, whatever its received size: the size of the dynamic table, whose
/// entries need not be referenced twice in one block.
const HEAD_BYTES_FREE: usize = 4 * 1024;
/// Decoded bytes that are free per received byte of a header block: Huffman codes, indexed names and the 32 bytes that
/// each field counts in addition to its text stay below it.
const HEAD_EXPANSION_FREE: usize = 4;
/// Price of each whole KiB beyond the free size.
const HEAD_KIB_PRICE: u32 = 5;
/// Price of a request head that exceeds the limits and gets 431.
const HEAD_REFUSED_COST: u32 = 10;

/// Minimum length of a `CONTINUATION` frame that does not count as part of a flood of small ones.
const FULL_BYTES: usize = 1024;

impl Abuse {
    const ALL: [Self; ABUSE_LABELS.len()] = [
        Self::Resets,
        Self::Continuations,
        Self::Settings,
        Self::Pings,
        Self::Priorities,
        Self::WindowUpdates,
        Self::EmptyData,
        Self::Heads,
        Self::OtherFrames,
    ];

    /// Returns the metric label.
    #[expect(clippy::indexing_slicing, reason = "there is a label for each kind")]
    pub fn label(self) -> &'static str {
        ABUSE_LABELS[self as usize]
    }
}

impl AbuseMeter {
    /// Creates a meter with a full budget.
    pub(super) fn new(budget: u32, now: WorkerTime) -> Self {
        Self { spent: [0; ABUSE_LABELS.len()], left: budget, budget, refilled: now }
    }

    /// Charges a frame that is about to be processed; `first` is the first byte of its payload.
    ///
    /// # Errors
    /// The reason why the budget was used up; neither this frame nor any after it may be processed.
    pub(super) fn frame(&mut self, head: &FrameHead, first: Option<u8>) -> Result<(), Abuse> {
        let padding = if head.has(FLAG_PADDED) { 1 + usize::from(first.unwrap_or_default()) } else { 0 };
        let (price, abuse) = match head.kind {
            frame::DATA if head.length <= padding && !head.has(FLAG_END_STREAM) => (5, Abuse::EmptyData),
            frame::DATA => (0, Abuse::EmptyData),
            frame::HEADERS => (1, Abuse::Resets),
            frame::PRIORITY => (1, Abuse::Priorities),
            frame::RST_STREAM => (5, Abuse::Resets),
            frame::SETTINGS => (10, Abuse::Settings),
            frame::PING => (5, Abuse::Pings),
            frame::WINDOW_UPDATE => (1, Abuse::WindowUpdates),
            // The number of full frames is limited by the limits of a head.
            frame::CONTINUATION => (if head.length < FULL_BYTES { 25 } else { 5 }, Abuse::Continuations),
            _ => (5, Abuse::OtherFrames),
        };
        self.spend(price, abuse)
    }

    /// Charges a stream that this side had to reset.
    pub(super) fn reset(&mut self) -> Result<(), Abuse> {
        self.spend(5, Abuse::Resets)
    }

    /// Returns the decoded size up to which the budget pays for a header block of `received` bytes.
    pub(super) fn head_bytes_max(&self, received: usize) -> usize {
        let paid = usize::try_from((self.left / HEAD_KIB_PRICE).saturating_add(1)).unwrap_or(usize::MAX);
        received
            .saturating_mul(HEAD_EXPANSION_FREE)
            .saturating_add(HEAD_BYTES_FREE)
            .saturating_add(paid.saturating_mul(1024))
    }

    /// Charges a header block of `received` bytes that decoded to `decoded` bytes, including 32 per field. Returns the
    /// excess that can only be due to repeated references to the dynamic table.
    ///
    /// The excess of a well-behaved encoder is zero: a cookie sent by index with each request is in the table once.
    pub(super) fn head(&mut self, received: usize, decoded: usize) -> Result<usize, Abuse> {
        let free = received.saturating_mul(HEAD_EXPANSION_FREE).saturating_add(HEAD_BYTES_FREE);
        let excess = decoded.saturating_sub(free);
        let units = u32::try_from(excess / 1024).unwrap_or(u32::MAX);
        self.spend(units.saturating_mul(HEAD_KIB_PRICE), Abuse::Heads)?;
        Ok(excess)
    }

    /// Charges a request head that exceeds the limits.
    pub(super) fn head_refused(&mut self) -> Result<(), Abuse> {
        self.spend(HEAD_REFUSED_COST, Abuse::Heads)
    }

    /// Refills for a complete response, sent or received.
    pub(super) fn answered(&mut self) {
        self.earn(REFILL_PER_RESPONSE);
    }

    /// Refills for written bytes.
    pub(super) fn written(&mut self, bytes: usize) {
        self.earn(u32::try_from(bytes / REFILL_BYTES).unwrap_or(u32::MAX));
    }

    fn earn(&mut self, units: u32) {
        self.left = self.left.saturating_add(units).min(self.budget);
    }

    /// Refills for elapsed time.
    pub(super) fn refill(&mut self, now: WorkerTime) {
        let passed = now - self.refilled;
        let earned = passed.get().saturating_mul(u64::from(self.budget / REFILL_DIVISOR)) / 1000;
        if earned > 0 {
            self.refilled = now;
            self.earn(u32::try_from(earned).unwrap_or(u32::MAX));
        }
        if self.left == self.budget {
            self.spent = [0; ABUSE_LABELS.len()];
        }
    }

    fn spend(&mut self, price: u32, abuse: Abuse) -> Result<(), Abuse> {
        if let Some(spent) = self.spent.get_mut(abuse as usize) {
            *spent = spent.saturating_add(price);
        }
        match self.left.checked_sub(price) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.dearest().unwrap_or(abuse)),
        }
    }

    /// Returns the kind on which most of the budget was spent.
    fn dearest(&self) -> Option<Abuse> {
        Abuse::ALL.into_iter().max_by_key(|abuse| self.spent.get(*abuse as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: u32 = 1000;

    fn frame(kind: u8, flags: u8, length: usize) -> FrameHead {
        FrameHead { length, kind, flags, stream: 1 }
    }

    /// Returns the number of these frames that are accepted at once.
    fn taken(frame: &FrameHead, first: u8) -> (usize, Abuse) {
        let mut meter = AbuseMeter::new(BUDGET, WorkerTime::ZERO);
        for count in 0..100_000 {
            if let Err(abuse) = meter.frame(frame, Some(first)) {
                return (count, abuse);
            }
        }
        (usize::MAX, Abuse::OtherFrames)
    }

    #[test]
    fn every_flood_is_ended_and_named() {
        let floods = [
            (frame(frame::RST_STREAM, 0, 4), 200, Abuse::Resets),
            (frame(frame::CONTINUATION, 0, 0), 40, Abuse::Continuations),
            (frame(frame::SETTINGS, 0, 0), 100, Abuse::Settings),
            (frame(frame::PING, 0, 8), 200, Abuse::Pings),
            (frame(frame::PRIORITY, 0, 5), 1000, Abuse::Priorities),
            (frame(frame::WINDOW_UPDATE, 0, 4), 1000, Abuse::WindowUpdates),
            (frame(frame::DATA, 0, 0), 200, Abuse::EmptyData),
            (frame(frame::DATA, FLAG_PADDED, 4), 200, Abuse::EmptyData),
            (frame(0xbb, 0, 6), 200, Abuse::OtherFrames),
            (frame(frame::HEADERS, FLAG_END_STREAM, 1), 1000, Abuse::Resets),
        ];
        for (frame, count, abuse) in floods {
            assert_eq!(taken(&frame, 3), (count, abuse), "{frame:?}");
        }
    }

    #[test]
    fn data_and_its_end_cost_no_budget() {
        let free = [
            frame(frame::DATA, 0, 1),
            frame(frame::DATA, FLAG_END_STREAM, 0),
            frame(frame::DATA, FLAG_PADDED, 5),
        ];
        for frame in free {
            assert_eq!(taken(&frame, 3).0, usize::MAX, "{frame:?}");
        }
    }

    #[test]
    fn time_and_responses_restore_the_budget() {
        let mut meter = AbuseMeter::new(BUDGET, WorkerTime::ZERO);
        let ping = frame(frame::PING, 0, 8);
        (0..200).for_each(|_| meter.frame(&ping, None).unwrap());
        meter.frame(&ping, None).unwrap_err();
        meter.refill(WorkerTime::from_millis(1_000));
        assert_eq!(meter.left, BUDGET / REFILL_DIVISOR);
        (0..1_000).for_each(|_| meter.answered());
        assert_eq!(meter.left, BUDGET, "never more than it began with");
        for _ in 0..10_000 {
            meter.frame(&frame(frame::WINDOW_UPDATE, 0, 4), None).unwrap();
            meter.written(16 * 1024);
        }
    }

    #[test]
    fn small_ticks_of_the_clock_add_up() {
        let mut meter = AbuseMeter::new(BUDGET, WorkerTime::ZERO);
        let ping = frame(frame::PING, 0, 8);
        (0..200).for_each(|_| meter.frame(&ping, None).unwrap());
        (1..=1_000).for_each(|now| meter.refill(WorkerTime::from_millis(now)));
        assert_eq!(meter.left, BUDGET / REFILL_DIVISOR);
    }
}

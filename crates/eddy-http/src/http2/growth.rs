//! Flow-control windows that grow with the bandwidth-delay product.

use std::collections::BTreeMap;

use eddy_ids::{Millis, WorkerTime};

use super::frame::{self, write_frame};
use super::limits::Http2Limits;
use super::stream::Http2StreamState;

/// Payload of the pings that end rounds.
pub(super) const ROUND: [u8; 8] = *b"eddy.bdp";

/// Measures the path from the peer in rounds, each from a ping to its acknowledgement.
///
/// A stream of which a good part of the window is read in one round is limited by the window, neither by the path nor by
/// its reader. Its window grows fourfold, as long as the last time made the stream faster: the windows of a path that is
/// full only take memory.
///
/// # Cost
/// A ping of 17 bytes per round trip, while a stream whose window may grow receives more than a quarter of it.
///
/// # Source
/// The bandwidth-delay product estimator of gRPC, judged per stream.
#[derive(Debug, Default)]
pub(super) struct WindowGrowth {
    /// Start of the present round.
    began: Option<WorkerTime>,
    /// Time before which no other round begins.
    next: WorkerTime,
    /// Bytes that the windows of the present streams have grown by.
    pub(super) grown: u32,
}

impl WindowGrowth {
    /// Whether a round is going on.
    pub(super) fn is_measuring(&self) -> bool {
        self.began.is_some()
    }

    /// Whether a round may begin now.
    ///
    /// # Cost
    /// One comparison where windows are fixed.
    pub(super) fn may_begin(&self, limits: &Http2Limits, now: WorkerTime) -> bool {
        limits.stream_window < limits.stream_window_max
            && self.began.is_none()
            && self.grown < limits.growth_max
            && now >= self.next
    }

    /// Begins a round.
    pub(super) fn begin(
        &mut self,
        streams: &mut BTreeMap<u32, Http2StreamState>,
        now: WorkerTime,
        out: &mut Vec<u8>,
    ) {
        self.began = Some(now);
        streams.values_mut().for_each(Http2StreamState::begin_round);
        write_frame(out, frame::PING, 0, 0, &ROUND);
    }

    /// Ends a round: grows the windows that limited their streams; returns by how much, all together.
    pub(super) fn end(
        &mut self,
        streams: &mut BTreeMap<u32, Http2StreamState>,
        limits: &Http2Limits,
        now: WorkerTime,
        out: &mut Vec<u8>,
    ) -> u32 {
        let Some(began) = self.began.take() else { return 0 };
        let duration = now - began;
        if duration < ROUND_MIN {
            self.next = now + SHORT_PATH_PAUSE;
        }
        let before = self.grown;
        for (id, stream) in streams {
            if stream.end_round(duration) {
                let left = limits.growth_max.saturating_sub(self.grown);
                let room = limits.stream_window_max.saturating_sub(stream.window);
                let more = stream.window.saturating_mul(GROWTH - 1).min(room).min(left);
                self.grown += more;
                stream.grow(more, *id, out);
            }
        }
        self.grown - before
    }

    /// Returns by how much the window of the connection has grown for a stream that has ended; it no longer counts.
    pub(super) fn shrink(&mut self, stream_window: u32, limits: &Http2Limits) -> u32 {
        let grown = stream_window.saturating_sub(limits.stream_window);
        self.grown = self.grown.saturating_sub(grown);
        grown
    }
}

impl Http2StreamState {
    /// Whether the window may grow, and enough of it was received for a round.
    pub(super) fn may_begin_round(&self, limits: &Http2Limits) -> bool {
        self.window < limits.stream_window_max && self.round_received >= self.window / ROUND_START_FRACTION
    }

    fn begin_round(&mut self) {
        self.round_received = 0;
        self.round_read = 0;
    }

    /// Ends a round of this duration; returns whether the window limited the stream, and is to grow.
    fn end_round(&mut self, duration: Millis) -> bool {
        let is_open = !self.is_recv_ended && self.reset.is_none();
        let is_limit = self.round_read >= self.window / WINDOW_LIMITED_FRACTION;
        let rate = u64::from(self.round_received) / duration.get().max(1);
        let is_faster = rate > self.rate_max + self.rate_max / RATE_GAIN_MIN;
        self.rate_max = self.rate_max.max(rate);
        self.begin_round();
        is_open && is_limit && is_faster && duration >= ROUND_MIN
    }
}

/// A round begins when a stream has received one part in so many of its window: small bodies are not measured.
const ROUND_START_FRACTION: u32 = 4;
/// A stream is limited by its window when one part in so many of it is read in a round. A sender that waits for credit
/// has sent all of its window, of which a quarter had come before the round began.
const WINDOW_LIMITED_FRACTION: u32 = 3;
/// Factor by which a window grows. Two round trips pass until its effect is measured.
const GROWTH: u32 = 4;
/// Shortest round after which a window grows: on shorter paths 64 KiB carry 250 Mbit/s and more, and
/// larger windows would mostly hold what slow clients have not read.
const ROUND_MIN: Millis = Millis::new(2);
/// Pause after a round that was shorter.
const SHORT_PATH_PAUSE: Millis = Millis::new(100);
/// A round is faster when its rate is higher by one part in so many.
const RATE_GAIN_MIN: u64 = 8;

//! Counters and latencies of one load window.

use std::collections::BTreeMap;
use std::time::Duration;

use super::response::Mismatch;

/// Counts of one window.
#[derive(Clone, Debug, Default)]
pub struct LoadStats {
    /// Responses that were as expected, including the last ones after the end of the window.
    pub requests: u64,
    /// Those of them inside the window.
    pub requests_in_time: u64,
    /// Length of the window.
    pub window: Duration,
    /// Time from when each request was due to when its response was complete, ascending after [`LoadStats::sort`].
    pub latencies: Vec<Duration>,
    /// Time from when each request was due to when it was sent: lateness of the generator and waiting for a free
    /// connection.
    pub delays: Vec<Duration>,
    /// Connections that the target closed between requests.
    pub reconnects: u64,
    /// Errors and how often each occurred.
    pub errors: BTreeMap<String, u64>,
}

impl LoadStats {
    /// Returns the responses per second inside the window.
    pub fn rate(&self) -> f64 {
        self.requests_in_time as f64 / self.window.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns the latency that a share `quantile` of the requests did not exceed.
    pub fn latency(&self, quantile: f64) -> Option<Duration> {
        quantile_of(&self.latencies, quantile)
    }

    /// Returns the same quantile of the delays before sending.
    pub fn delay(&self, quantile: f64) -> Option<Duration> {
        quantile_of(&self.delays, quantile)
    }

    /// Returns the number of errors.
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Returns the errors in one line.
    pub fn error_text(&self) -> String {
        let texts: Vec<String> =
            self.errors.iter().map(|(text, count)| format!("{count} × {text}")).collect();
        texts.join(", ")
    }

    /// Counts a response that came at `now` to a request that was due at `due`.
    pub fn add_response(&mut self, now: Duration, due: Duration) {
        self.requests += 1;
        self.requests_in_time += u64::from(now <= self.window);
        self.latencies.push(now.saturating_sub(due));
    }

    /// Counts a response that was not as expected.
    pub fn add_mismatch(&mut self, mismatch: Mismatch) {
        self.add_error(mismatch.to_string());
    }

    /// Counts any other error.
    pub fn add_error(&mut self, text: String) {
        *self.errors.entry(text).or_default() += 1;
    }

    /// Sorts the latencies and delays.
    pub fn sort(&mut self) {
        self.latencies.sort_unstable();
        self.delays.sort_unstable();
    }
}

/// Returns the value that a share `quantile` of the sorted `values` does not exceed (nearest rank).
fn quantile_of(values: &[Duration], quantile: f64) -> Option<Duration> {
    let wanted = (quantile.clamp(0.0, 1.0) * values.len() as f64).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the length")]
    let rank = wanted as usize;
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u64, quantile: f64, expected: Option<u64>) {
        let values: Vec<Duration> = (1..=count).map(Duration::from_millis).collect();
        assert_eq!(quantile_of(&values, quantile), expected.map(Duration::from_millis), "{count} {quantile}");
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        check(0, 0.5, None);
        check(1, 0.5, Some(1));
        check(100, 0.5, Some(50));
        check(100, 0.99, Some(99));
        check(1000, 0.99, Some(990));
        check(3, 1.0, Some(3));
        check(3, 0.0, Some(1));
    }

    #[test]
    fn the_rate_counts_requests_within_the_measured_time() {
        let tally = LoadStats {
            requests: 120,
            requests_in_time: 100,
            window: Duration::from_millis(500),
            ..LoadStats::default()
        };
        assert!((tally.rate() - 200.0).abs() < 1e-9);
    }

    #[test]
    fn errors_are_summed_and_named() {
        let mut tally = LoadStats::default();
        tally.add_mismatch(Mismatch::Status(502));
        tally.add_mismatch(Mismatch::Status(502));
        tally.add_error("stalled".to_owned());
        assert_eq!(tally.error_count(), 3);
        assert_eq!(tally.error_text(), "1 × stalled, 2 × status 502");
    }
}

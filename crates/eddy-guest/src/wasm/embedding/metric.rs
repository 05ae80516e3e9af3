//! Metrics defined by modules.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{HostApi as EddyHost, Metric, MetricError, MetricKind};
use proxy_wasm_host::MetricId;
use proxy_wasm_host::abi::{HostResult, MetricType, Status};

use crate::lock::lock;

/// Metrics of a library, by number.
///
/// The lock is held only to copy an entry.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    defined: Mutex<Vec<Defined>>,
}

#[derive(Clone, Debug)]
struct Defined {
    filter: u32,
    name: String,
    kind: MetricKind,
    metric: Metric,
}

impl Metrics {
    /// Defines a metric of a filter, or finds the existing one.
    pub(super) fn define(
        &self,
        host: &dyn EddyHost,
        filter: u32,
        kind: MetricType,
        name: &[u8],
    ) -> HostResult<MetricId> {
        let name = plain(name);
        let kind = match kind {
            MetricType::Counter => MetricKind::Counter,
            MetricType::Gauge => MetricKind::Gauge,
            MetricType::Histogram => MetricKind::Histogram,
        };
        let mut defined = lock(&self.defined);
        let known = defined.iter().position(|known| known.filter == filter && known.name == name);
        let index = match known {
            Some(index) if defined.get(index).is_some_and(|known| known.kind == kind) => index,
            Some(_) => return Err(Status::BadArgument),
            None => {
                let bounds: &[u64] = if kind == MetricKind::Histogram { &BOUNDS } else { &[] };
                let metric =
                    host.metrics().define(filter, kind, &name, bounds).map_err(|error| match error {
                        MetricError::BadName
                        | MetricError::BadLabel
                        | MetricError::BadBounds
                        | MetricError::Differs => Status::BadArgument,
                        MetricError::Full => Status::InternalFailure,
                    })?;
                defined.push(Defined { filter, name, kind, metric });
                defined.len() - 1
            }
        };
        Ok(MetricId(u32::try_from(index).map_err(|_| Status::InternalFailure)?))
    }

    /// Defines the counter of a filter's failed instances, so that it is shown before the first failure.
    pub(crate) fn show_failures(&self, host: &dyn EddyHost, filter: u32) {
        // If the filter has the maximum number of metrics, failures are not counted.
        let _ = self.define(host, filter, MetricType::Counter, FAILURES);
    }

    /// Counts an instance that failed while this filter was entered.
    pub(crate) fn count_failure(&self, host: &dyn EddyHost, lane: usize, filter: u32) {
        let defined = self.define(host, filter, MetricType::Counter, FAILURES);
        let _ = defined.and_then(|metric| self.increment(lane, metric, 1));
    }

    fn get(&self, id: MetricId) -> HostResult<(MetricKind, Metric)> {
        let defined = lock(&self.defined);
        let index = usize::try_from(id.0).map_err(|_| Status::NotFound)?;
        defined.get(index).map(|defined| (defined.kind, defined.metric)).ok_or(Status::NotFound)
    }

    /// Sets a gauge, adds to a counter, or records a value in a histogram.
    pub(super) fn record(&self, lane: usize, id: MetricId, value: u64) -> HostResult {
        let (kind, metric) = self.get(id)?;
        match kind {
            MetricKind::Counter => metric.add(lane, value),
            MetricKind::Gauge => metric.add(lane, value.wrapping_sub(sum(&metric))),
            MetricKind::Histogram => {
                let place = BOUNDS.iter().position(|bound| value <= *bound).unwrap_or(BOUNDS.len());
                add_at(&metric, lane, place, 1);
                add_at(&metric, lane, BOUNDS.len() + 1, value);
            }
        }
        Ok(())
    }

    pub(super) fn increment(&self, lane: usize, id: MetricId, delta: i64) -> HostResult {
        let (kind, metric) = self.get(id)?;
        let is_sane = match kind {
            MetricKind::Counter => delta >= 0,
            MetricKind::Gauge => true,
            MetricKind::Histogram => false,
        };
        if !is_sane {
            return Err(Status::BadArgument);
        }
        metric.add(lane, delta.cast_unsigned());
        Ok(())
    }

    pub(super) fn value(&self, id: MetricId) -> HostResult<u64> {
        let (kind, metric) = self.get(id)?;
        if kind == MetricKind::Histogram { Err(Status::BadArgument) } else { Ok(sum(&metric)) }
    }
}

fn add_at(metric: &Metric, lane: usize, cell: usize, amount: u64) {
    if let Some(cell) = metric.cells.get(lane * metric.stride + cell) {
        cell.fetch_add(amount, Relaxed);
    }
}

/// Returns the value of a counter or gauge over all lanes.
fn sum(metric: &Metric) -> u64 {
    let cells = metric.cells.iter().step_by(metric.stride.max(1));
    cells.fold(0, |sum, cell| sum.wrapping_add(cell.load(Relaxed)))
}

/// Converts a name to a valid metric name: characters other than letters, digits and `_` become `_`.
fn plain(name: &[u8]) -> String {
    let plain = |byte: &u8| if byte.is_ascii_alphanumeric() { char::from(*byte) } else { '_' };
    let mut text: String = name.iter().take(NAME_BYTES_MAX).map(plain).collect();
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        text.insert(0, '_');
        text.truncate(NAME_BYTES_MAX);
    }
    text
}

/// Counter of failed instances.
const FAILURES: &[u8] = b"instance_failures_total";
const NAME_BYTES_MAX: usize = 64;
/// Histogram bounds; modules cannot specify them.
const BOUNDS: [u64; 20] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 10_000_000,
];

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn metric_names_are_sanitized() {
        for (name, expected) in [("hits", "hits"), ("a.b-c;d=e", "a_b_c_d_e"), ("2xx", "_2xx"), ("ä", "__")]
        {
            assert_eq!(plain(name.as_bytes()), expected);
        }
        assert_eq!(plain(&[b'9'; 100]).len(), 64);
    }
}

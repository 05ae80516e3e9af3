//! Metrics defined by modules.

use std::sync::Mutex;

use eddy_filter::{HostApi as EddyHost, METRIC_NAME_BYTES_MAX, Metric, MetricError, MetricKind};
use proxy_wasm_host::MetricId;
use proxy_wasm_host::abi::{HostResult, MetricType, Status};

use crate::lock::lock;
use crate::metric::{BOUNDS, plain_name};

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
            MetricKind::Gauge => metric.add(lane, value.wrapping_sub(metric.sum())),
            MetricKind::Histogram => metric.record(lane, &BOUNDS, value),
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
        if kind == MetricKind::Histogram { Err(Status::BadArgument) } else { Ok(metric.sum()) }
    }
}

/// Returns the valid metric name for a name, cut to the maximum length.
fn plain(name: &[u8]) -> String {
    let mut text = plain_name(name.get(..METRIC_NAME_BYTES_MAX).unwrap_or(name));
    text.truncate(METRIC_NAME_BYTES_MAX);
    text
}

/// Counter of failed instances.
const FAILURES: &[u8] = b"instance_failures_total";

#[cfg(test)]
mod tests {
    use super::{METRIC_NAME_BYTES_MAX, plain};

    #[test]
    fn long_metric_names_are_cut() {
        assert_eq!(plain(b"a.b"), "a_b");
        assert_eq!(plain(&[b'9'; 2000]).len(), METRIC_NAME_BYTES_MAX);
    }
}

//! Metrics of a filter, with labels.
//!
//! eddy's filter metrics have no labels of their own: the values of a module's labels become part of the name, as in
//! the flat names of Envoy's statistics (`requests` with `method=GET` becomes `requests_method_GET`).

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError, RwLock};

use eddy_filter::{Metric, MetricKind};

use super::abi::MetricsResult;
use super::host::host;
use crate::lock::lock;

/// Metrics of a filter.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    defined: RwLock<Vec<DefinedMetric>>,
    is_frozen: AtomicBool,
}

#[derive(Debug)]
struct DefinedMetric {
    kind: MetricKind,
    name: String,
    labels: Vec<String>,
    /// Cells of the metric without labels.
    plain: Option<Metric>,
    /// Cells by label values, with a NUL behind each.
    labelled: Mutex<HashMap<Vec<u8>, Metric>>,
}

/// Change of a metric.
#[derive(Clone, Copy, Debug)]
pub(super) enum MetricChange {
    /// Adds to a counter.
    Count(u64),
    /// Adds to a gauge.
    Raise(u64),
    /// Subtracts from a gauge.
    Lower(u64),
    /// Sets a gauge.
    Set(u64),
    /// Records a value in a histogram.
    Record(u64),
}

impl MetricChange {
    fn kind(self) -> MetricKind {
        match self {
            Self::Count(_) => MetricKind::Counter,
            Self::Raise(_) | Self::Lower(_) | Self::Set(_) => MetricKind::Gauge,
            Self::Record(_) => MetricKind::Histogram,
        }
    }
}

impl Metrics {
    /// Defines a metric of the filter with this number at the host; returns the module's number of it.
    ///
    /// # Errors
    /// [`MetricsResult::Frozen`] once the configuration is created; [`MetricsResult::InvalidLabels`] if the host refuses
    /// the metric.
    pub(super) fn define(
        &self,
        filter: u32,
        kind: MetricKind,
        name: &[u8],
        labels: Vec<String>,
    ) -> Result<usize, MetricsResult> {
        if self.is_frozen.load(Relaxed) {
            return Err(MetricsResult::Frozen);
        }
        let name = plain(name);
        let cells = match labels.is_empty() {
            true => Some(cells_of(filter, kind, &name).ok_or(MetricsResult::InvalidLabels)?),
            false => None,
        };
        let mut defined = self.defined.write().unwrap_or_else(PoisonError::into_inner);
        defined.push(DefinedMetric { kind, name, labels, plain: cells, labelled: Mutex::default() });
        Ok(defined.len())
    }

    /// Ends the definition of metrics.
    pub(super) fn freeze(&self) {
        self.is_frozen.store(true, Relaxed);
    }

    /// Changes a metric in the lane of a worker.
    pub(super) fn change(
        &self,
        filter: u32,
        lane: usize,
        number: usize,
        values: &[&[u8]],
        change: MetricChange,
    ) -> MetricsResult {
        let defined = self.defined.read().unwrap_or_else(PoisonError::into_inner);
        let Some(metric) = number.checked_sub(1).and_then(|index| defined.get(index)) else {
            return MetricsResult::NotFound;
        };
        if metric.kind != change.kind() {
            return MetricsResult::NotFound;
        }
        if metric.labels.len() != values.len() {
            return MetricsResult::InvalidLabels;
        }
        let Some(cells) = metric.cells(filter, values) else { return MetricsResult::InvalidLabels };
        apply(&cells, lane, change);
        MetricsResult::Success
    }
}

impl DefinedMetric {
    /// Returns the cells for these label values. New values beyond the filter's maximum of metrics have none.
    fn cells(&self, filter: u32, values: &[&[u8]]) -> Option<Metric> {
        if self.plain.is_some() {
            return self.plain;
        }
        let mut key = Vec::new();
        for value in values {
            key.extend_from_slice(value);
            key.push(0);
        }
        let mut labelled = lock(&self.labelled);
        if let Some(known) = labelled.get(&key) {
            return Some(*known);
        }
        let mut name = self.name.clone();
        for (label, value) in self.labels.iter().zip(values) {
            name = format!("{name}_{label}_{}", String::from_utf8_lossy(value));
        }
        let metric = cells_of(filter, self.kind, &plain(name.as_bytes()))?;
        labelled.insert(key, metric);
        Some(metric)
    }
}

fn cells_of(filter: u32, kind: MetricKind, name: &str) -> Option<Metric> {
    let bounds: &[u64] = if kind == MetricKind::Histogram { &BOUNDS } else { &[] };
    host()?.metrics().define(filter, kind, name, bounds).ok()
}

fn apply(metric: &Metric, lane: usize, change: MetricChange) {
    match change {
        MetricChange::Count(value) | MetricChange::Raise(value) => metric.add(lane, value),
        MetricChange::Lower(value) => metric.add(lane, value.wrapping_neg()),
        MetricChange::Set(value) => metric.add(lane, value.wrapping_sub(sum(metric))),
        MetricChange::Record(value) => {
            let place = BOUNDS.iter().position(|bound| value <= *bound).unwrap_or(BOUNDS.len());
            for (cell, amount) in [(place, 1), (BOUNDS.len() + 1, value)] {
                if let Some(cell) = metric.cells.get(lane * metric.stride + cell) {
                    cell.fetch_add(amount, Relaxed);
                }
            }
        }
    }
}

/// Returns the value of a gauge over all lanes.
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
        for (name, expected) in [("hits", "hits"), ("a.b-c_GET /x", "a_b_c_GET__x"), ("2xx", "_2xx")] {
            assert_eq!(plain(name.as_bytes()), expected);
        }
        assert_eq!(plain(&[b'9'; 100]).len(), 64);
    }
}

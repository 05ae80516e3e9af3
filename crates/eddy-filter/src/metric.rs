//! Metrics defined by filters: memory cells that filters update without a call.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

/// Metrics of all filters of the process.
///
/// The lock is taken when a metric is defined or shown, never on the request path.
#[derive(Debug)]
pub struct MetricRegistry {
    lanes: usize,
    metrics: Mutex<Vec<Defined>>,
}

/// Kind of a metric; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum MetricKind {
    /// Counter: only grows.
    Counter = 0,
    /// Gauge: goes up and down; signed.
    Gauge = 1,
    /// Histogram: counts values by size.
    Histogram = 2,
}

/// Cells of a metric: lane `L` begins at `cells[L * stride]`; one lane per worker, and one for all other threads.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Cells of all lanes.
    pub cells: &'static [AtomicU64],
    /// Number of cells from one lane to the next.
    pub stride: usize,
}

/// Error of defining a metric.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MetricError {
    /// The name is invalid.
    #[error("a metric name has 1 to 1,024 letters, digits and _, and does not begin with a digit")]
    BadName,
    /// A label is invalid.
    #[error(
        "labels follow the name as `;KEY=VALUE`, at most 16 of 1,024 bytes each; a key has letters, digits and _, and is neither `filter` nor `le`"
    )]
    BadLabel,
    /// The bounds are not ascending, too many, or not allowed for this kind.
    #[error("a histogram has 1 to 32 ascending bounds; other metrics have none")]
    BadBounds,
    /// The filter has a metric of this name with another kind or other bounds.
    #[error("the filter has a metric of this name with another kind or other bounds")]
    Differs,
    /// The filter has the maximum number of metrics.
    #[error("a filter can define at most {METRICS_MAX} metrics, where each combination of labels counts")]
    Full,
}

/// Keys and values of the labels of a metric, ordered by key.
pub type MetricLabels = Arc<[(Box<str>, Box<str>)]>;

/// Metric with its sum over all lanes, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricView {
    /// The host's number of the filter.
    pub filter: u32,
    /// Name.
    pub name: Arc<str>,
    /// Labels.
    pub labels: MetricLabels,
    /// Kind.
    pub kind: MetricKind,
    /// Bounds of a histogram.
    pub bounds: Arc<[u64]>,
    /// One value; for a histogram the counts by bound, then the sum.
    pub values: Vec<u64>,
}

#[derive(Debug)]
struct Defined {
    filter: u32,
    name: Arc<str>,
    labels: MetricLabels,
    kind: MetricKind,
    bounds: Arc<[u64]>,
    metric: Metric,
}

impl MetricRegistry {
    /// Creates an empty registry, with one lane per worker and one more.
    pub fn new(workers: usize) -> Self {
        Self { lanes: workers + 1, metrics: Mutex::default() }
    }

    /// Defines a metric, or finds the existing one. The name may have labels: `NAME;KEY=VALUE;KEY=VALUE`.
    ///
    /// # Errors
    /// Any [`MetricError`].
    ///
    /// # Cost
    /// The cells live as long as the process: filters of dropped plans may still add to them.
    pub fn define(
        &self,
        filter: u32,
        kind: MetricKind,
        name: &str,
        bounds: &[u64],
    ) -> Result<Metric, MetricError> {
        let (name, labels) = parse_name(name)?;
        let has_bounds = kind == MetricKind::Histogram;
        let is_ascending = bounds.is_sorted_by(|a, b| a < b);
        if has_bounds == bounds.is_empty() || bounds.len() > BOUNDS_MAX || !is_ascending {
            return Err(MetricError::BadBounds);
        }
        let mut metrics = self.lock();
        for known in metrics.iter().filter(|known| known.filter == filter && *known.name == *name) {
            if known.kind != kind || *known.bounds != *bounds {
                return Err(MetricError::Differs);
            }
            if known.labels == labels {
                return Ok(known.metric);
            }
        }
        if metrics.iter().filter(|known| known.filter == filter).count() >= METRICS_MAX {
            return Err(MetricError::Full);
        }
        let width = if has_bounds { bounds.len() + 2 } else { 1 };
        let stride = width.next_multiple_of(CELLS_A_LINE);
        let cells: Vec<AtomicU64> = (0..stride * self.lanes).map(|_| AtomicU64::new(0)).collect();
        let metric = Metric { cells: cells.leak(), stride };
        metrics.push(Defined { filter, name: name.into(), labels, kind, bounds: bounds.into(), metric });
        Ok(metric)
    }

    /// Returns the current values of all metrics.
    pub fn views(&self) -> Vec<MetricView> {
        let view = |defined: &Defined| {
            let width = if defined.kind == MetricKind::Histogram { defined.bounds.len() + 2 } else { 1 };
            let sum = |cell: usize| {
                let cells = defined.metric.cells.iter().skip(cell).step_by(defined.metric.stride);
                cells.fold(0_u64, |sum, cell| sum.wrapping_add(cell.load(Relaxed)))
            };
            MetricView {
                filter: defined.filter,
                name: Arc::clone(&defined.name),
                labels: Arc::clone(&defined.labels),
                kind: defined.kind,
                bounds: Arc::clone(&defined.bounds),
                values: (0..width).map(sum).collect(),
            }
        };
        self.lock().iter().map(view).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Defined>> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MetricKind {
    /// Returns the kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Counter),
            1 => Some(Self::Gauge),
            2 => Some(Self::Histogram),
            _ => None,
        }
    }
}

impl Metric {
    /// Adds to a counter or gauge, in the lane of a worker.
    pub fn add(&self, lane: usize, amount: u64) {
        if let Some(cell) = self.cells.get(lane * self.stride) {
            cell.fetch_add(amount, Relaxed);
        }
    }

    /// Sets a gauge whose value is in lane 0 alone.
    pub fn set(&self, value: u64) {
        if let Some(cell) = self.cells.first() {
            cell.store(value, Relaxed);
        }
    }

    /// Records a value in a histogram with these bounds, in the lane of a worker.
    pub fn record(&self, lane: usize, bounds: &[u64], value: u64) {
        let place = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        for (cell, amount) in [(place, 1), (bounds.len() + 1, value)] {
            if let Some(cell) = self.cells.get(lane * self.stride + cell) {
                cell.fetch_add(amount, Relaxed);
            }
        }
    }

    /// Returns the value of a counter or gauge over all lanes.
    pub fn sum(&self) -> u64 {
        let cells = self.cells.iter().step_by(self.stride.max(1));
        cells.fold(0, |sum, cell| sum.wrapping_add(cell.load(Relaxed)))
    }
}

/// Splits a name from its labels.
fn parse_name(text: &str) -> Result<(&str, MetricLabels), MetricError> {
    let mut parts = text.split(';');
    let name = parts.next().filter(|name| is_name(name)).ok_or(MetricError::BadName)?;
    let mut labels = Vec::new();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or(MetricError::BadLabel)?;
        let is_free = !matches!(key, "filter" | "le") && !key.starts_with("__");
        let is_short = part.len() <= METRIC_NAME_BYTES_MAX && labels.len() < LABELS_MAX;
        if !is_name(key) || !is_free || !is_short || value.contains(char::is_control) {
            return Err(MetricError::BadLabel);
        }
        labels.push((Box::from(key), Box::from(value)));
    }
    labels.sort_unstable();
    let is_twice = labels.windows(2).any(|pair| matches!(pair, [one, other] if one.0 == other.0));
    if is_twice { Err(MetricError::BadLabel) } else { Ok((name, labels.into())) }
}

fn is_name(name: &str) -> bool {
    (1..=METRIC_NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Maximum number of metrics per filter; each combination of labels counts.
pub const METRICS_MAX: usize = 1024;
/// Maximum length of a metric's name.
pub const METRIC_NAME_BYTES_MAX: usize = 1024;
/// Maximum length of a metric's name with its labels.
pub const METRIC_TEXT_BYTES_MAX: usize = METRIC_NAME_BYTES_MAX * (1 + LABELS_MAX);

const LABELS_MAX: usize = 16;

const BOUNDS_MAX: usize = 32;
/// Cells per cache line: two workers never write to the same line.
const CELLS_A_LINE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_lanes_are_summed() {
        let registry = MetricRegistry::new(2);
        let metric = registry.define(7, MetricKind::Counter, "hits", &[]).unwrap();
        (0..3).for_each(|lane| metric.add(lane, 1 + lane as u64));
        let again = registry.define(7, MetricKind::Counter, "hits", &[]).unwrap();
        again.add(0, 10);
        registry.define(8, MetricKind::Counter, "hits", &[]).unwrap();
        let views = registry.views();
        assert_eq!(views[0].values, [16]);
        assert_eq!((views[1].filter, views[1].values.as_slice()), (8, [0].as_slice()));
        assert_eq!(metric.sum(), 16);
    }

    #[test]
    fn a_gauge_is_set_and_a_histogram_counts_values() {
        let registry = MetricRegistry::new(1);
        let gauge = registry.define(1, MetricKind::Gauge, "open", &[]).unwrap();
        gauge.add(0, 3);
        gauge.set(7);
        gauge.add(0, 1_u64.wrapping_neg());
        assert_eq!(gauge.sum(), 6);
        let sizes = registry.define(1, MetricKind::Histogram, "size", &[1, 5]).unwrap();
        [0, 1, 5, 6].into_iter().for_each(|value| sizes.record(1, &[1, 5], value));
        assert_eq!(registry.views()[1].values, [2, 1, 1, 12]);
    }

    #[test]
    fn labels_distinguish_metrics_of_a_name() {
        let registry = MetricRegistry::new(1);
        let define = |name: &str| registry.define(1, MetricKind::Counter, name, &[]).unwrap();
        define("hits;b=2;a=1 x=y").add(0, 3);
        define("hits;a=1 x=y;b=2").add(0, 4);
        define("hits").add(0, 1);
        define("hits;a=").add(0, 2);
        let views = registry.views();
        let shown: Vec<_> =
            views.iter().map(|view| (&*view.name, view.labels.len(), view.values[0])).collect();
        assert_eq!(shown, [("hits", 2, 7), ("hits", 0, 1), ("hits", 1, 2)]);
        assert_eq!(views[0].labels[0], ("a".into(), "1 x=y".into()));
    }

    #[test]
    fn invalid_metrics_are_refused() {
        let registry = MetricRegistry::new(1);
        let define = |kind, name: &str, bounds: &[u64]| registry.define(1, kind, name, bounds).map(|_| ());
        for name in ["", "9a", "a-b", "ä", ";a=b", &"a".repeat(1025)] {
            assert_eq!(define(MetricKind::Counter, name, &[]), Err(MetricError::BadName));
        }
        let long = format!("a;b={}", "c".repeat(1023));
        let many: String = (0..17).map(|index| format!(";k{index}=v")).collect();
        let labels = [
            "a;",
            "a;b",
            "a;9=b",
            "a;filter=b",
            "a;le=1",
            "a;__b=c",
            "a;b=c;b=d",
            "a;b=\n",
            &long,
            &format!("a{many}"),
        ];
        for name in labels {
            assert_eq!(define(MetricKind::Counter, name, &[]), Err(MetricError::BadLabel), "{name}");
        }
        for bounds in [&[] as &[u64], &[1, 1], &[2, 1], &[0; 33]] {
            assert_eq!(define(MetricKind::Histogram, "h", bounds), Err(MetricError::BadBounds));
        }
        assert_eq!(define(MetricKind::Gauge, "g", &[1]), Err(MetricError::BadBounds));
        define(MetricKind::Histogram, "h", &[1, 2]).unwrap();
        assert_eq!(define(MetricKind::Histogram, "h", &[1, 3]), Err(MetricError::Differs));
        assert_eq!(define(MetricKind::Counter, "h", &[]), Err(MetricError::Differs));
        assert_eq!(define(MetricKind::Counter, "h;a=b", &[]), Err(MetricError::Differs));
        define(MetricKind::Counter, &"a".repeat(1024), &[]).unwrap();
        for index in 2..METRICS_MAX {
            define(MetricKind::Counter, &format!("m;index={index}"), &[]).unwrap();
        }
        assert_eq!(define(MetricKind::Counter, "more", &[]), Err(MetricError::Full));
        define(MetricKind::Counter, "m;index=2", &[]).unwrap();
        assert_eq!(registry.views().len(), METRICS_MAX);
        assert_eq!(registry.views()[0].values, [0, 0, 0, 0]);
    }
}

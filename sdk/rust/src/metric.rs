//! Metrics of a filter.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi;
use crate::host;

/// A monotonic counter.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    cells: MetricLanes,
}

/// A gauge.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    cells: MetricLanes,
}

/// A histogram.
#[derive(Clone, Debug)]
pub struct Histogram {
    cells: MetricLanes,
    bounds: Box<[u64]>,
}

/// Why a metric could not be defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricError {
    /// The name is invalid, the name has another kind, or the bounds are invalid; eddy's log says which.
    Invalid,
    /// The filter has its maximum number of metrics.
    Full,
}

/// The lanes of a metric: one per worker and one for all other threads.
#[derive(Clone, Copy, Debug)]
struct MetricLanes {
    first: *mut u64,
    stride: u32,
    lanes: u32,
    /// Cells per lane.
    used: u32,
}

// SAFETY: the cells live as long as the process and are only accessed atomically.
unsafe impl Send for MetricLanes {}
// SAFETY: as above.
unsafe impl Sync for MetricLanes {}

thread_local! {
    /// Worker of this thread; `u32::MAX` on other threads.
    static WORKER: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// Marks this thread as a worker's while a filter runs.
pub(crate) struct OnWorker {
    before: u32,
}

impl OnWorker {
    pub(crate) fn enter(worker: u16) -> Self {
        Self { before: WORKER.replace(u32::from(worker)) }
    }
}

impl Drop for OnWorker {
    fn drop(&mut self) {
        WORKER.set(self.before);
    }
}

impl Counter {
    pub(crate) fn define(filter: u32, name: &str) -> Result<Self, MetricError> {
        Ok(Self { cells: MetricLanes::define(filter, abi::COUNTER, name, &[])? })
    }

    /// Adds an amount.
    ///
    /// # Cost
    /// One atomic addition on a cache line that other workers do not access.
    pub fn add(&self, amount: u64) {
        self.cells.add(0, amount);
    }

    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }
}

impl Gauge {
    pub(crate) fn define(filter: u32, name: &str) -> Result<Self, MetricError> {
        Ok(Self { cells: MetricLanes::define(filter, abi::GAUGE, name, &[])? })
    }

    /// Adds an amount, which may be negative.
    pub fn add(&self, amount: i64) {
        self.cells.add(0, amount.cast_unsigned());
    }
}

impl Histogram {
    pub(crate) fn define(filter: u32, name: &str, bounds: &[u64]) -> Result<Self, MetricError> {
        Ok(Self { cells: MetricLanes::define(filter, abi::HISTOGRAM, name, bounds)?, bounds: bounds.into() })
    }

    /// Records a value.
    pub fn record(&self, value: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.cells.add(bucket, 1);
        self.cells.add(self.bounds.len() + 1, value);
    }
}

impl MetricLanes {
    fn define(filter: u32, kind: u32, name: &str, bounds: &[u64]) -> Result<Self, MetricError> {
        let metric = host::metric(filter, kind, name, bounds).map_err(MetricError::of)?;
        let used = match kind {
            abi::HISTOGRAM => u32::try_from(bounds.len() + 2).map_err(|_| MetricError::Invalid)?,
            _ => 1,
        };
        Ok(Self { first: metric.cells, stride: metric.stride, lanes: host::workers() + 1, used })
    }

    fn add(&self, cell: usize, amount: u64) {
        let lane = WORKER.get().min(self.lanes - 1);
        debug_assert!(cell < self.used as usize, "a metric has no such cell");
        let place = lane as usize * self.stride as usize + cell;
        // SAFETY: `place` is within the metric: the lane is one of the host's, and a lane has `used` cells.
        let cell = unsafe { self.first.add(place) };
        // SAFETY: the cell is aligned, lives as long as the process and is only accessed atomically.
        let cell = unsafe { AtomicU64::from_ptr(cell) };
        cell.fetch_add(amount, Ordering::Relaxed);
    }
}

impl MetricError {
    fn of(answer: i32) -> Self {
        if answer == abi::FULL { Self::Full } else { Self::Invalid }
    }
}

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the metric's name, kind or bounds are invalid; the log of eddy has the details",
            Self::Full => "the filter has the maximum number of metrics",
        })
    }
}

impl std::error::Error for MetricError {}

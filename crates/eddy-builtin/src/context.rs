//! Environment of built-in filters: host, services of the program, counters.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use eddy_filter::{HostApi, Metric, MetricKind};

/// Environment in which a built-in filter is created.
#[derive(Clone)]
pub struct BuiltinContext {
    /// The host's number of the filter.
    pub id: u32,
    /// Host interface for filters.
    pub host: Arc<dyn HostApi>,
    /// I/O and threads provided by the program, as this crate has no I/O.
    pub services: Arc<dyn Services>,
    /// Random numbers, secret and fresh for each filter.
    pub seed: [u64; 4],
}

/// Services of the program for creating built-in filters.
pub trait Services: Send + Sync {
    /// Reads a whole file.
    ///
    /// # Errors
    /// The reason why the file cannot be read, for a message that already names the file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String>;

    /// Runs a task on a thread of its own, which ends when the task does.
    ///
    /// # Errors
    /// The reason why the thread cannot be created.
    fn spawn(&self, name: &str, task: Box<dyn FnOnce() + Send>) -> Result<(), String>;
}

/// Counter shown as a metric of a filter; does nothing if the host has no room for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetricCounter(Option<Metric>);

impl BuiltinContext {
    /// Defines a counter of this filter.
    pub(crate) fn counter(&self, name: &str) -> MetricCounter {
        MetricCounter(self.host.metrics().define(self.id, MetricKind::Counter, name, &[]).ok())
    }
}

impl MetricCounter {
    /// Adds one, in the lane of a worker.
    pub(crate) fn count(&self, worker: u16) {
        self.add(worker, 1);
    }

    /// Adds `count`, in the lane of a worker.
    pub(crate) fn add(&self, worker: u16, count: u64) {
        if let Some(metric) = self.0.as_ref().filter(|_| count > 0) {
            metric.add(usize::from(worker), count);
        }
    }
}

impl fmt::Debug for BuiltinContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltinContext").field("id", &self.id).finish_non_exhaustive()
    }
}

//! Connection of a filter to the host outside its hooks.

use crate::log::LogTarget;
use crate::metric::{Counter, Gauge, Histogram, MetricError};
use crate::outbound::{Answer, Outbound, OutboundCall, OutboundError};

/// Connection of a filter to the host, from any thread: log, metrics and outbound requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    filter: u32,
}

impl Context {
    pub(crate) fn new(filter: u32) -> Self {
        Self { filter }
    }

    /// Defines a counter, shown as `eddy_filter_NAME{filter="..."}`. Labels may follow the name: `NAME;KEY=VALUE`.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid metric name, or the filter already has 1,024 metrics.
    pub fn counter(&self, name: &str) -> Result<Counter, MetricError> {
        Counter::define(self.filter, name)
    }

    /// Defines a gauge.
    ///
    /// # Errors
    /// As [`Self::counter`].
    pub fn gauge(&self, name: &str) -> Result<Gauge, MetricError> {
        Gauge::define(self.filter, name)
    }

    /// Defines a histogram; `bounds` ascend, and there are at most 32.
    ///
    /// # Errors
    /// As [`Self::counter`], and for invalid bounds.
    pub fn histogram(&self, name: &str, bounds: &[u64]) -> Result<Histogram, MetricError> {
        Histogram::define(self.filter, name, bounds)
    }

    /// Sends a request that does not belong to an exchange; see [`crate::Exchange::send`].
    ///
    /// # Errors
    /// Returns an error if the host rejects the request; `done` is not called then.
    pub fn send(
        &self,
        request: &Outbound<'_>,
        done: impl FnOnce(Result<Answer<'_>, &str>) + Send + 'static,
    ) -> Result<OutboundCall, OutboundError> {
        request.send(self.filter, 0, Box::new(done))
    }
}

impl LogTarget for Context {
    fn filter_id(&self) -> u32 {
        self.filter
    }
}

//! A filter's connection to the host outside its hooks.

use crate::log::LogTarget;
use crate::metric::{Counter, Gauge, Histogram, MetricError};
use crate::outbound::{Answer, Outbound, OutboundCall, OutboundError};

/// A filter's connection to the host: for the log, for metrics and for requests of its own, from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    filter: u32,
}

impl Context {
    pub(crate) fn new(filter: u32) -> Self {
        Self { filter }
    }

    /// A number that only grows, shown as `eddy_filter_NAME{filter="..."}`.
    ///
    /// # Errors
    /// When the name is no metric's name or the filter has 64 of them.
    pub fn counter(&self, name: &str) -> Result<Counter, MetricError> {
        Counter::define(self.filter, name)
    }

    /// A number that rises and falls.
    ///
    /// # Errors
    /// As [`Self::counter`].
    pub fn gauge(&self, name: &str) -> Result<Gauge, MetricError> {
        Gauge::define(self.filter, name)
    }

    /// How values are spread; `bounds` ascend, and there are at most 32.
    ///
    /// # Errors
    /// As [`Self::counter`], and when the bounds make no sense.
    pub fn histogram(&self, name: &str, bounds: &[u64]) -> Result<Histogram, MetricError> {
        Histogram::define(self.filter, name, bounds)
    }

    /// Sends a request that belongs to no exchange; see [`crate::Exchange::send`].
    ///
    /// # Errors
    /// When the host does not take it; `done` is not called then.
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

//! Traffic counters: each written by one worker, readable from any thread, rendered as Prometheus text.

mod counter;
mod filters;
mod registry;
mod render;
mod series;

pub use counter::{Gauge, Histogram, WorkerCounter};
pub use filters::{FilterReport, FilterView, PhaseView};
pub use registry::Stats;
pub use series::{
    ClusterSeries, DatagramLoss, DatagramSeries, FaultCounters, FilterSeries, GrpcSeries, HandshakeFailure,
    HandshakeSeries, Http2Series, ListenerSeries, PlanSeries, RuleSeries, SinkSeries, WorkerSeries,
};
pub(crate) use series::{FILTER_FAULT_LABELS, FailureKind, count_status};

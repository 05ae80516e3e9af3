//! Traffic counters: each written by one worker, readable from any thread, rendered as Prometheus text.

mod counter;
mod filter_failure;
mod filters;
mod registry;
mod render;
mod series;

pub use counter::{Gauge, Histogram, WorkerCounter};
pub(crate) use filter_failure::FailureKind;
pub use filters::{FilterReport, FilterView, PhaseView};
pub use registry::Stats;
pub use series::{
    ClusterSeries, DatagramLoss, DatagramSeries, FaultCounters, FilterSeries, GrpcSeries, HandshakeFailure,
    HandshakeSeries, Http2Series, ListenerSeries, PlanSeries, RuleSeries, SinkSeries, WorkerSeries,
};
pub(crate) use series::{FILTER_FAULT_LABELS, count_status};

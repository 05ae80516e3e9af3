//! Traffic counters: each written by one worker, readable from any thread, rendered as Prometheus text.

mod counter;
mod filters;
mod registry;
mod render;
mod series;

pub(crate) use counter::WorkerCounter;
pub use filters::{FilterReport, FilterView, PhaseView};
pub use registry::Stats;
pub(crate) use series::{
    ClusterSeries, DatagramLoss, FILTER_FAULT_LABELS, FailureKind, FilterSeries, HandshakeFailure,
    HandshakeSeries, ListenerSeries, PlanSeries, RuleSeries, SinkSeries, WorkerSeries, count_status,
};

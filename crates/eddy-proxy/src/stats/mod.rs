//! Counters of the traffic: written by one worker each, read by anyone, rendered as Prometheus text.

mod counter;
mod filters;
mod registry;
mod render;
mod series;

pub use counter::{Counter, Gauge, Histogram};
pub use filters::{FilterReport, FilterView, PhaseView};
pub use registry::Stats;
pub(crate) use series::count_status;
pub use series::{
    ClusterSeries, DatagramLoss, DatagramSeries, FaultCounters, FilterSeries, GrpcSeries, HandshakeFailure,
    HandshakeSeries, Http2Series, ListenerSeries, PlanSeries, RuleSeries, SinkSeries, WorkerSeries,
};

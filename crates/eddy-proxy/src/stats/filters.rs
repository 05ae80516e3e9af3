//! Report of filter cost and failures.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use eddy_filter::Phase;
use serde::Serialize;

use crate::stats::counter::{BUCKETS, Gauge, Histogram, WorkerCounter};
use crate::stats::registry::Stats;
use crate::stats::series::{FILTER_FAULT_LABELS, FilterSeries};

/// Filters of a gateway, summed over all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FilterReport {
    /// Filters, ordered by name.
    pub filters: Vec<FilterView>,
}

/// Statistics of a filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilterView {
    /// Filter name.
    pub name: String,
    /// Phases in which the filter was called.
    pub phases: BTreeMap<&'static str, PhaseView>,
    /// Bytes of edits. Edits of neighbouring filters in one crossing count for the first of them.
    pub edit_bytes: u64,
    /// Number of failures, by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// Exchanges paused by the filter at present.
    pub paused: u64,
}

/// Statistics of a filter in one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseView {
    /// Number of calls; exact.
    pub calls: u64,
    /// Number of calls that were timed.
    pub timed: u64,
    /// Mean time of the timed calls, in nanoseconds.
    pub mean_ns: u64,
    /// Median time in nanoseconds: upper bound of its bucket.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the time in nanoseconds: upper bound of its bucket.
    pub p99_ns: Option<u64>,
}

impl Stats {
    /// Returns the cost and failures of the filters.
    pub fn filters(&self) -> FilterReport {
        let labelled = self.labelled.lock().unwrap_or_else(PoisonError::into_inner);
        let filters = labelled.filters.iter().map(|(name, series)| view(name, series));
        FilterReport { filters: filters.collect() }
    }
}

fn view(name: &str, series: &[Arc<FilterSeries>]) -> FilterView {
    let phases = Phase::ALL.iter().filter_map(|phase| Some((phase.name(), phase_view(*phase, series)?)));
    let faults = FILTER_FAULT_LABELS.iter().enumerate().map(|(index, kind)| {
        let count = series.iter().filter_map(|one| one.faults.get(index)).map(WorkerCounter::value).sum();
        (*kind, count)
    });
    FilterView {
        name: name.to_owned(),
        phases: phases.collect(),
        edit_bytes: series.iter().map(|one| one.edit_bytes.value()).sum(),
        faults: faults.collect(),
        paused: series.iter().map(|one| &one.paused).map(Gauge::value).sum(),
    }
}

fn phase_view(phase: Phase, series: &[Arc<FilterSeries>]) -> Option<PhaseView> {
    let calls: u64 = series.iter().map(|one| one.calls[phase as usize].value()).sum();
    let buckets: Vec<u64> = (0..BUCKETS)
        .map(|index| series.iter().map(|one| one.nanos[phase as usize].bucket(index)).sum())
        .collect();
    let timed: u64 = buckets.iter().sum();
    let sum: u64 = series.iter().map(|one| one.nanos[phase as usize].sum()).sum();
    (calls > 0).then(|| PhaseView {
        calls,
        timed,
        mean_ns: sum.checked_div(timed).unwrap_or(0),
        p50_ns: quantile(&buckets, timed, 50),
        p99_ns: quantile(&buckets, timed, 99),
    })
}

/// Returns the upper bound of the bucket that contains the quantile; `None` for the last bucket, and when nothing was
/// timed.
fn quantile(buckets: &[u64], timed: u64, percent: u64) -> Option<u64> {
    let rank = (timed * percent).div_ceil(100).max(1);
    let mut passed = 0;
    let index = buckets.iter().position(|count| {
        passed += count;
        passed >= rank
    })?;
    Histogram::<64>::bound(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_metrics_are_merged_over_all_workers() {
        let series = [Arc::new(FilterSeries::default()), Arc::new(FilterSeries::default())];
        (0..99).for_each(|_| series[0].entered(Phase::RequestHead, Some(60)));
        series[1].entered(Phase::RequestHead, Some(1000));
        series[1].entered(Phase::RequestHead, None);
        series[0].paused.increment();
        let view = view("auth", &series);
        let phase = &view.phases["request_head"];
        assert_eq!((phase.calls, phase.timed, phase.mean_ns), (101, 100, 69));
        assert_eq!((phase.p50_ns, phase.p99_ns), (Some(64), Some(64)));
        assert_eq!(view.phases.len(), 1);
        assert_eq!((view.paused, view.faults["timeout"]), (1, 0));
        assert_eq!(quantile(&[0, 0], 0, 50), None);
    }
}

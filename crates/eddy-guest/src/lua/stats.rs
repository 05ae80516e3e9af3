//! Metrics that scripts define by `handle:stats()`: counters, gauges and histograms.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

use eddy_filter::{
    FilterLogLevel, HostApi, METRIC_NAME_BYTES_MAX, METRICS_MAX, Metric, MetricError, MetricKind,
};

use crate::lock::lock;
use crate::metric::{BOUNDS, plain_name};

/// Metrics of all scripts of one filter. They survive a configuration reload, so that a gauge is one value and not the
/// sum over the filters that were created one after the other.
///
/// The lock is held to define a metric only.
pub(super) struct LuaStatsScope {
    /// Address of the host's registry, which lives as long as the scripts that have this scope.
    registry: usize,
    defined: Mutex<HashMap<String, (MetricKind, Metric)>>,
    /// Whether the log has been told of a metric that is not recorded.
    is_reported: AtomicBool,
}

/// Metrics known to one VM.
pub(super) struct LuaStats {
    scope: Arc<LuaStatsScope>,
    /// The number of a metric in the VM is its position here, from 1; 0 is a metric that is not recorded.
    known: Vec<LuaMetric>,
    /// Lane of the VM's worker.
    pub(super) lane: usize,
}

/// Metric of a script.
pub(super) struct LuaMetric {
    name: String,
    pub(super) kind: MetricKind,
    pub(super) metric: Metric,
}

/// Scopes by filter name, as long as a script of the filter exists.
static SCOPES: Mutex<Vec<(String, Weak<LuaStatsScope>)>> = Mutex::new(Vec::new());

impl LuaStatsScope {
    /// Returns the scope of the filter with this name.
    pub(super) fn of(filter: &str, host: &dyn HostApi) -> Arc<Self> {
        let registry = ptr::from_ref(host.metrics()).addr();
        let mut known = lock(&SCOPES);
        known.retain(|(_, scope)| scope.strong_count() > 0);
        let same = known.iter().filter(|(name, _)| name == filter).filter_map(|(_, scope)| scope.upgrade());
        if let Some(scope) = same.into_iter().find(|scope| scope.registry == registry) {
            return scope;
        }
        let scope =
            Arc::new(Self { registry, defined: Mutex::default(), is_reported: AtomicBool::new(false) });
        known.push((filter.to_owned(), Arc::downgrade(&scope)));
        scope
    }

    fn define(
        &self,
        host: &dyn HostApi,
        filter: u32,
        kind: MetricKind,
        name: &str,
    ) -> Result<Metric, MetricError> {
        let mut defined = lock(&self.defined);
        if let Some((known, metric)) = defined.get(name) {
            return if *known == kind { Ok(*metric) } else { Err(MetricError::Differs) };
        }
        // The filters of one name have numbers of their own, each with the registry's limit.
        if defined.len() >= METRICS_MAX {
            return Err(MetricError::Full);
        }
        let bounds: &[u64] = if kind == MetricKind::Histogram { &BOUNDS } else { &[] };
        let metric = host.metrics().define(filter, kind, name, bounds)?;
        defined.insert(name.to_owned(), (kind, metric));
        Ok(metric)
    }
}

impl LuaStats {
    pub(super) fn new(scope: Arc<LuaStatsScope>) -> Self {
        Self { scope, known: Vec::new(), lane: 0 }
    }

    /// Returns the number of a metric in this VM.
    ///
    /// # Errors
    /// Why the metric cannot be defined; the first one of a filter is logged.
    pub(super) fn define(
        &mut self,
        host: &dyn HostApi,
        filter: u32,
        kind: MetricKind,
        name: &[u8],
    ) -> Result<usize, MetricError> {
        let defined = self.number(host, filter, kind, name);
        if let Err(error) = defined
            && !self.scope.is_reported.swap(true, Relaxed)
        {
            let name = String::from_utf8_lossy(name.get(..METRIC_NAME_BYTES_MAX).unwrap_or(name));
            let text = format!("the metric \"{name}\" of a script is not recorded: {error}");
            // Dropped messages are counted by the host.
            let _ = host.log(filter, FilterLogLevel::Warn, text.as_bytes());
        }
        defined
    }

    fn number(
        &mut self,
        host: &dyn HostApi,
        filter: u32,
        kind: MetricKind,
        name: &[u8],
    ) -> Result<usize, MetricError> {
        if name.len() > METRIC_NAME_BYTES_MAX {
            return Err(MetricError::BadName);
        }
        let name = plain_name(name);
        let known = self.known.iter().position(|known| known.name == name && known.kind == kind);
        if let Some(index) = known {
            return Ok(index + 1);
        }
        let metric = self.scope.define(host, filter, kind, &name)?;
        self.known.push(LuaMetric { name, kind, metric });
        Ok(self.known.len())
    }

    /// Returns the metric with this number; `None` for one that is not recorded.
    pub(super) fn get(&self, number: usize) -> Option<&LuaMetric> {
        self.known.get(number.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use eddy_filter::MetricRegistry;

    use super::*;

    struct MetricHost(MetricRegistry);

    impl HostApi for MetricHost {
        fn workers(&self) -> usize {
            2
        }

        fn level(&self) -> FilterLogLevel {
            FilterLogLevel::Error
        }

        fn metrics(&self) -> &MetricRegistry {
            &self.0
        }
    }

    #[test]
    fn a_gauge_keeps_one_value_across_reloads() {
        let host = MetricHost(MetricRegistry::new(2));
        let first = LuaStatsScope::of("stats", &host);
        let gauge = first.define(&host, 1, MetricKind::Gauge, "g").unwrap();
        gauge.set(5);
        // The filter of the next configuration has another number.
        let second = LuaStatsScope::of("stats", &host);
        second.define(&host, 2, MetricKind::Gauge, "g").unwrap().set(7);
        assert_eq!((gauge.sum(), host.0.views().len()), (7, 1));
        let other = LuaStatsScope::of("other", &host);
        other.define(&host, 3, MetricKind::Gauge, "g").unwrap();
        assert_eq!(host.0.views().len(), 2);
        let elsewhere = MetricHost(MetricRegistry::new(2));
        assert!(!Arc::ptr_eq(&first, &LuaStatsScope::of("stats", &elsewhere)));
    }

    #[test]
    fn names_that_are_the_same_when_shown_are_one_metric() {
        let host = MetricHost(MetricRegistry::new(2));
        let mut stats = LuaStats::new(LuaStatsScope::of("same names", &host));
        let mut number = |kind, name: &str| stats.number(&host, 1, kind, name.as_bytes());
        assert_eq!(number(MetricKind::Counter, "a.b"), Ok(1));
        assert_eq!(number(MetricKind::Counter, "a_b"), Ok(1));
        assert_eq!(number(MetricKind::Gauge, "a-b"), Err(MetricError::Differs));
        assert_eq!(number(MetricKind::Counter, ""), Err(MetricError::BadName));
        assert_eq!(number(MetricKind::Counter, &"a".repeat(1025)), Err(MetricError::BadName));
        for index in 1..METRICS_MAX {
            assert_eq!(number(MetricKind::Counter, &format!("m{index}")), Ok(index + 1));
        }
        assert_eq!(number(MetricKind::Counter, "more"), Err(MetricError::Full));
        assert_eq!(number(MetricKind::Counter, "a:b"), Ok(1));
        assert_eq!(host.0.views().len(), METRICS_MAX);
    }
}

//! Registry of every worker's counters by label, so that counters survive a reload.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use eddy_ids::Shared;
use eddy_upstream::InUse;

use crate::plan::GatewayPlan;
use crate::stats::series::{
    ClusterSeries, FilterSeries, ListenerSeries, PlanSeries, RuleSeries, SinkSeries, WorkerSeries,
};

/// Maximum number of rules with their own series; the others share the series labelled `other`.
pub(crate) const RULES_MAX: usize = 10_000;
/// Label of items without their own series.
pub(crate) const OTHER: &str = "other";

/// All counters of a gateway.
///
/// Workers touch only their own series; the lock is taken when a plan is built and when metrics are read.
#[derive(Debug)]
pub struct Stats {
    pub(crate) workers: Vec<Arc<WorkerSeries>>,
    pub(crate) sink: Arc<SinkSeries>,
    pub(crate) labelled: Mutex<Labelled>,
}

/// Series of each worker by name.
pub(crate) type SeriesByName<T> = BTreeMap<Shared<str>, Vec<Arc<T>>>;

/// Series by label; each label has one series per worker.
#[derive(Debug, Default)]
pub(crate) struct Labelled {
    pub(crate) listeners: SeriesByName<ListenerSeries>,
    pub(crate) rules: HashMap<RuleLabel, Vec<Arc<RuleSeries>>>,
    pub(crate) clusters: SeriesByName<ClusterSeries>,
    /// Usage of clusters that have limits, by cluster name.
    pub(crate) in_use: BTreeMap<Shared<str>, Arc<InUse>>,
    pub(crate) filters: SeriesByName<FilterSeries>,
}

/// Label of a rule's series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RuleLabel {
    pub(crate) listener: Shared<str>,
    pub(crate) rule: Shared<str>,
}

impl Stats {
    /// Creates the counters of a gateway with this many workers, all zero.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            workers: (0..workers).map(|_| Arc::default()).collect(),
            sink: Arc::default(),
            labelled: Mutex::default(),
        }
    }

    pub(crate) fn worker(&self, index: usize) -> Arc<WorkerSeries> {
        Arc::clone(&self.workers[index])
    }

    /// Returns the series of each worker under `plan`; removes labels that the plan no longer has.
    pub(crate) fn for_plan(&self, plan: &GatewayPlan) -> Vec<PlanSeries> {
        let count = self.workers.len();
        let mut labelled = self.labelled.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::take(&mut *labelled);
        let mut all: Vec<PlanSeries> = (0..count).map(|_| PlanSeries::default()).collect();
        let mut rules_seen = 0;
        for listener in &plan.listeners {
            let name = &listener.config.name;
            let series = reuse_series(&mut labelled.listeners, &old.listeners, name, count);
            for (plan, series) in all.iter_mut().zip(series) {
                plan.listeners.push(Arc::clone(series));
                plan.rules.push(Vec::with_capacity(listener.rule_names.len()));
            }
            for rule in &listener.rule_names {
                rules_seen += 1;
                let rule = if rules_seen > RULES_MAX { OTHER.into() } else { Shared::clone(rule) };
                let label = RuleLabel { listener: Shared::clone(name), rule };
                let known = old.rules.get(&label).cloned();
                let series =
                    labelled.rules.entry(label).or_insert_with(|| known.unwrap_or_else(|| one_each(count)));
                for (plan, series) in all.iter_mut().zip(series) {
                    if let Some(rules) = plan.rules.last_mut() {
                        rules.push(Arc::clone(series));
                    }
                }
            }
        }
        for cluster in plan.config.clusters.values() {
            let series = reuse_series(&mut labelled.clusters, &old.clusters, &cluster.name, count);
            for (plan, series) in all.iter_mut().zip(series) {
                plan.clusters.push(Arc::clone(series));
            }
            let is_limited = !cluster.limits.is_none();
            let in_use = is_limited.then(|| old.in_use.get(&cluster.name).cloned().unwrap_or_default());
            if let Some(in_use) = &in_use {
                labelled.in_use.insert(Shared::clone(&cluster.name), Arc::clone(in_use));
            }
            all.iter_mut().for_each(|plan| plan.in_use.push(in_use.clone()));
        }
        for (id, filter) in plan.config.filters.iter() {
            let series = reuse_series(&mut labelled.filters, &old.filters, &filter.name, count);
            for (plan, series) in all.iter_mut().zip(series) {
                plan.filters.insert(id, Arc::clone(series));
            }
        }
        all
    }
}

/// Returns the series of a name: those that it had, or new ones.
fn reuse_series<'n, T: Default>(
    new: &'n mut SeriesByName<T>,
    old: &SeriesByName<T>,
    name: &Shared<str>,
    count: usize,
) -> &'n [Arc<T>] {
    let known = || old.get(name).cloned().unwrap_or_else(|| one_each(count));
    new.entry(Shared::clone(name)).or_insert_with(known)
}

fn one_each<T: Default>(count: usize) -> Vec<Arc<T>> {
    (0..count).map(|_| Arc::default()).collect()
}

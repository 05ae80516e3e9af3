//! Merges the specs of several files into one.

use std::collections::HashMap;
use std::hash::Hash;

use eddy_spec::problem::{ProblemReport, SourceText, shown};
use eddy_spec::read::{NamedMap, Spanned};
use eddy_spec::spec::GatewaySpec;

use super::names::format_position;

/// Merges `other` into `united`: listeners are concatenated, mappings of names are merged. A key or name that occurs in
/// both is an error that names both positions.
pub fn unite(
    united: &mut GatewaySpec,
    other: GatewaySpec,
    sources: &[SourceText],
    report: &mut ProblemReport,
) {
    let GatewaySpec {
        workers,
        zone,
        drain_timeout,
        admin,
        log,
        access_log,
        limits,
        quarantine,
        route_check,
        listeners,
        routes,
        clusters,
        filters,
        acme,
        kubernetes,
    } = other;
    let mut once = Once { sources, report };
    once.take("workers", &mut united.workers, workers);
    once.take("zone", &mut united.zone, zone);
    once.take("drain_timeout", &mut united.drain_timeout, drain_timeout);
    once.take("admin", &mut united.admin, admin);
    once.take("log", &mut united.log, log);
    once.take("access_log", &mut united.access_log, access_log);
    once.take("limits", &mut united.limits, limits);
    once.take("quarantine", &mut united.quarantine, quarantine);
    once.take("route_check", &mut united.route_check, route_check);
    once.take("acme", &mut united.acme, acme);
    once.take("kubernetes", &mut united.kubernetes, kubernetes);
    once.take_names("route table", &mut united.routes, routes, |name| &name.0);
    once.take_names("cluster", &mut united.clusters, clusters, |name| &name.0);
    once.take_names("filter", &mut united.filters, filters, |name| &name.0);
    match (&mut united.listeners, listeners) {
        (Some(united), Some(other)) => united.value.extend(other.value),
        (mine @ None, other) => *mine = other,
        (Some(_), None) => {}
    }
}

/// Merges keys that may occur in one file only.
struct Once<'s, 'r> {
    sources: &'s [SourceText],
    report: &'r mut ProblemReport,
}

impl Once<'_, '_> {
    fn take<T>(&mut self, key: &str, mine: &mut Option<Spanned<T>>, other: Option<Spanned<T>>) {
        match (&*mine, other) {
            (Some(first), Some(second)) => {
                let message = format!(
                    "`{key}` is already in {}",
                    format_position(first.place, second.place, self.sources)
                );
                self.report.error(second.place, message).hint("keep one of them");
            }
            (None, other) => *mine = other,
            (Some(_), None) => {}
        }
    }

    fn take_names<K: Clone + Eq + Hash, V>(
        &mut self,
        what: &str,
        mine: &mut Option<Spanned<NamedMap<K, V>>>,
        other: Option<Spanned<NamedMap<K, V>>>,
        text: impl Fn(&K) -> &str,
    ) {
        let Some(other) = other else { return };
        let Some(mine) = mine else {
            *mine = Some(other);
            return;
        };
        let first: HashMap<K, _> =
            mine.value.0.iter().map(|entry| (entry.name.value.clone(), entry.name.place)).collect();
        for entry in other.value.0 {
            match first.get(&entry.name.value) {
                Some(place) => {
                    let name = shown(text(&entry.name.value)).into_owned();
                    let message = format!(
                        "the {what} `{name}` is already defined in {}",
                        format_position(*place, entry.name.place, self.sources)
                    );
                    self.report.error(entry.name.place, message).hint("keep one of them, or rename one");
                }
                None => mine.value.0.push(entry),
            }
        }
    }
}

//! Warnings about a configuration that works, but probably not as it was meant.

use super::names::Names;
use crate::problem::Report;

/// Notes clusters, tables and filters that nothing refers to.
pub(super) fn advise(clusters: &Names, tables: &Names, filters: &Names, report: &mut Report) {
    for names in [clusters, tables, filters] {
        for (name, place) in names.unused() {
            report.warning(place, format!("nothing uses the {} `{name}`", names.what()));
        }
    }
}

//! Warnings about a configuration that works, but probably not as it was meant.

use super::names::NameRegistry;
use crate::problem::ProblemReport;

/// Warns about names of these kinds that nothing refers to.
pub(crate) fn advise(kinds: &[&NameRegistry], report: &mut ProblemReport) {
    for names in kinds {
        for (name, place) in names.unused() {
            report.warning(place, format!("the {} `{name}` is not used", names.what()));
        }
    }
}

//! Warnings about a configuration that works, but probably not as it was meant.

use eddy_spec::problem::ProblemReport;

use super::names::NameRegistry;

/// Warns about names that nothing refers to.
pub(crate) fn advise<I: Copy>(names: &NameRegistry<I>, report: &mut ProblemReport) {
    for (name, place) in names.unused() {
        report.warning(place, format!("the {} `{name}` is not used", names.what()));
    }
}

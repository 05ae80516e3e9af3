//! Labels of objects and workloads.

use eddy_ids::Shared;
use eddy_spec::read::Spanned;

use super::spec::Labels;

/// Label and its value.
pub(super) type LabelPair = (Shared<str>, Shared<str>);

/// Returns the pairs of a mapping of labels.
pub(super) fn pairs(labels: Option<&Spanned<Labels>>) -> Vec<LabelPair> {
    let entries = labels.into_iter().flat_map(|labels| &labels.value.0);
    entries
        .filter_map(|entry| Some((entry.name.value.0.clone(), entry.value.as_ref()?.value.0.clone())))
        .collect()
}

/// Whether all wanted labels are present.
pub(super) fn has_labels(there: &[LabelPair], wanted: &[LabelPair]) -> bool {
    wanted.iter().all(|label| there.contains(label))
}

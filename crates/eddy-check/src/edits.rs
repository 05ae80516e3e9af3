//! Checks changes to headers.

use eddy_http::{EditFault, FieldEdits};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{Boxed, OneOrMany, Spanned};
use eddy_spec::spec::EditsSpec;

/// Checks header changes: first `remove`, then `set`, then `add`.
pub(super) fn check_edits(spec: Option<Spanned<Boxed<EditsSpec>>>, report: &mut ProblemReport) -> FieldEdits {
    let mut edits = FieldEdits::new();
    let Some(Spanned { value: Boxed(spec), .. }) = spec else { return edits };
    for name in spec.remove.into_iter().flat_map(|remove| remove.value) {
        note(edits.remove(&name.value.0), name.place, report);
    }
    for entry in spec.set.into_iter().flat_map(|set| set.value.0) {
        let Some(value) = entry.value else { continue };
        note(edits.set(&entry.name.value.0, &value.value.0), entry.name.place, report);
    }
    for entry in spec.add.into_iter().flat_map(|add| add.value.0) {
        for value in entry.value.into_iter().flat_map(OneOrMany::into_many) {
            note(edits.add(&entry.name.value.0, &value.value.0), entry.name.place, report);
        }
    }
    edits
}

/// Reports a change that is refused. The message does not repeat the value, which may be a secret.
fn note(outcome: Result<(), EditFault>, place: SourceSpan, report: &mut ProblemReport) {
    if let Err(fault) = outcome {
        report.error(place, fault.to_string());
    }
}

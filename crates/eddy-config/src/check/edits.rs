//! Changes to header fields.

use eddy_http::FieldEdits;

use crate::problem::{Place, Report};
use crate::read::{At, OneOrMany};
use crate::spec::EditsSpec;

/// Checks changes to fields: first `remove`, then `set`, then `add`.
pub(super) fn check_edits(spec: Option<At<EditsSpec>>, report: &mut Report) -> FieldEdits {
    let mut edits = FieldEdits::default();
    let Some(At { value: spec, .. }) = spec else { return edits };
    for name in spec.remove.into_iter().flat_map(|remove| remove.value) {
        note(edits.remove(&name.value.0), &name.value.0, name.place, report);
    }
    for entry in spec.set.into_iter().flat_map(|set| set.value.0) {
        let Some(value) = entry.value else { continue };
        let name = &entry.name.value.0;
        note(edits.set(name, &value.value.0), name, entry.name.place, report);
    }
    for entry in spec.add.into_iter().flat_map(|add| add.value.0) {
        let name = &entry.name.value.0;
        for value in entry.value.into_iter().flat_map(OneOrMany::into_many) {
            note(edits.add(name, &value.value.0), name, entry.name.place, report);
        }
    }
    edits
}

/// Notes an edit that is not allowed. The value is not repeated: it may be a secret.
fn note<E: std::fmt::Display>(outcome: Result<(), E>, name: &str, place: Place, report: &mut Report) {
    if let Err(fault) = outcome {
        report.error(place, format!("the field `{name}` can't be changed so: {fault}"));
    }
}

//! Header edits, applied one after the other as in Envoy.

use std::collections::HashMap;

use eddy_http::{EditFault, FieldEdits};
use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};

use super::spec::{EditsSpec, HeadersSpec};

/// Edits of requests and responses by a route or destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    pub(super) request: Changes,
    pub(super) response: Changes,
    /// Host that upstreams see; eddy does not treat it as a header.
    pub(super) host: Option<Shared<str>>,
}

/// Header edits of a message: some headers are removed, then others are set or added.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    removed: Vec<IstioFieldChange>,
    put: Vec<IstioFieldChange>,
}

#[derive(Clone, Debug)]
struct IstioFieldChange {
    kind: ChangeKind,
    name: Shared<str>,
    value: Shared<str>,
    place: SourceSpan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeKind {
    Remove,
    Set,
    Add,
}

impl Edits {
    pub(super) fn read(spec: &HeadersSpec, report: &mut ProblemReport) -> Self {
        let mut edits = Self::default();
        if let Some(request) = &spec.request {
            edits.request = Changes::read(&request.value, &mut edits.host, report);
        }
        if let Some(response) = &spec.response {
            // A response has no host.
            edits.response = Changes::read(&response.value, &mut None, report);
        }
        edits
    }
}

impl Changes {
    fn read(spec: &EditsSpec, host: &mut Option<Shared<str>>, report: &mut ProblemReport) -> Self {
        let mut changes = Self::default();
        for name in spec.remove.iter().flat_map(|names| &names.value) {
            if !is_part_of_the_line(&name.value.0) {
                let name = IstioFieldChange {
                    kind: ChangeKind::Remove,
                    name: name.value.0.clone(),
                    value: "".into(),
                    place: name.place,
                };
                changes.removed.push(name);
            }
        }
        for (fields, kind) in [(&spec.set, ChangeKind::Set), (&spec.add, ChangeKind::Add)] {
            for entry in fields.iter().flat_map(|fields| &fields.value.0) {
                let (name, Some(value)) = (&entry.name.value.0, &entry.value) else { continue };
                if is_host(name) {
                    // A host that is set takes precedence over one that is added.
                    if kind == ChangeKind::Set || host.is_none() {
                        *host = Some(Shared::clone(&value.value.0));
                    }
                } else if !is_part_of_the_line(name) {
                    let Some(text) = plain(&value.value.0, name, value.place, report) else { continue };
                    changes.put.push(IstioFieldChange {
                        kind,
                        name: name.clone(),
                        value: text,
                        place: entry.name.place,
                    });
                }
            }
        }
        changes
    }

    /// Joins these edits with those of the only destination: all removals, then all headers to set, then all to add.
    pub(super) fn with(&self, destination: &Self) -> Self {
        let removed = self.removed.iter().chain(&destination.removed).cloned().collect();
        let mut put: Vec<IstioFieldChange> = self.put.iter().chain(&destination.put).cloned().collect();
        put.sort_by_key(|change| change.kind == ChangeKind::Add);
        Self { removed, put }
    }

    /// Joins these edits with those of one of several destinations, which come first.
    pub(super) fn after(&self, destination: &Self) -> Self {
        let own = destination.removed.iter().chain(&destination.put).chain(&self.removed);
        Self { removed: Vec::new(), put: own.chain(&self.put).cloned().collect() }
    }

    /// Converts the edits to [`FieldEdits`], which have no order; edits without effect are dropped.
    pub(super) fn to_field_edits(&self, report: &mut ProblemReport) -> FieldEdits {
        let all: Vec<&IstioFieldChange> = self.removed.iter().chain(&self.put).collect();
        // Edits before the last one that clears a header have no effect.
        let clearing = all.iter().enumerate().filter(|(_, change)| change.kind != ChangeKind::Add);
        let cleared: HashMap<String, usize> =
            clearing.map(|(at, change)| (change.name.to_ascii_lowercase(), at)).collect();
        let mut edits = FieldEdits::new();
        for (at, change) in all.into_iter().enumerate() {
            if cleared.get(&change.name.to_ascii_lowercase()).is_some_and(|last| *last > at) {
                continue;
            }
            let outcome = match change.kind {
                ChangeKind::Remove => edits.remove(&change.name),
                ChangeKind::Set => edits.set(&change.name, &change.value),
                ChangeKind::Add => edits.add(&change.name, &change.value),
            };
            note(outcome, change.place, report);
        }
        edits
    }
}

fn note(outcome: Result<(), EditFault>, place: SourceSpan, report: &mut ProblemReport) {
    if let Err(fault) = outcome {
        report.error(place, fault.to_string());
    }
}

/// Returns the text to send, or `None` when it depends on the request, which is reported.
fn plain(
    text: &Shared<str>,
    name: &str,
    place: SourceSpan,
    report: &mut ProblemReport,
) -> Option<Shared<str>> {
    if !text.contains('%') {
        return Some(Shared::clone(text));
    }
    if text.replace("%%", "").contains('%') {
        report
            .objection(place, format!("`%...%` in the value of `{}` is not supported", shown(name)))
            .hint("write constant text, and `%%` for a `%`; a filter can insert values of the request");
        return None;
    }
    Some(text.replace("%%", "%").into())
}

fn is_host(name: &str) -> bool {
    name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case(":authority")
}

/// Whether a name is not that of a header; Istio ignores edits of such names.
fn is_part_of_the_line(name: &str) -> bool {
    name.starts_with(':') || is_host(name)
}

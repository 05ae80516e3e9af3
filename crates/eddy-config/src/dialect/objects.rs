//! Kubernetes objects of all dialects: adds them to a configuration.

use crate::check::Draft;
use crate::dialect::kubernetes::{Manifests, Objects};
use crate::dialect::{gateway_api, ingress, istio};
use crate::problem::{ProblemReport, SourceSpan};
use crate::spec::KubernetesSpec;

/// Adds the contents of objects to the draft; problems go to `report`.
pub(crate) fn add_objects(
    objects: &Objects<'_>,
    spec: Option<&KubernetesSpec>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) {
    let manifests = Manifests::read(objects, spec, report);
    gateway_api::add(&manifests, draft, report);
    ingress::add(&manifests, draft, report);
    istio::add(&manifests, draft, report);
    if draft.listeners.is_empty() && !report.has_errors() {
        let place = objects.list.first().map_or_else(SourceSpan::default, |object| object.place);
        report
            .error(place, "the manifests define no listener")
            .hint("add a Gateway with a listener of protocol HTTP");
    }
}

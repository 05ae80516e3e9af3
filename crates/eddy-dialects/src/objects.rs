//! Kubernetes manifests: the objects of all dialects.

use eddy_check::{ConfigDialect, Draft};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::yaml::parse_documents;

use crate::format::is_manifest;
use crate::gateway_api::GatewayApi;
use crate::ingress::Ingresses;
use crate::istio::Istio;
use crate::kubernetes::{Manifests, Objects, read_objects};

/// Manifests of Kubernetes, with the objects of several dialects. They may stand beside eddy's own texts, whose settings
/// for them have been read.
pub(crate) struct Kubernetes;

impl ConfigDialect<[SourceText]> for Kubernetes {
    fn lower(&self, sources: &[SourceText], draft: &mut Draft<'_>, report: &mut ProblemReport) {
        report.with(draft.leniency, |report| {
            let objects = read(sources, draft, report);
            if !draft.is_incomplete {
                add(&objects, draft, report);
            }
        });
    }
}

/// Reads the objects of all manifests.
fn read<'t>(sources: &'t [SourceText], draft: &mut Draft<'_>, report: &mut ProblemReport) -> Objects<'t> {
    let mut roots = Vec::new();
    for (source, number) in sources.iter().zip(0..) {
        if !source.is_included && is_manifest(source) {
            let documents = parse_documents(&source.text, number, report);
            draft.is_incomplete |= !documents.is_whole;
            roots.extend(documents.roots);
        }
    }
    let objects = read_objects(roots, report);
    for (source, number) in sources.iter().zip(0..) {
        if !source.is_included && is_manifest(source) {
            let of_source = objects.list.iter().filter(|object| object.place.source == number);
            draft.show(number as usize, of_source.map(|object| &object.node));
        }
    }
    objects
}

/// Adds what the objects say.
fn add(objects: &Objects<'_>, draft: &mut Draft<'_>, report: &mut ProblemReport) {
    let spec = draft.kubernetes.take();
    let manifests = Manifests::read(objects, spec.as_ref(), report);
    let dialects: [&dyn ConfigDialect<Manifests<'_, '_>>; 3] = [&GatewayApi, &Ingresses, &Istio];
    for dialect in dialects {
        dialect.lower(&manifests, draft, report);
    }
    if draft.listeners.is_empty() && !report.has_errors() {
        let place = objects.list.first().map_or_else(SourceSpan::default, |object| object.place);
        report
            .error(place, "the manifests define no listener")
            .hint("add a Gateway with a listener of protocol HTTP");
    }
}

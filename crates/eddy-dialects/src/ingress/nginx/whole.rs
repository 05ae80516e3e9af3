//! Translation of Ingresses into an NGINX configuration.

use eddy_config::CertificateFiles;
use eddy_spec::problem::ProblemReport;

use super::catalogue::PREFIX;
use super::servers::arrange;
use super::settings::IngressAnnotations;
use super::upstreams::{Resolve, gather};
use super::write::IngressConfWriter;
use crate::ingress::model::Ingress;
use crate::nginx::{Directive, Targets};

/// Whether an Ingress has annotations of ingress-nginx.
pub(in crate::ingress) fn has_nginx_annotations(ingress: &Ingress) -> bool {
    ingress.annotations.iter().any(|annotation| annotation.name.starts_with(PREFIX))
}

/// Returns the configuration that ingress-nginx would write for these Ingresses, and the targets that `proxy_pass` may
/// name.
pub(in crate::ingress) fn lower(
    ingresses: &[Ingress],
    listens: &[String],
    certificates: &[CertificateFiles],
    resolve: Resolve<'_>,
    report: &mut ProblemReport,
) -> (Vec<Directive>, Targets) {
    let mut read: Vec<(&Ingress, IngressAnnotations)> =
        ingresses.iter().map(|ingress| (ingress, IngressAnnotations::read(ingress, report))).collect();
    // Of Ingresses with the same age, the later name comes first, as in the controller.
    read.sort_by(|(a, _), (b, _)| a.created.cmp(&b.created).then_with(|| b.full_name().cmp(&a.full_name())));
    let mut upstreams = gather(&read, resolve);
    let servers = arrange(&read, &mut upstreams, report);
    let mut writer = IngressConfWriter {
        ingresses: &read,
        upstreams: &upstreams,
        listens,
        certificates,
        resolve,
        targets: Targets::default(),
        extra: Vec::new(),
    };
    let directives = writer.write(&servers);
    (directives, writer.targets)
}

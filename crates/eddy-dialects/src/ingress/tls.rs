//! TLS certificates of Ingresses.

use eddy_config::CertificateFiles;
use eddy_spec::problem::{ProblemReport, SourceText};
use eddy_spec::value::ObjectName;

use super::model::{HostTls, Ingress};
use crate::kubernetes::Secrets;

/// Returns the certificates of Ingresses, each for its hosts; unavailable ones are reported.
pub(super) fn certificates<'i>(
    ingresses: impl IntoIterator<Item = &'i Ingress>,
    secrets: &Secrets,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Vec<CertificateFiles> {
    let mut certificates: Vec<CertificateFiles> = Vec::new();
    for ingress in ingresses {
        for tls in &ingress.tls {
            let certificate = certificate(ingress, tls, secrets, sources, report);
            certificates.extend(certificate.filter(|certificate| !certificates.contains(certificate)));
        }
    }
    certificates
}

fn certificate(
    ingress: &Ingress,
    tls: &HostTls,
    secrets: &Secrets,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Option<CertificateFiles> {
    let Some(secret) = &tls.secret else {
        report.objection(tls.place, "`tls` needs a `secretName`: eddy has no default certificate").hint(
            "name a Secret of the type `kubernetes.io/tls`, or give `--lenient` to go without a certificate",
        );
        return None;
    };
    let name =
        ObjectName { namespace: ingress.namespace.as_str().into(), name: secret.value.as_str().into() };
    match secrets.certificate(&name, sources) {
        Ok(mut certificate) => {
            // In addition to the hosts that the certificate names.
            let hosts = certificate.hosts.get_or_insert_default();
            hosts.extend(tls.hosts.iter().map(|host| host.value.clone()));
            Some(certificate)
        }
        Err(fault) => {
            report.objection(secret.place, fault.message_for(&name)).hint(
                "add it to the manifests, with `tls.crt` and `tls.key`, or give `--lenient` to go without a certificate",
            );
            None
        }
    }
}

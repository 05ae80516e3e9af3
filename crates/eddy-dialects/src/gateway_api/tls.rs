//! TLS certificates of listeners, and why some are unavailable.

use eddy_config::CertificateFiles;
use eddy_ids::Shared;
use eddy_route::HostPattern;
use eddy_spec::problem::{ProblemReport, SourceText, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::grant::Grants;
use super::ref_fault::RefFault;
use super::spec::{ListenerTlsSpec, SecretRefSpec};
use crate::kubernetes::{Manifests, SecretFault};

/// Reader of listener certificates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Certificates<'m, 'o, 't> {
    /// All objects.
    pub(super) manifests: &'m Manifests<'o, 't>,
    /// Permissions to refer to other namespaces.
    pub(super) grants: &'m Grants,
    /// Source texts of the configuration.
    pub(super) sources: &'m [SourceText],
}

/// Certificates of a listener.
#[derive(Debug, Default)]
pub(super) struct ListenerCertificates {
    /// Certificates that are available.
    pub(super) certificates: Vec<CertificateFiles>,
    /// Reason why others are not.
    pub(super) fault: Option<RefFault>,
}

impl Certificates<'_, '_, '_> {
    /// Reads the certificates of an HTTPS listener; `namespace` is that of its Gateway. Problems go to `report`.
    pub(super) fn read(
        self,
        tls: Option<Spanned<ListenerTlsSpec>>,
        namespace: &Shared<str>,
        hostname: &HostPattern,
        report: &mut ProblemReport,
    ) -> ListenerCertificates {
        let mut shown = ListenerCertificates::default();
        let refs = tls.and_then(|tls| {
            note_mode(&tls, report);
            note_options(&tls, report);
            tls.value.certificates
        });
        if refs.as_ref().is_none_or(|refs| refs.value.is_empty()) {
            shown.fail("InvalidCertificateRef", "the listener names no certificate".to_owned());
        }
        for reference in refs.into_iter().flat_map(|refs| refs.value) {
            let place = reference.place;
            match self.certificate(reference.value, namespace) {
                Ok(certificate) => {
                    let hosts = Some(vec![presented_for(hostname)]);
                    shown.certificates.push(CertificateFiles { hosts, ..certificate });
                }
                Err(fault) => {
                    report.warning(place, fault.message.clone()).hint(
                        "the listener uses the certificates that it can load, and is not served without one",
                    );
                    shown.fail(fault.reason, fault.message);
                }
            }
        }
        shown
    }

    fn certificate(self, spec: SecretRefSpec, namespace: &Shared<str>) -> Result<CertificateFiles, RefFault> {
        let fail = |reason, message| Err(RefFault { reason, message });
        let group = spec.group.as_ref().map_or("", |group| &*group.value.0);
        let kind = spec.kind.as_ref().map_or("Secret", |kind| &*kind.value.0);
        let name = spec.name.map(|name| name.value.0).unwrap_or_default();
        let namespace_of = spec.namespace.map_or_else(|| Shared::clone(namespace), |own| own.value.0);
        let name = ObjectName { namespace: namespace_of, name };
        if !group.is_empty() || kind != "Secret" {
            let message = format!("certificates must be in a Secret, not in a `{}`", shown(kind));
            return fail("InvalidCertificateRef", message);
        }
        if !self.grants.allow("Gateway", namespace, "Secret", &name) {
            let message = format!(
                "no ReferenceGrant allows a Gateway of `{namespace}` to refer to the Secret `{}/{}`",
                name.namespace, name.name
            );
            return fail("RefNotPermitted", message);
        }
        let found = self.manifests.secrets.certificate(&name, self.sources);
        found.or_else(|fault: SecretFault| fail("InvalidCertificateRef", fault.message_for(&name)))
    }
}

impl ListenerCertificates {
    fn fail(&mut self, reason: &'static str, message: String) {
        self.fault.get_or_insert(RefFault { reason, message });
    }
}

fn note_mode(tls: &Spanned<ListenerTlsSpec>, report: &mut ProblemReport) {
    let Some(mode) = &tls.value.mode else { return };
    match &*mode.value.0 {
        "Terminate" => {}
        "Passthrough" => {
            report
                .error(mode.place, "an HTTPS listener terminates TLS: it can't pass it through")
                .hint("write `mode: Terminate`");
        }
        other => {
            report.error(mode.place, format!("expected `Terminate`, found `{}`", shown(other)));
        }
    }
}

fn note_options(tls: &Spanned<ListenerTlsSpec>, report: &mut ProblemReport) {
    let Some(options) = tls.value.options.as_ref().filter(|options| !options.value.0.is_empty()) else {
        return;
    };
    report
        .objection(options.place, "TLS `options` of listeners are not supported")
        .hint("leave them out: eddy always uses TLS 1.2 or newer with secure cipher suites");
}

/// Returns the hostname for which a listener's certificates are shown.
fn presented_for(hostname: &HostPattern) -> String {
    match hostname {
        HostPattern::Exact(name) => name.clone(),
        HostPattern::Suffix(name) => format!("*.{name}"),
        HostPattern::Any
        | HostPattern::OneLabel(_)
        | HostPattern::ByteSuffix(_)
        | HostPattern::BytePrefix(_) => "*".to_owned(),
    }
}

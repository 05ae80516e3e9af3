//! TLS settings of Gateway servers, towards clients.

use eddy_config::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
use eddy_model::TlsVersion;
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;

use super::credentials::Credentials;
use super::spec::ServerTlsSpec;

/// TLS settings of a server.
#[derive(Clone, Debug)]
pub(super) struct IstioServerTls {
    certificates: Vec<CertificateFiles>,
    clients: Option<ClientCertificatesConfig>,
    version_min: TlsVersion,
}

impl Credentials<'_> {
    /// Returns the TLS settings of an HTTPS server, or `None` when they are unavailable, which goes to `report`.
    pub(super) fn server_tls(
        self,
        tls: Option<&Spanned<ServerTlsSpec>>,
        hosts: Vec<String>,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) -> Option<IstioServerTls> {
        let Some(Spanned { value: spec, place }) = tls else {
            report
                .error(place, "an HTTPS server needs `tls` with a certificate")
                .hint("for example `tls: {mode: SIMPLE, credentialName: site}`");
            return None;
        };
        let mode = spec.mode.as_ref().map_or("SIMPLE", |mode| &*mode.value.0);
        let asks = match mode {
            "SIMPLE" => None,
            "MUTUAL" => Some(false),
            "OPTIONAL_MUTUAL" => Some(true),
            "PASSTHROUGH" | "AUTO_PASSTHROUGH" | "ISTIO_MUTUAL" => {
                let place = spec.mode.as_ref().map_or(*place, |mode| mode.place);
                report
                    .objection(place, format!("eddy does not support servers of mode `{mode}` in manifests: this port would not be served"))
                    .hint("to forward TLS, write a listener with `forward` in eddy.yaml; give `--lenient` to leave this port out");
                return None;
            }
            other => {
                let place = spec.mode.as_ref().map_or(*place, |mode| mode.place);
                let message =
                    format!("expected a mode such as `SIMPLE` or `MUTUAL`, found `{}`", shown(other));
                report.error(place, message);
                return None;
            }
        };
        let mut certificates = self.server_certificates(spec, *place, report)?;
        certificates.iter_mut().for_each(|certificate| certificate.hosts = Some(hosts.clone()));
        let clients = match asks {
            Some(is_optional) => Some(self.clients(spec, is_optional, *place, report)?),
            None => None,
        };
        Some(IstioServerTls { certificates, clients, version_min: version_min(spec, report) })
    }

    /// Returns the certificates that a server names, or `None` when one is unavailable.
    fn server_certificates(
        self,
        spec: &ServerTlsSpec,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) -> Option<Vec<CertificateFiles>> {
        let many = spec.secrets.iter().flat_map(|secrets| &secrets.value);
        let mut shown = Vec::new();
        for secret in spec.secret.iter().chain(many) {
            match self.certificate(&secret.value) {
                Ok(certificate) => shown.push(certificate),
                Err(fault) => {
                    report.objection(secret.place, fault).hint(
                        "add it to the manifests, in the namespace of the Gateway, with `tls.crt` and `tls.key`; `--lenient` leaves this port out",
                    );
                    return None;
                }
            }
        }
        if let (Some(chain), Some(key)) = (&spec.chain, &spec.key) {
            shown.push(CertificateFiles {
                chain: self.file(chain),
                key: self.file(key),
                ocsp: None,
                hosts: None,
            });
        }
        if shown.is_empty() {
            report.error(place, "TLS needs a certificate").hint(
                "name a Secret with `credentialName`, or files with `serverCertificate` and `privateKey`",
            );
            return None;
        }
        Some(shown)
    }

    fn clients(
        self,
        spec: &ServerTlsSpec,
        is_optional: bool,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) -> Option<ClientCertificatesConfig> {
        let of_secret = spec.secret.as_ref().and_then(|secret| self.authorities(&secret.value));
        let Some(authorities) = of_secret.or_else(|| spec.authorities.as_ref().map(|file| self.file(file)))
        else {
            report
                .objection(place, "client certificates are required, but no certificate authority is configured")
                .hint("put `ca.crt` into the Secret of the certificate, or into a second Secret named `NAME-cacert`");
            return None;
        };
        Some(ClientCertificatesConfig { authorities, is_optional, revoked: None })
    }
}

fn version_min(spec: &ServerTlsSpec, report: &mut ProblemReport) -> TlsVersion {
    if let Some(most) =
        spec.version_max.as_ref().filter(|most| !matches!(&*most.value.0, "TLS_AUTO" | "TLSV1_3"))
    {
        report.warning(most.place, "TLS 1.3 is always enabled").hint("leave it out");
    }
    match spec.version_min.as_ref().map(|least| (least.place, &*least.value.0)) {
        Some((_, "TLSV1_3")) => TlsVersion::Tls13,
        None | Some((_, "TLS_AUTO" | "TLSV1_2")) => TlsVersion::Tls12,
        Some((place, _)) => {
            report.warning(place, "TLS 1.2 is the lowest version that eddy supports");
            TlsVersion::Tls12
        }
    }
}

/// Returns the TLS settings of an address with these servers, each with its source position, or `None` for cleartext.
/// Contradictions between servers go to `report`.
///
/// As in Istio, a client that asks for a name of no server is rejected.
pub(super) fn listener_tls(
    servers: &[(SourceSpan, Option<&IstioServerTls>)],
    report: &mut ProblemReport,
) -> Option<ListenerTlsConfig> {
    let (_, first) = *servers.first()?;
    let mut certificates = Vec::new();
    let mut version_min = TlsVersion::Tls12;
    for (place, server) in servers {
        let (Some(own), Some(other)) = (server, first) else {
            if server.is_some() != first.is_some() {
                report
                    .error(
                        *place,
                        "an HTTP and an HTTPS server have the same port: one of them would be unreachable",
                    )
                    .hint("give one of them another port, or its Gateway another address");
            }
            continue;
        };
        let asked = |tls: &IstioServerTls| {
            tls.clients.as_ref().map(|clients| (clients.authorities.path.clone(), clients.is_optional))
        };
        if asked(own) != asked(other) {
            report
                .objection(*place, "in eddy, all servers of a port need the same client certificate settings")
                .hint(
                    "write the same `mode` and certificate authorities, or give its Gateway another address",
                );
        }
        certificates.extend(own.certificates.iter().cloned());
        version_min = version_min.max(own.version_min);
    }
    let tls = first?;
    Some(ListenerTlsConfig {
        is_strict: true,
        version_min,
        clients: tls.clients.clone(),
        ..ListenerTlsConfig::new(certificates)
    })
}

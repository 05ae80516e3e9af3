//! TLS to endpoints, as defined by DestinationRules.

use eddy_ids::Shared;
use eddy_model::{ClusterTlsConfig, IdentityFiles, ServerCheck};
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;
use eddy_tls::is_server_name;

use super::credentials::Credentials;
use super::spec::ClientTlsSpec;

impl Credentials<'_> {
    /// Returns the TLS settings for the endpoints of a host, or `None` for cleartext.
    pub(super) fn upstream_tls(
        self,
        spec: &Spanned<ClientTlsSpec>,
        host: &str,
        report: &mut ProblemReport,
    ) -> Option<ClusterTlsConfig> {
        let mode = spec.value.mode.as_ref()?;
        let shows_own = match &*mode.value.0 {
            "DISABLE" => return None,
            "ISTIO_MUTUAL" => {
                report.warning(
                    mode.place,
                    "eddy is not part of the mesh: it connects to these endpoints without TLS",
                );
                return None;
            }
            "SIMPLE" => false,
            "MUTUAL" => true,
            other => {
                let message = format!(
                    "expected `SIMPLE`, `MUTUAL`, `ISTIO_MUTUAL` or `DISABLE`, found `{}`",
                    shown(other)
                );
                report.error(mode.place, message);
                return None;
            }
        };
        let mut tls = ClusterTlsConfig::new(self.written(spec.place));
        let of_secret = spec.value.secret.as_ref().and_then(|secret| self.authorities(&secret.value));
        let file = spec.value.authorities.as_ref().filter(|file| &*file.value.0 != "system");
        tls.authorities = of_secret.or_else(|| file.map(|file| self.file(file)));
        if shows_own {
            tls.identity = self.identity(spec, report);
        }
        if spec.value.takes_all.as_ref().is_some_and(|takes_all| takes_all.value) {
            tls.check = ServerCheck::Nothing;
            report
                .warning(spec.place, "endpoint certificates are not verified: an attacker in between can read and change everything")
                .hint("name the certificate authority with `caCertificates` or `credentialName`, and leave `insecureSkipVerify` out");
        }
        tls.server_name = self.name(spec, host, report);
        Some(tls)
    }

    /// Returns the server name sent to endpoints, which their certificates must be for.
    fn name(
        self,
        spec: &Spanned<ClientTlsSpec>,
        host: &str,
        report: &mut ProblemReport,
    ) -> Option<Shared<str>> {
        let ClientTlsSpec { server_name, names, .. } = &spec.value;
        let names = names.as_ref().map(|names| names.value.as_slice()).unwrap_or_default();
        let asked = server_name.as_ref().or_else(|| names.first());
        let Some(asked) = asked else {
            report
                .warning(
                    spec.place,
                    format!(
                        "eddy sends the SNI name `{}`, not the host of each request as Istio does",
                        shown(host)
                    ),
                )
                .hint("write `sni`");
            return is_server_name(host).then(|| host.into());
        };
        let name = asked.value.0.to_ascii_lowercase();
        if !is_server_name(&name) {
            report.error(asked.place, format!("`{}` is not a valid server name", shown(&name)));
            return None;
        }
        if let Some(other) = names.iter().find(|other| !other.value.0.eq_ignore_ascii_case(&name)) {
            report
                .objection(
                    other.place,
                    format!(
                        "eddy checks certificates only for the SNI name that it sends, `{}`",
                        shown(&name)
                    ),
                )
                .hint("write the same name in `sni` and `subjectAltNames`");
        }
        Some(name.into())
    }

    /// Returns the certificate that eddy shows to endpoints; an unavailable one goes to `report`.
    fn identity(self, spec: &Spanned<ClientTlsSpec>, report: &mut ProblemReport) -> Option<IdentityFiles> {
        if let Some(secret) = &spec.value.secret {
            return match self.certificate(&secret.value) {
                Ok(files) => Some(IdentityFiles { chain: files.chain, key: files.key }),
                Err(fault) => {
                    report
                        .error(secret.place, fault)
                        .hint("add it to the manifests, with `tls.crt` and `tls.key`");
                    None
                }
            };
        }
        let (Some(chain), Some(key)) = (&spec.value.chain, &spec.value.key) else {
            report
                .error(spec.place, "`MUTUAL` needs a certificate and its private key")
                .hint("write `credentialName`, or `clientCertificate` and `privateKey`");
            return None;
        };
        Some(IdentityFiles { chain: self.file(chain), key: self.file(key) })
    }
}

//! How a listener is served over TLS, and what both sides say alike.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eddy_tls::{TlsVersion, WrittenPath, WrittenPlace};

use super::reader::Reader;
use crate::problem::{Place, shown};
use crate::tls::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
use crate::yaml::Node;

impl Reader<'_> {
    /// The `transport_socket` of a filter chain; `None` if it is none that eddy has, which was noted.
    pub(super) fn downstream_tls(&mut self, node: &Node<'_>, file: &Arc<str>) -> Option<ListenerTlsConfig> {
        self.pass(node, &["name"]);
        let (config, _) =
            self.get(node, "typed_config").and_then(|config| self.typed(config, &[DOWNSTREAM]))?;
        let Some(common) = self.get(config, "common_tls_context") else {
            self.report.error(config.place, "a `common_tls_context` is missing: it names the certificates");
            return None;
        };
        // Which of these protocols are spoken, the listener says.
        self.pass(common, &["alpn_protocols"]);
        let certificates = self.certificates(common, file);
        if certificates.is_empty() {
            self.report
                .error(common.place, "without a certificate nobody can be served over TLS")
                .hint("write `tls_certificates`; eddy takes certificates from files");
            return None;
        }
        let is_required = self.is_true(config, "require_client_certificate");
        let authorities =
            self.get(common, "validation_context").and_then(|context| self.file(context, "trusted_ca", file));
        if is_required && authorities.is_none() {
            self.report
                .error(config.place, "clients are to show certificates, and no authority is named")
                .hint("write `validation_context: {trusted_ca: {filename: /etc/clients.pem}}`");
        }
        let clients = authorities.map(|authorities| ClientCertificatesConfig {
            authorities,
            is_optional: !is_required,
            revoked: None,
        });
        Some(ListenerTlsConfig {
            certificates,
            is_strict: false,
            version_min: self.version_min(common),
            clients,
            handshake_timeout: HANDSHAKE_TIMEOUT,
        })
    }

    /// The certificates and keys of a `CommonTlsContext`.
    pub(super) fn certificates(&mut self, node: &Node<'_>, file: &Arc<str>) -> Vec<CertificateFiles> {
        let mut certificates = Vec::new();
        for certificate in self.list(node, "tls_certificates") {
            let chain = self.file(certificate, "certificate_chain", file);
            let key = self.file(certificate, "private_key", file);
            let ocsp = self.file(certificate, "ocsp_staple", file);
            match (chain, key) {
                (Some(chain), Some(key)) => {
                    certificates.push(CertificateFiles { chain, key, ocsp, hosts: None })
                }
                _ => {
                    self.report
                        .error(
                            certificate.place,
                            "a certificate has a `certificate_chain` and a `private_key`",
                        )
                        .hint("each is a file: `{filename: /etc/site.pem}`");
                }
            }
        }
        certificates
    }

    /// The least version of a `CommonTlsContext`.
    pub(super) fn version_min(&mut self, node: &Node<'_>) -> TlsVersion {
        let Some(parameters) = self.get(node, "tls_params") else { return TlsVersion::default() };
        match self.text(parameters, "tls_maximum_protocol_version") {
            None | Some("TLS_AUTO" | "0" | "TLSv1_3" | "4") => {}
            Some(other) => {
                let message = format!("eddy has no `tls_maximum_protocol_version: {}`", shown(other));
                self.report
                    .objection(parameters.place, message)
                    .hint("TLS 1.3 is always spoken: leave it out");
            }
        }
        match self.text(parameters, "tls_minimum_protocol_version") {
            Some("TLSv1_3" | "4") => TlsVersion::Tls13,
            Some("TLSv1_0" | "1" | "TLSv1_1" | "2") => {
                self.report.warning(parameters.place, "TLS 1.2 is the least that eddy speaks");
                TlsVersion::Tls12
            }
            _ => TlsVersion::Tls12,
        }
    }

    /// The file that a `DataSource` names. A relative path is taken from where eddy runs, as Envoy does.
    pub(super) fn file(&mut self, node: &Node<'_>, name: &str, file: &Arc<str>) -> Option<WrittenPath> {
        let source = self.get(node, name)?;
        let written = self.get(source, "filename")?;
        let path = self.word(source, "filename")?;
        Some(WrittenPath { path: PathBuf::from(path), text: None, place: written_place(written.place, file) })
    }
}

/// A place in a file, for problems that show later.
pub(super) fn written_place(place: Place, file: &Arc<str>) -> WrittenPlace {
    WrittenPlace { file: Arc::clone(file), line: place.line, column: place.column, length: place.length }
}

const DOWNSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";

/// Longest time to the end of a handshake; Envoy's API has none by default.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

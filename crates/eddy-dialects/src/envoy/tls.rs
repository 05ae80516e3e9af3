//! TLS of listeners, and the TLS settings that listeners and clusters share.

use std::path::PathBuf;
use std::time::Duration;

use eddy_config::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
use eddy_ids::Shared;
use eddy_model::{InlineText, SourcePosition, TlsVersion, WrittenPath};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::reader::EnvoyReader;
use super::shape::base64;

impl EnvoyReader<'_> {
    /// Reads the `transport_socket` of a filter chain. Returns `None` when eddy does not support it; the problem is
    /// reported.
    pub(super) fn downstream_tls(&mut self, node: &YamlNode<'_>) -> Option<ListenerTlsConfig> {
        let tls = self.downstream_context(node);
        if tls.is_none() {
            // The fields left unread because of the problem must not be reported.
            self.mark_all_read(node);
        }
        tls
    }

    fn downstream_context(&mut self, node: &YamlNode<'_>) -> Option<ListenerTlsConfig> {
        let (config, _) = self.typed_config(node, &[DOWNSTREAM])?;
        let Some(common) = self.get(config, "common_tls_context") else {
            self.report.error(config.place, "`common_tls_context` is missing: it names the certificates");
            return None;
        };
        // The listener's own settings decide which of these protocols are spoken.
        self.pass(common, &["alpn_protocols"]);
        let certificates = self.certificates(common)?;
        if certificates.is_empty() {
            self.report
                .error(common.place, "TLS needs a certificate")
                .hint("write `tls_certificates`, with a `certificate_chain` and a `private_key`");
            return None;
        }
        let is_required = self.is_true(config, "require_client_certificate");
        let context = self.validation_context(common).ok()?;
        let authorities = context.map_or(DataSource::Absent, |context| self.source(context, "trusted_ca"));
        if is_required && matches!(authorities, DataSource::Absent) {
            self.report
                .error(
                    config.place,
                    "client certificates are required, but no certificate authority is configured",
                )
                .hint("write `validation_context: {trusted_ca: {filename: /etc/clients.pem}}`");
        }
        let revoked = context.and_then(|context| self.source(context, "crl").into_path());
        if let (Some(revoked), DataSource::Absent) = (&revoked, &authorities) {
            let place = context.map_or(config.place, |context| context.place);
            let name = revoked.path.display();
            self.report
                .error(place, format!("`{name}` revokes nothing without a certificate authority"))
                .hint("add `trusted_ca` next to `crl`");
        }
        let clients = authorities.into_path().map(|authorities| ClientCertificatesConfig {
            authorities,
            is_optional: !is_required,
            revoked,
        });
        Some(ListenerTlsConfig {
            certificates,
            is_strict: false,
            version_min: self.version_min(common),
            clients,
            handshake_timeout: HANDSHAKE_TIMEOUT,
        })
    }

    /// Reads the certificates and keys of a `CommonTlsContext`. Returns `None` when one is unavailable; the problem is
    /// reported.
    pub(super) fn certificates(&mut self, node: &YamlNode<'_>) -> Option<Vec<CertificateFiles>> {
        let mut certificates = Vec::new();
        let mut is_refused = self.refuse(
            node,
            &["tls_certificate_sds_secret_configs", "tls_certificate_provider_instance"],
            "eddy does not load certificates from another service",
            "write them under `tls_certificates`",
        );
        for certificate in self.list(node, "tls_certificates") {
            self.pass(certificate, &["watched_directory"]);
            is_refused |= self.refuse(
                certificate,
                &["pkcs12", "password", "private_key_provider"],
                "eddy reads certificates and keys only as unencrypted PEM",
                "write `certificate_chain` and `private_key`",
            );
            let [chain, key, ocsp] = ["certificate_chain", "private_key", "ocsp_staple"]
                .map(|name| self.source(certificate, name));
            match (chain, key) {
                (DataSource::Given(chain), DataSource::Given(mut key)) => {
                    if key.text.is_some() {
                        // Problems are shown with their source line, and that line would reveal the key.
                        key.place = self.source_position(node.place);
                    }
                    certificates.push(CertificateFiles { chain, key, ocsp: ocsp.into_path(), hosts: None });
                }
                (DataSource::Refused, _) | (_, DataSource::Refused) => is_refused = true,
                // The missing part was rejected and reported already.
                _ if is_refused => {}
                _ => {
                    self.report
                        .error(
                            certificate.place,
                            "a certificate needs a `certificate_chain` and a `private_key`",
                        )
                        .hint(SOURCE_HINT);
                    is_refused = true;
                }
            }
        }
        (!is_refused).then_some(certificates)
    }

    /// Returns the `validation_context` of a `CommonTlsContext`, if there is one.
    ///
    /// # Errors
    /// [`ErrorReported`] when another service provides the context; the problem is reported.
    pub(super) fn validation_context<'n, 't>(
        &mut self,
        node: &'n YamlNode<'t>,
    ) -> Result<Option<&'n YamlNode<'t>>, ErrorReported> {
        let names = [
            "validation_context_sds_secret_config",
            "combined_validation_context",
            "validation_context_certificate_provider_instance",
        ];
        let message = "eddy does not load certificate authorities from another service";
        if self.refuse(node, &names, message, "write a `validation_context`") {
            return Err(ErrorReported);
        }
        Ok(self.get(node, "validation_context"))
    }

    /// Reports each of the fields that is given, because nothing can replace it; returns whether there was one.
    fn refuse(&mut self, node: &YamlNode<'_>, names: &[&str], message: &str, hint: &str) -> bool {
        let mut is_refused = false;
        for name in names {
            if let Some(field) = self.get(node, name) {
                let is_empty = matches!(&field.form, YamlNodeKind::List(elements) if elements.is_empty());
                self.pass(node, &[*name]);
                if !is_empty {
                    self.report.error(field.place, format!("{message}: `{name}`")).hint(hint);
                    is_refused = true;
                }
            }
        }
        is_refused
    }

    /// Reads the minimum TLS version of a `CommonTlsContext`.
    pub(super) fn version_min(&mut self, node: &YamlNode<'_>) -> TlsVersion {
        let Some(parameters) = self.get(node, "tls_params") else { return TlsVersion::default() };
        match self.text(parameters, "tls_maximum_protocol_version") {
            None | Some("TLS_AUTO" | "0" | "TLSv1_3" | "4") => {}
            Some(other) => {
                let message = format!("`tls_maximum_protocol_version: {}` is not supported", shown(other));
                self.report
                    .objection(parameters.place, message)
                    .hint("TLS 1.3 is always enabled: leave it out");
            }
        }
        match self.text(parameters, "tls_minimum_protocol_version") {
            Some("TLSv1_3" | "4") => TlsVersion::Tls13,
            Some("TLSv1_0" | "1" | "TLSv1_1" | "2") => {
                self.report.warning(parameters.place, "TLS 1.2 is the lowest version that eddy supports");
                TlsVersion::Tls12
            }
            _ => TlsVersion::Tls12,
        }
    }

    /// Reads a `DataSource`: a file, or content in the configuration itself. A relative path is resolved against the
    /// working directory of eddy, as in Envoy.
    pub(super) fn source(&mut self, node: &YamlNode<'_>, name: &str) -> DataSource {
        let Some(source) = self.get(node, name) else { return DataSource::Absent };
        // eddy watches every file that it reads.
        self.pass(source, &["watched_directory"]);
        if let Some(path) = self.word(source, "filename") {
            let place = self.get(source, "filename").map_or(source.place, |written| written.place);
            let path = PathBuf::from(path);
            return DataSource::Given(WrittenPath { path, text: None, place: self.source_position(place) });
        }
        if let Some(variable) = self.get(source, "environment_variable") {
            self.report
                .error(variable.place, format!("eddy does not read `{name}` from an environment variable"))
                .hint(SOURCE_HINT);
            return DataSource::Refused;
        }
        let plain = self.word(source, "inline_string").map(|text| text.as_bytes().into());
        let bytes = plain.or_else(|| Some(base64(self.word(source, "inline_bytes")?)?.into()));
        match bytes {
            Some(bytes) => {
                let place = self.source_position(source.place);
                // Files are identified by name, so inline content gets one.
                let path = format!("{name} in line {}, column {}", place.line, place.column);
                DataSource::Given(WrittenPath { path: path.into(), text: Some(InlineText(bytes)), place })
            }
            None => {
                self.report.error(source.place, format!("`{name}` is empty")).hint(SOURCE_HINT);
                DataSource::Refused
            }
        }
    }

    /// Converts a source position, for problems that are found later.
    pub(super) fn source_position(&self, place: SourceSpan) -> SourcePosition {
        let SourceSpan { line, column, length, .. } = place;
        SourcePosition { file: Shared::clone(&self.file), line, column, length }
    }
}

/// Error whose problem is reported already.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorReported;

/// Content of a `DataSource` of the API.
#[derive(Clone, Debug)]
pub(super) enum DataSource {
    /// The source is not given.
    Absent,
    /// The content is unavailable; the problem is reported.
    Refused,
    /// File name or inline content.
    Given(WrittenPath),
}

impl DataSource {
    /// Returns the content, if there is any.
    pub(super) fn into_path(self) -> Option<WrittenPath> {
        match self {
            Self::Given(written) => Some(written),
            Self::Absent | Self::Refused => None,
        }
    }
}

const DOWNSTREAM: &str = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";

const SOURCE_HINT: &str = "write a file name, such as `{filename: /etc/site.pem}`, or the content as `inline_string` or `inline_bytes`";

/// Timeout of a TLS handshake; Envoy's API has none by default.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

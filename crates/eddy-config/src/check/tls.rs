//! TLS: which files, and how.

use std::time::Duration;

use super::cluster::set_time;
use super::filter::folder_of;
use crate::problem::{Report, SourceText};
use crate::read::At;
use crate::spec::{CertificateSpec, ClientCertificatesSpec, ListenerTlsSpec};
use crate::tls::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig, WrittenPath};
use crate::value::FilePath;

/// Checks what is said of a listener's TLS; the files are read by others.
pub(super) fn check_tls(
    spec: &At<ListenerTlsSpec>,
    sources: &[SourceText],
    report: &mut Report,
) -> Option<ListenerTlsConfig> {
    let spec = &spec.value;
    let mut handshake_timeout = HANDSHAKE_TIMEOUT;
    set_time(&mut handshake_timeout, spec.handshake_timeout);
    let certificates = spec.certificates.as_ref()?;
    if certificates.value.is_empty() {
        report
            .error(certificates.place, "without a certificate nobody can be served over TLS")
            .hint("for example `certificates: [{chain: site.crt, key: site.key}]`");
    }
    if certificates.value.len() > CERTIFICATES_MAX {
        report.error(certificates.place, format!("a listener has at most {CERTIFICATES_MAX} certificates"));
    }
    // What is missing was noted by the reader.
    let clients = match &spec.clients {
        Some(clients) => Some(check_clients(&clients.value, sources)?),
        None => None,
    };
    let files: Option<Vec<_>> =
        certificates.value.iter().map(|certificate| check_files(&certificate.value, sources)).collect();
    Some(ListenerTlsConfig {
        certificates: files?,
        is_strict: spec.strict_names.as_ref().is_some_and(|strict| strict.value),
        version_min: spec.version_min.as_ref().map(|version| version.value.0).unwrap_or_default(),
        clients,
        handshake_timeout,
    })
}

fn check_files(spec: &CertificateSpec, sources: &[SourceText]) -> Option<CertificateFiles> {
    let written = |path: &At<FilePath>| written(path, sources);
    Some(CertificateFiles {
        chain: written(spec.chain.as_ref()?),
        key: written(spec.key.as_ref()?),
        ocsp: spec.ocsp.as_ref().map(written),
    })
}

fn check_clients(spec: &ClientCertificatesSpec, sources: &[SourceText]) -> Option<ClientCertificatesConfig> {
    Some(ClientCertificatesConfig {
        authorities: written(spec.authorities.as_ref()?, sources),
        is_optional: spec.optional.as_ref().is_some_and(|optional| optional.value),
    })
}

fn written(path: &At<FilePath>, sources: &[SourceText]) -> WrittenPath {
    let source = sources.get(path.place.source as usize);
    WrittenPath {
        path: folder_of(path.place, sources).join(&path.value.0),
        file: source.map_or_else(|| "".into(), |source| source.path.clone()),
        line: path.place.line,
        column: path.place.column,
        length: path.place.length,
    }
}

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Most certificates of a listener; each is some 10 KiB.
const CERTIFICATES_MAX: usize = 10_000;

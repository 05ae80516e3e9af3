//! Checks TLS settings, towards clients and towards endpoints.

use eddy_config::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
use eddy_model::{ClusterTlsConfig, EndpointAddress, EndpointConfig, IdentityFiles, ServerCheck};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, shown};
use eddy_spec::read::Spanned;
use eddy_spec::spec::{
    CertificateSpec, ClientCertificatesSpec, ClusterTlsSpec, IdentitySpec, ListenerTlsSpec,
};
use eddy_spec::value::FilePath;
use eddy_tls::is_server_name;

use super::acme::Orders;
use super::setting::set;
use super::written_path::{source_position, written};

/// Checks the TLS settings of a listener; the files themselves are read elsewhere.
pub(super) fn check_tls(
    spec: &Spanned<ListenerTlsSpec>,
    sources: &[SourceText],
    orders: &mut Orders,
    report: &mut ProblemReport,
) -> Option<ListenerTlsConfig> {
    let spec = &spec.value;
    let certificates = spec.certificates.as_ref()?;
    if certificates.value.is_empty() {
        report
            .error(certificates.place, "TLS needs a certificate")
            .hint("for example `certificates: [{chain: site.crt, key: site.key}]`");
    }
    if certificates.value.len() > CERTIFICATES_MAX {
        report.error(certificates.place, format!("a listener has at most {CERTIFICATES_MAX} certificates"));
    }
    // The reader has reported missing keys.
    let clients = match &spec.clients {
        Some(clients) => Some(check_clients(&clients.value, sources)?),
        None => None,
    };
    let asking =
        spec.clients.as_ref().filter(|_| clients.as_ref().is_some_and(|clients| !clients.is_optional));
    if let Some(asking) = asking
        && certificates.value.iter().any(|certificate| certificate.value.acme.is_some())
    {
        orders.check_clients(asking.place, report);
    }
    // All certificates are checked, even after an invalid one.
    let files: Vec<_> = certificates
        .value
        .iter()
        .map(|certificate| check_certificate(certificate, sources, orders, report))
        .collect();
    let mut tls =
        ListenerTlsConfig { clients, ..ListenerTlsConfig::new(files.into_iter().collect::<Option<_>>()?) };
    set(&mut tls.is_strict, spec.strict_names);
    set(&mut tls.version_min, spec.version_min);
    set(&mut tls.handshake_timeout, spec.handshake_timeout);
    Some(tls)
}

fn check_certificate(
    spec: &Spanned<CertificateSpec>,
    sources: &[SourceText],
    orders: &mut Orders,
    report: &mut ProblemReport,
) -> Option<CertificateFiles> {
    let Spanned { value: spec, place } = spec;
    if let Some(hosts) = &spec.acme {
        if let Some(key) = &spec.key {
            report
                .error(key.place, "eddy generates the key of an ordered certificate")
                .hint("leave `key` out");
        }
        return orders.add(hosts, sources, report);
    }
    if spec.chain.is_some() && spec.key.is_none() {
        report.error(*place, "a certificate needs the key `key`").hint("for example `key: site.key`");
    }
    let written = |path: &Spanned<FilePath>| written(path, sources);
    Some(CertificateFiles {
        chain: written(spec.chain.as_ref()?),
        key: written(spec.key.as_ref()?),
        ocsp: spec.ocsp.as_ref().map(written),
        hosts: None,
    })
}

fn check_clients(spec: &ClientCertificatesSpec, sources: &[SourceText]) -> Option<ClientCertificatesConfig> {
    Some(ClientCertificatesConfig {
        authorities: written(spec.authorities.as_ref()?, sources),
        is_optional: spec.optional.as_ref().is_some_and(|optional| optional.value),
        revoked: spec.crl.as_ref().map(|path| written(path, sources)),
    })
}

/// Checks the TLS settings of a cluster.
pub(super) fn check_cluster_tls(
    spec: Spanned<ClusterTlsSpec>,
    endpoints: &[EndpointConfig],
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> ClusterTlsConfig {
    let Spanned { value: spec, place } = spec;
    let mut tls = ClusterTlsConfig::new(source_position(place, sources));
    tls.server_name = spec.server_name.map(|name| name.value.0);
    set(&mut tls.sends_name, spec.send_name);
    tls.authorities = spec.authorities.as_ref().map(|path| written(path, sources));
    tls.identity = spec.certificate.as_ref().and_then(|files| check_identity(&files.value, sources));
    set(&mut tls.version_min, spec.version_min);
    set(&mut tls.check, spec.verify);
    if let Some(verify) = spec.verify.filter(|verify| verify.value == ServerCheck::Nothing) {
        report
            .warning(verify.place, "endpoint certificates are not verified: an attacker in between can read and change everything")
            .hint("set `authorities` to the issuing authority, and leave `verify` out");
    }
    check_names(&tls, endpoints, place, report);
    tls
}

/// Reports endpoints for which no certificate can be issued.
fn check_names(
    tls: &ClusterTlsConfig,
    endpoints: &[EndpointConfig],
    place: SourceSpan,
    report: &mut ProblemReport,
) {
    if tls.server_name.is_some() {
        return;
    }
    for endpoint in endpoints {
        let nameless = match &endpoint.address {
            EndpointAddress::Unix(path) => format!("unix:{}", path.display()),
            EndpointAddress::Name { host, .. } if !is_server_name(host) => host.to_string(),
            EndpointAddress::Name { .. } | EndpointAddress::Socket(_) => continue,
        };
        report
            .error(place, format!("no certificate can be issued for the endpoint `{}`", shown(&nameless)))
            .hint("set `server_name` to the name in its certificate");
    }
}

fn check_identity(spec: &IdentitySpec, sources: &[SourceText]) -> Option<IdentityFiles> {
    // The reader has reported missing keys.
    let (chain, key) = (spec.chain.as_ref()?, spec.key.as_ref()?);
    Some(IdentityFiles { chain: written(chain, sources), key: written(key, sources) })
}

/// Maximum number of certificates of a listener; each takes some 10 KiB.
const CERTIFICATES_MAX: usize = 10_000;

//! Checks certificates that are ordered through ACME: the authority and the hosts.

use std::collections::HashMap;
use std::path::PathBuf;

use eddy_config::{AcmeChallenge, AcmeConfig, CertificateFiles, ListenerConfig, OrderedCertificate, Serve};
use eddy_model::WrittenPath;
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::read::{OneOrMany, Spanned};
use eddy_spec::spec::AcmeSpec;
use eddy_spec::value::CertifiedHost;

use super::filter::folder_of;
use super::names::format_position;
use super::written_path::{source_position, written};

/// Collects the certificates that listeners order.
#[derive(Debug, Default)]
pub struct Orders {
    /// The authority; `None` if none is configured or its configuration has errors.
    authority: Option<AcmeConfig>,
    /// Position of the authority's configuration, even if it has errors.
    named: Option<SourceSpan>,
    /// First position of each certificate, by its first host, which names it.
    places: HashMap<String, SourceSpan>,
}

impl Orders {
    /// Creates the collection for the authority of the configuration.
    pub fn new(spec: Option<&Spanned<AcmeSpec>>, sources: &[SourceText], report: &mut ProblemReport) -> Self {
        let authority = spec.and_then(|spec| check_authority(spec, sources, report));
        Self { authority, named: spec.map(|spec| spec.place), places: HashMap::new() }
    }

    /// Adds a certificate that a listener orders, and returns the files in which it will be stored.
    pub fn add(
        &mut self,
        hosts: &Spanned<OneOrMany<CertifiedHost>>,
        sources: &[SourceText],
        report: &mut ProblemReport,
    ) -> Option<CertificateFiles> {
        let place = hosts.place;
        let hosts = distinct(OneOrMany::into_many(hosts.clone()), report);
        let Some(first) = hosts.first() else {
            report
                .error(place, "a certificate needs at least one host")
                .hint("for example `acme: [www.example.com]`");
            return None;
        };
        if hosts.len() > HOSTS_MAX {
            report.error(place, format!("a certificate has at most {HOSTS_MAX} hosts"));
        }
        if self.named.is_none() {
            report
                .error(place, "no certificate authority is configured")
                .hint("add `acme: {store: /var/lib/eddy/acme, terms_accepted: true}` at the top level");
        }
        let authority = self.authority.as_mut()?;
        let file = authority.folder.join(format!("{first}.pem"));
        match authority.certificates.iter().find(|certificate| certificate.file == file) {
            Some(known) if known.hosts != hosts => {
                let before = self.places.get(first).expect("each ordered certificate has a position");
                let message = format!(
                    "a certificate whose first host is `{first}` is ordered for other hosts in {}",
                    format_position(*before, place, sources)
                );
                report
                    .error(place, message)
                    .hint("list the same hosts in both places, or another host first");
            }
            Some(_) => {}
            None => {
                self.places.insert(first.clone(), place);
                authority.certificates.push(OrderedCertificate { hosts, file: file.clone() });
            }
        }
        let written = WrittenPath { path: file, text: None, place: source_position(place, sources) };
        Some(CertificateFiles { chain: written.clone(), key: written, ocsp: None, hosts: None })
    }

    /// Reports client certificates that are required where a certificate is ordered: an ACME authority presents none
    /// when it verifies a host with `tls-alpn-01`.
    pub(crate) fn check_clients(&self, place: SourceSpan, report: &mut ProblemReport) {
        if self.authority.as_ref().is_some_and(|authority| authority.challenge == AcmeChallenge::TlsAlpn01) {
            report
                .error(
                    place,
                    "the authority presents no client certificate when it verifies hosts by `tls-alpn-01`",
                )
                .hint("verify hosts over HTTP: `challenge: http-01` under the top-level `acme`");
        }
    }

    /// Returns the authority with all certificates that are ordered from it; `None` if there are none.
    pub fn finish(self, listeners: &[ListenerConfig], report: &mut ProblemReport) -> Option<AcmeConfig> {
        let (authority, place) = (self.authority?, self.named?);
        if authority.certificates.is_empty() {
            report
                .warning(place, "no certificate is ordered: no listener certificate has `acme`")
                .hint("for example `tls: {certificates: [{acme: www.example.com}]}`");
            return None;
        }
        let serves_http = |listener: &ListenerConfig| !matches!(listener.serve, Serve::Forward(_));
        let mut cleartext = listeners.iter().filter(|listener| listener.tls.is_none());
        if authority.challenge == AcmeChallenge::Http01 && !cleartext.any(serves_http) {
            report
                .warning(place, "hosts are verified over cleartext HTTP, but no listener serves it")
                .hint("add a listener for port 80, or leave `challenge` out");
        }
        Some(authority)
    }
}

fn check_authority(
    spec: &Spanned<AcmeSpec>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Option<AcmeConfig> {
    let Spanned { value: spec, place } = spec;
    // The reader has reported missing keys.
    let (store, terms) = (spec.store.as_ref()?, spec.terms_accepted.as_ref()?);
    if !terms.value {
        report
            .error(terms.place, "the terms of service of the authority must be accepted")
            .hint("read them (the `directory` links to them), and write `terms_accepted: true`");
    }
    let directory = spec.directory.as_ref().map_or(LETS_ENCRYPT, |directory| &directory.value.0);
    let store: PathBuf = folder_of(store.place, sources).join(&store.value.0);
    Some(AcmeConfig {
        directory: directory.to_owned(),
        email: spec.email.as_ref().map(|email| email.value.0.clone()),
        challenge: spec.challenge.map(|challenge| challenge.value).unwrap_or_default(),
        profile: spec.profile.as_ref().map(|profile| profile.value.0.to_string()),
        authorities: spec.authorities.as_ref().map(|path| written(path, sources)),
        folder: store.join(folder_name(directory)),
        certificates: Vec::new(),
        place: source_position(*place, sources),
    })
}

/// Returns the directory name for an ACME directory URL: each authority has its own accounts and certificates.
fn folder_name(directory: &str) -> String {
    let rest = directory.strip_prefix("https://").unwrap_or(directory).trim_end_matches('/');
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    rest.chars().map(plain).take(FOLDER_BYTES_MAX).collect()
}

fn distinct(hosts: Vec<Spanned<CertifiedHost>>, report: &mut ProblemReport) -> Vec<String> {
    let mut known = Vec::with_capacity(hosts.len());
    for Spanned { value: CertifiedHost(host), place } in hosts {
        if known.contains(&host) {
            report.error(place, format!("`{host}` is already in this list"));
        } else {
            known.push(host);
        }
    }
    known
}

const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";
/// Limit of the best-known authority (Let's Encrypt).
const HOSTS_MAX: usize = 100;
/// Maximum length of a directory name, below the usual limit of file systems.
const FOLDER_BYTES_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_acme_directory_has_its_own_folder() {
        assert_eq!(folder_name(LETS_ENCRYPT), "acme-v02.api.letsencrypt.org_directory");
        assert_eq!(folder_name("https://[::1]:14000/dir/"), "___1__14000_dir");
        assert_ne!(folder_name("https://a.test/acme/one"), folder_name("https://a.test/acme/two"));
    }
}

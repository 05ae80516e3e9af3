//! From files to what listeners show.

use std::collections::HashMap;
use std::path::Path;

use eddy_config::{CertificateFiles, Config, ListenerConfig, ListenerTlsConfig, Problem, Serve, Severity};
use eddy_tls::{ClientCertificates, Identity, ServerSettings, ServerTls, TicketKeys};

use super::files::TlsFiles;

/// Makes the TLS of all listeners, or of none.
///
/// # Errors
/// Every file that does not do, at the place where it is named.
pub(crate) fn make_tls(
    config: &Config,
    files: &TlsFiles,
    tickets: &mut TicketKeys,
) -> Result<Vec<Option<ServerTls>>, Vec<Problem>> {
    let mut maker =
        Maker { files, tickets, identities: HashMap::new(), usages: Vec::new(), problems: Vec::new() };
    let made: Vec<Option<ServerTls>> =
        config.listeners.iter().map(|listener| maker.listener(listener)).collect();
    let Maker { usages, problems, .. } = maker;
    if !problems.is_empty() {
        return Err(problems);
    }
    tickets.keep(|usage| usages.iter().any(|used| used == usage));
    Ok(made)
}

struct Maker<'m> {
    files: &'m TlsFiles,
    tickets: &'m mut TicketKeys,
    /// By the files of the chain and the key: listeners often share theirs.
    identities: HashMap<(&'m Path, &'m Path), Identity>,
    /// What session tickets are used for.
    usages: Vec<String>,
    problems: Vec<Problem>,
}

impl<'m> Maker<'m> {
    fn listener(&mut self, listener: &'m ListenerConfig) -> Option<ServerTls> {
        let tls = listener.tls.as_ref()?;
        let identities: Vec<Option<Identity>> =
            tls.certificates.iter().map(|files| self.identity(files)).collect();
        let identities: Vec<Identity> = identities.into_iter().collect::<Option<_>>()?;
        let clients = tls.clients.as_ref().map(|clients| ClientCertificates {
            authorities: self.files.get(&clients.authorities),
            is_optional: clients.is_optional,
        });
        let usage = usage(listener, clients);
        let tickets = self.tickets.take(&usage);
        self.usages.push(usage);
        let settings = tickets.map(|tickets| ServerSettings {
            identities: &identities,
            is_strict: tls.is_strict,
            version_min: tls.version_min,
            clients,
            protocols: protocols(listener),
            tickets,
        });
        let made = settings.map_err(Into::into).and_then(|settings| ServerTls::new(&settings));
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                self.problems.push(place_of(tls)?.problem(Severity::Error, error, None));
                None
            }
        }
    }

    fn identity(&mut self, files: &'m CertificateFiles) -> Option<Identity> {
        let CertificateFiles { chain, key, ocsp } = files;
        let names = (chain.path.as_path(), key.path.as_path());
        if let Some(known) = self.identities.get(&names).filter(|_| ocsp.is_none()) {
            return Some(known.clone());
        }
        let response = ocsp.as_ref().map(|ocsp| self.files.get(ocsp).to_vec());
        match Identity::from_pem(self.files.get(chain), self.files.get(key), response) {
            Ok(identity) => {
                if ocsp.is_none() {
                    self.identities.insert(names, identity.clone());
                }
                Some(identity)
            }
            Err(error) => {
                let file = if error.is_of_key() { key } else { chain };
                self.problems.push(file.problem(Severity::Error, error, None));
                None
            }
        }
    }
}

/// What is offered to be spoken inside. What is passed on as it is need not be HTTP/2.
fn protocols(listener: &ListenerConfig) -> &'static [&'static [u8]] {
    let is_forward = matches!(listener.serve, Serve::Forward(_));
    if listener.http2.over_tls && !is_forward { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] }
}

/// What a session ticket may be used for: it says whom the client was shown to be, so that it holds only at the listener
/// that gave it out, and while that takes the same clients.
fn usage(listener: &ListenerConfig, clients: Option<ClientCertificates<'_>>) -> String {
    let name = &listener.name;
    match clients {
        None => format!("{name} serves everybody"),
        Some(ClientCertificates { authorities, is_optional }) => {
            format!("{name} asks, {is_optional}, {}", String::from_utf8_lossy(authorities))
        }
    }
}

/// The file to name where what is wrong is of no certificate: that of the authorities.
fn place_of(tls: &ListenerTlsConfig) -> Option<&eddy_config::WrittenPath> {
    tls.clients.as_ref().map(|clients| &clients.authorities).or_else(|| tls.files().next())
}

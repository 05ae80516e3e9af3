//! Certificates, keys and authorities, parsed once for all their uses.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use eddy_config::{AcmeConfig, CertificateFiles, GatewayConfig, ListenerTlsConfig};
use eddy_model::{ClusterTlsConfig, IdentityFiles, ServerCheck, SourcePosition, WrittenPath};
use eddy_spec::problem::{Problem, Severity};
use eddy_tls::{Authorities, Identity, IdentityError, Revocations, TlsError};

use super::files::TlsFiles;

/// Parsed TLS files by listener and cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsParts {
    /// By the listeners' index.
    pub(super) listeners: Vec<Option<ListenerParts>>,
    /// By the clusters' index.
    pub(super) clusters: Vec<Option<ClusterParts>>,
    /// Authorities that verify the ACME authority.
    pub(super) ordering: Option<Authorities>,
}

/// Parsed TLS files of a listener.
#[derive(Clone, Debug)]
pub(super) struct ListenerParts {
    /// Identities in configuration order; `None` for a certificate that was ordered but not issued yet.
    pub(super) identities: Vec<Option<Identity>>,
    /// Authorities of client certificates.
    pub(super) clients: Option<Authorities>,
    /// Revoked client certificates.
    pub(super) revoked: Option<Revocations>,
}

/// Parsed TLS files of a cluster.
#[derive(Clone, Debug)]
pub(super) struct ClusterParts {
    /// Client certificate for endpoints.
    pub(super) identity: Option<Identity>,
    /// Authorities of endpoint certificates.
    pub(super) authorities: Option<Authorities>,
}

impl TlsParts {
    /// Parses the files.
    ///
    /// # Errors
    /// Every invalid file, at the position where it is named.
    pub(crate) fn parse(config: &GatewayConfig, files: &TlsFiles) -> Result<Self, Vec<Problem>> {
        let mut parser = TlsFileParser {
            files,
            acme: config.acme.as_ref(),
            identities: HashMap::new(),
            authorities: HashMap::new(),
            problems: Vec::new(),
        };
        let listeners = config.listeners.iter().map(|one| parser.listener(one.tls.as_ref()?)).collect();
        let clusters = config.clusters.values().map(|one| parser.cluster(one.tls.as_ref()?)).collect();
        let ordering = config.acme.as_ref().and_then(|acme| parser.ordering(acme));
        if parser.problems.is_empty() {
            Ok(Self { listeners, clusters, ordering })
        } else {
            Err(parser.problems)
        }
    }
}

struct TlsFileParser<'f> {
    files: &'f TlsFiles,
    acme: Option<&'f AcmeConfig>,
    /// By the files of chain and key: listeners often share theirs.
    identities: HashMap<(PathBuf, PathBuf), Identity>,
    authorities: HashMap<PathBuf, Authorities>,
    problems: Vec<Problem>,
}

impl TlsFileParser<'_> {
    fn listener(&mut self, tls: &ListenerTlsConfig) -> Option<ListenerParts> {
        let mut is_whole = true;
        let identities = tls.certificates.iter().map(|files| {
            let identity = self.identity(files);
            is_whole &= identity.is_some() || self.is_awaited(files);
            identity
        });
        let identities = identities.collect();
        let clients = match &tls.clients {
            Some(clients) => Some(self.authorities(&clients.authorities)?),
            None => None,
        };
        let revoked = match tls.clients.as_ref().and_then(|clients| clients.revoked.as_ref()) {
            Some(revoked) => Some(self.revocations(revoked)?),
            None => None,
        };
        is_whole.then_some(ListenerParts { identities, clients, revoked })
    }

    fn cluster(&mut self, tls: &ClusterTlsConfig) -> Option<ClusterParts> {
        let identity = match &tls.identity {
            Some(IdentityFiles { chain, key }) => {
                let read = Identity::of_client(self.files.get(chain), self.files.get(key));
                Some(self.noted(read, chain, key)?)
            }
            None => None,
        };
        let authorities = match &tls.authorities {
            Some(named) => Some(self.authorities(named)?),
            None if tls.check == ServerCheck::Nothing => None,
            None => Some(self.of_machine(&tls.place)?),
        };
        Some(ClusterParts { identity, authorities })
    }

    fn ordering(&mut self, acme: &AcmeConfig) -> Option<Authorities> {
        match &acme.authorities {
            Some(named) => self.authorities(named),
            None => self.of_machine(&acme.place),
        }
    }

    /// Whether a certificate was ordered but not issued yet.
    fn is_awaited(&self, files: &CertificateFiles) -> bool {
        self.is_ordered(&files.chain) && !self.files.has(&files.chain)
    }

    fn is_ordered(&self, file: &WrittenPath) -> bool {
        self.acme.is_some_and(|acme| acme.ordered_in(&file.path).is_some())
    }

    fn identity(&mut self, files: &CertificateFiles) -> Option<Identity> {
        if self.is_awaited(files) {
            return None;
        }
        let identity = self.read(files)?;
        Some(match &files.hosts {
            Some(hosts) => identity.presented_for(hosts.clone()),
            None => identity,
        })
    }

    fn read(&mut self, files: &CertificateFiles) -> Option<Identity> {
        let CertificateFiles { chain, key, ocsp, .. } = files;
        let names = (chain.path.clone(), key.path.clone());
        if let Some(known) = self.identities.get(&names).filter(|_| ocsp.is_none()) {
            return Some(known.clone());
        }
        let response = ocsp.as_ref().map(|ocsp| self.files.get(ocsp).to_vec());
        let read = Identity::from_pem(self.files.get(chain), self.files.get(key), response);
        let identity = self.noted(read, chain, key)?;
        if ocsp.is_none() {
            self.identities.insert(names, identity.clone());
        }
        Some(identity)
    }

    fn noted(
        &mut self,
        read: Result<Identity, IdentityError>,
        chain: &WrittenPath,
        key: &WrittenPath,
    ) -> Option<Identity> {
        read.map_err(|error| {
            let file = if error.is_key_error() { key } else { chain };
            let hint = self.is_ordered(file).then(|| ORDER_ANOTHER.to_owned());
            self.problems.push(Problem::about(file, Severity::Error, error, hint));
        })
        .ok()
    }

    fn authorities(&mut self, named: &WrittenPath) -> Option<Authorities> {
        let read = Authorities::from_pem;
        let found = known_or(&mut self.authorities, &named.path, self.files.get(named), read);
        found.map_err(|error| self.problems.push(Problem::about(named, Severity::Error, error, None))).ok()
    }

    fn revocations(&mut self, named: &WrittenPath) -> Option<Revocations> {
        let read = Revocations::from_pem(self.files.get(named));
        read.map_err(|error| self.problems.push(Problem::about(named, Severity::Error, error, None))).ok()
    }

    fn of_machine(&mut self, asking: &SourcePosition) -> Option<Authorities> {
        // Files packed by another version of eddy may lack them.
        let (path, text) =
            self.files.machine().unwrap_or_else(|| (Path::new("the CA certificates of the system"), &[]));
        let found = known_or(&mut self.authorities, path, text, Authorities::of_machine);
        let message = |error| format!("`{}`: {error}", path.display());
        found
            .map_err(|error| {
                self.problems.push(Problem::at(asking, Severity::Error, message(error), None));
            })
            .ok()
    }
}

fn known_or(
    known: &mut HashMap<PathBuf, Authorities>,
    path: &Path,
    text: &[u8],
    read: impl FnOnce(&[u8]) -> Result<Authorities, TlsError>,
) -> Result<Authorities, TlsError> {
    if let Some(known) = known.get(path) {
        return Ok(known.clone());
    }
    let read = read(text)?;
    known.insert(path.to_owned(), read.clone());
    Ok(read)
}

const ORDER_ANOTHER: &str =
    "restore the file, or remove it, and eddy orders another certificate when it starts";

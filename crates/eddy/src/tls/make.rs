//! From what was read to what listeners show, and clusters ask for.

use std::collections::HashMap;

use eddy_config::{Config, ListenerConfig, ListenerTlsConfig, Problem, Serve, Severity};
use eddy_tls::{
    Authorities, ClientCertificates, ClientSettings, ClientTls, Fingerprint, Identity, ServerSettings,
    ServerTls, TicketKeys, WrittenPath,
};
use eddy_upstream::{ClusterConfig, ClusterTlsConfig};
use sha2::{Digest, Sha256};

use super::parts::{ClusterParts, ListenerParts, TlsParts};

/// What goes on from one configuration to the next, as long as nothing that it depends on changes.
#[derive(Debug, Default)]
pub(crate) struct KeptTls {
    /// The keys under which clients carry their sessions.
    tickets: TicketKeys,
    /// What clusters ask for, with the sessions and links under it, by what it was made of.
    clusters: HashMap<Fingerprint, ClientTls>,
}

/// What listeners show and clusters ask for, by their index.
#[derive(Debug)]
pub(crate) struct MadeTls {
    pub(crate) listeners: Vec<Option<ServerTls>>,
    pub(crate) clusters: Vec<Option<ClientTls>>,
}

/// Makes the TLS of all listeners and clusters, or of none.
///
/// # Errors
/// Settings that the library refuses, at the place where they are.
pub(crate) fn make_tls(
    config: &Config,
    parts: &TlsParts,
    kept: &mut KeptTls,
) -> Result<MadeTls, Vec<Problem>> {
    let mut maker = Maker { kept, usages: Vec::new(), prints: Vec::new(), problems: Vec::new() };
    let listeners = config.listeners.iter().zip(&parts.listeners);
    let listeners = listeners.map(|(listener, parts)| maker.listener(listener, parts.as_ref()?)).collect();
    let clusters = config.clusters.iter().zip(&parts.clusters);
    let clusters = clusters.map(|(cluster, parts)| maker.cluster(cluster, parts.as_ref()?)).collect();
    let Maker { kept, usages, prints, problems } = maker;
    if !problems.is_empty() {
        return Err(problems);
    }
    kept.tickets.keep(|usage| usages.iter().any(|used| used == usage));
    kept.clusters.retain(|print, _| prints.contains(print));
    Ok(MadeTls { listeners, clusters })
}

struct Maker<'m> {
    kept: &'m mut KeptTls,
    /// What session tickets are used for.
    usages: Vec<String>,
    /// What clusters are made of.
    prints: Vec<Fingerprint>,
    problems: Vec<Problem>,
}

impl Maker<'_> {
    fn listener(&mut self, listener: &ListenerConfig, parts: &ListenerParts) -> Option<ServerTls> {
        let tls = listener.tls.as_ref()?;
        let is_optional = tls.clients.as_ref().is_some_and(|clients| clients.is_optional);
        let clients =
            parts.clients.as_ref().map(|authorities| ClientCertificates { authorities, is_optional });
        let usage = usage(listener, clients);
        let tickets = self.kept.tickets.take(&usage);
        self.usages.push(usage);
        let settings = tickets.map(|tickets| ServerSettings {
            identities: &parts.identities,
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
                self.problems.push(Problem::about(place_of(tls)?, Severity::Error, error, None));
                None
            }
        }
    }

    fn cluster(&mut self, cluster: &ClusterConfig, parts: &ClusterParts) -> Option<ClientTls> {
        let tls = cluster.tls.as_ref()?;
        let print = print(cluster, tls, parts);
        self.prints.push(print);
        if let Some(known) = self.kept.clusters.get(&print) {
            return Some(known.clone());
        }
        let made = ClientTls::new(&ClientSettings {
            server_name: tls.server_name.as_deref(),
            sends_name: tls.sends_name,
            check: tls.check,
            authorities: parts.authorities.as_ref(),
            identity: parts.identity.as_ref(),
            version_min: tls.version_min,
            protocols: cluster.protocol.offered(),
        });
        match made {
            Ok(made) => {
                self.kept.clusters.insert(print, made.clone());
                Some(made)
            }
            Err(error) => {
                self.problems.push(Problem::at(&tls.place, Severity::Error, error.to_string(), None));
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
            format!("{name} asks, {is_optional}, {:?}", authorities.print())
        }
    }
}

/// Tells what a cluster's TLS is made of apart from anything else; a session with an endpoint says whom it has shown to be,
/// and to whom, so that it goes on only under the same.
fn print(cluster: &ClusterConfig, tls: &ClusterTlsConfig, parts: &ClusterParts) -> Fingerprint {
    let said =
        (&cluster.name, cluster.protocol, &tls.server_name, tls.sends_name, tls.check, tls.version_min);
    let authorities = parts.authorities.as_ref().map(Authorities::print);
    let identity = parts.identity.as_ref().map(Identity::print);
    Sha256::digest(format!("{said:?} {authorities:?} {identity:?}")).into()
}

/// The file to name where what is wrong is of no certificate: that of the authorities.
fn place_of(tls: &ListenerTlsConfig) -> Option<&WrittenPath> {
    tls.clients.as_ref().map(|clients| &clients.authorities).or_else(|| tls.files().next())
}

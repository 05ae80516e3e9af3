//! Compiles the TLS settings of listeners and clusters.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_acme::{AcmeSettings, CertificateSpec, ChallengeKind};
use eddy_config::{
    AcmeChallenge, AcmeConfig, GatewayConfig, ListenerConfig, ListenerTlsConfig, OrderedCertificate, Serve,
};
use eddy_ids::{BySlot, ClusterId};
use eddy_model::{ClusterConfig, ClusterTlsConfig, ServerCheck, SourcePosition, TlsVersion, WrittenPath};
use eddy_spec::problem::{Problem, Severity};
use eddy_tls::{
    Authorities, Challenges, ClientCertificates, ClientSettings, ClientTls, Fingerprint, Identity,
    Revocations, ServerSettings, ServerTls, TicketKeys,
};
use sha2::{Digest, Sha256};

use super::parts::{ClusterParts, ListenerParts, TlsParts};

/// TLS state kept across reloads, as long as nothing it depends on changes.
#[derive(Debug, Default)]
pub(crate) struct KeptTls {
    /// Session ticket keys.
    tickets: TicketKeys,
    /// TLS settings of clusters and of the ACME authority, with their sessions and connections, by fingerprint.
    clusters: HashMap<Fingerprint, ClientTls>,
}

/// Compiled TLS settings of listeners, by their index, and of clusters, and the ACME settings.
#[derive(Debug)]
pub(crate) struct CompiledTls {
    pub(crate) listeners: Vec<Option<ServerTls>>,
    pub(crate) clusters: BySlot<ClusterId, ClientTls>,
    pub(crate) orders: Option<AcmeSettings>,
    /// Challenge responses served over HTTP, if configured.
    pub(crate) challenges: Option<Arc<Challenges>>,
}

/// Compiles the TLS settings of all listeners and clusters, or none.
///
/// # Errors
/// Settings that the TLS library rejects, at their position.
pub(crate) fn make_tls(
    config: &GatewayConfig,
    parts: &TlsParts,
    challenges: &Arc<Challenges>,
    kept: &mut KeptTls,
) -> Result<CompiledTls, Vec<Problem>> {
    let proving = |kind| config.acme.as_ref().filter(|acme| acme.challenge == kind);
    let mut maker = TlsBuilder {
        kept,
        proving: proving(AcmeChallenge::TlsAlpn01).map(|acme| (acme, challenges)),
        usages: Vec::new(),
        prints: Vec::new(),
        problems: Vec::new(),
    };
    let listeners = config.listeners.iter().zip(&parts.listeners);
    let listeners = listeners.map(|(listener, parts)| maker.listener(listener, parts.as_ref()?)).collect();
    let mut clusters = BySlot::default();
    for ((id, cluster), parts) in config.clusters.iter().zip(&parts.clusters) {
        let made = parts.as_ref().and_then(|parts| maker.cluster(cluster, parts));
        made.map(|made| clusters.insert(id, made));
    }
    let orders = config.acme.as_ref().and_then(|acme| maker.orders(acme, parts.ordering.as_ref()?));
    let TlsBuilder { kept, usages, prints, problems, .. } = maker;
    if !problems.is_empty() {
        return Err(problems);
    }
    kept.tickets.keep(|usage| usages.iter().any(|used| used == usage));
    kept.clusters.retain(|print, _| prints.contains(print));
    let challenges = proving(AcmeChallenge::Http01).map(|_| Arc::clone(challenges));
    Ok(CompiledTls { listeners, clusters, orders, challenges })
}

struct TlsBuilder<'m> {
    kept: &'m mut KeptTls,
    /// ACME settings and challenge responses, if validation by TLS is configured.
    proving: Option<(&'m AcmeConfig, &'m Arc<Challenges>)>,
    /// Uses of session ticket keys.
    usages: Vec<String>,
    /// Fingerprints of the clusters' TLS settings.
    prints: Vec<Fingerprint>,
    problems: Vec<Problem>,
}

impl TlsBuilder<'_> {
    fn listener(&mut self, listener: &ListenerConfig, parts: &ListenerParts) -> Option<ServerTls> {
        let tls = listener.tls.as_ref()?;
        let is_optional = tls.clients.as_ref().is_some_and(|clients| clients.is_optional);
        let revoked = parts.revoked.as_ref();
        let clients = parts.clients.as_ref().map(|authorities| ClientCertificates {
            authorities,
            is_optional,
            revoked,
        });
        let usage = usage(listener, clients);
        let identities: Vec<Identity> = parts.identities.iter().flatten().cloned().collect();
        let is_ordered = |acme: &AcmeConfig| tls.files().any(|file| acme.ordered_in(&file.path).is_some());
        let challenges = self.proving.filter(|(acme, _)| is_ordered(acme)).map(|(_, challenges)| challenges);
        let tickets = self.kept.tickets.take(&usage);
        self.usages.push(usage);
        let settings = tickets.map(|tickets| ServerSettings {
            identities: &identities,
            is_strict: tls.is_strict,
            version_min: tls.version_min,
            clients,
            protocols: protocols(listener),
            tickets,
            challenges,
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
        let settings = ClientSettings {
            server_name: tls.server_name.as_deref(),
            sends_name: tls.sends_name,
            check: tls.check,
            authorities: parts.authorities.as_ref(),
            identity: parts.identity.as_ref(),
            version_min: tls.version_min,
            protocols: cluster.protocol.offered(),
        };
        self.client(print(cluster, tls, parts), &settings, &tls.place)
    }

    /// Returns the settings of certificate orders.
    fn orders(&mut self, acme: &AcmeConfig, authorities: &Authorities) -> Option<AcmeSettings> {
        let settings = ClientSettings {
            server_name: None,
            sends_name: true,
            check: ServerCheck::Full,
            authorities: Some(authorities),
            identity: None,
            version_min: TlsVersion::default(),
            protocols: &[b"http/1.1"],
        };
        let print =
            Sha256::digest(format!("orders from {} {:?}", acme.directory, authorities.print())).into();
        let wanted =
            |one: &OrderedCertificate| CertificateSpec { hosts: one.hosts.clone(), file: one.file.clone() };
        Some(AcmeSettings {
            directory: acme.directory.clone(),
            email: acme.email.clone(),
            challenge: match acme.challenge {
                AcmeChallenge::TlsAlpn01 => ChallengeKind::TlsAlpn01,
                AcmeChallenge::Http01 => ChallengeKind::Http01,
            },
            profile: acme.profile.clone(),
            folder: acme.folder.clone(),
            certificates: acme.certificates.iter().map(wanted).collect(),
            tls: self.client(print, &settings, &acme.place)?,
        })
    }

    /// Returns the client settings with this fingerprint, with their sessions, or compiles new ones.
    fn client(
        &mut self,
        print: Fingerprint,
        settings: &ClientSettings<'_>,
        place: &SourcePosition,
    ) -> Option<ClientTls> {
        self.prints.push(print);
        if let Some(known) = self.kept.clusters.get(&print) {
            return Some(known.clone());
        }
        match ClientTls::new(settings) {
            Ok(made) => {
                self.kept.clusters.insert(print, made.clone());
                Some(made)
            }
            Err(error) => {
                self.problems.push(Problem::at(place, Severity::Error, error.to_string(), None));
                None
            }
        }
    }
}

/// Returns the ALPN protocols of a listener. Forwarded connections need not be HTTP/2, so it is not offered for them.
fn protocols(listener: &ListenerConfig) -> &'static [&'static [u8]] {
    let is_forward = matches!(listener.serve, Serve::Forward(_));
    if listener.http2.over_tls && !is_forward { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] }
}

/// Returns the use of session tickets. A ticket contains the client's verified identity, so it is valid only at the
/// listener that issued it, and while that accepts the same clients.
fn usage(listener: &ListenerConfig, clients: Option<ClientCertificates<'_>>) -> String {
    let name = &listener.name;
    match clients {
        None => format!("{name} serves everybody"),
        Some(ClientCertificates { authorities, is_optional, revoked }) => {
            let revoked = revoked.map(Revocations::print);
            format!("{name} asks, {is_optional}, {:?}, {revoked:?}", authorities.print())
        }
    }
}

/// Returns the fingerprint of a cluster's TLS settings. A session implies the verified identities of both sides, so it
/// is resumed only under the same settings.
fn print(cluster: &ClusterConfig, tls: &ClusterTlsConfig, parts: &ClusterParts) -> Fingerprint {
    let said =
        (&cluster.name, cluster.protocol, &tls.server_name, tls.sends_name, tls.check, tls.version_min);
    let authorities = parts.authorities.as_ref().map(Authorities::print);
    let identity = parts.identity.as_ref().map(Identity::print);
    Sha256::digest(format!("{said:?} {authorities:?} {identity:?}")).into()
}

/// Returns the file to report errors at that concern no certificate: that of the authorities.
fn place_of(tls: &ListenerTlsConfig) -> Option<&WrittenPath> {
    tls.clients.as_ref().map(|clients| &clients.authorities).or_else(|| tls.files().next())
}

//! TLS of listeners.

use std::sync::Arc;

use eddy_model::TlsVersion;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ProducesTickets, ResolvesServerCert, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};

use crate::authorities::Authorities;
use crate::challenges::{CHALLENGE_PROTOCOL, Challenges, Proving};
use crate::error::TlsError;
use crate::identity::Identity;
use crate::names::SniCertResolver;
use crate::revocations::Revocations;

/// Verification of client certificates.
#[derive(Clone, Copy, Debug)]
pub struct ClientCertificates<'a> {
    /// Trusted authorities.
    pub authorities: &'a Authorities,
    /// Whether clients without a certificate are accepted.
    pub is_optional: bool,
    /// Revoked certificates. If set, each authority of a chain must have a revocation list.
    pub revoked: Option<&'a Revocations>,
}

/// TLS settings of a listener.
#[derive(Debug)]
pub struct ServerSettings<'a> {
    /// Identities; without any, all handshakes fail except those of ACME challenges.
    pub identities: &'a [Identity],
    /// Whether clients are rejected that request no server name, or one that no identity has.
    pub is_strict: bool,
    /// Minimum TLS version.
    pub version_min: TlsVersion,
    /// Verification of client certificates, if requested.
    pub clients: Option<ClientCertificates<'a>>,
    /// ALPN protocols, in order of preference.
    pub protocols: &'a [&'a [u8]],
    /// Session ticket keys.
    pub tickets: Arc<dyn ProducesTickets>,
    /// ACME challenge responses, if the listener serves them.
    pub challenges: Option<&'a Arc<Challenges>>,
}

/// Compiled TLS settings of a listener, shared by all workers.
#[derive(Clone, Debug)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
}

impl ServerTls {
    /// Compiles the settings.
    ///
    /// # Errors
    /// Any [`TlsError`].
    pub fn new(settings: &ServerSettings<'_>) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let versions = versions_from(settings.version_min);
        let builder =
            ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions)?;
        let builder = match settings.clients {
            Some(clients) => builder.with_client_cert_verifier(verifier(clients, provider)?),
            None => builder.with_no_client_auth(),
        };
        let names = SniCertResolver::new(settings.identities, settings.is_strict);
        let shown: Arc<dyn ResolvesServerCert> = match settings.challenges {
            Some(challenges) => Arc::new(Proving { names, challenges: Arc::clone(challenges) }),
            None => Arc::new(names),
        };
        let mut config = builder.with_cert_resolver(shown);
        config.alpn_protocols = settings.protocols.iter().map(|name| name.to_vec()).collect();
        // The last choice, so that only clients which offer nothing else get it.
        config.alpn_protocols.extend(settings.challenges.map(|_| CHALLENGE_PROTOCOL.to_vec()));
        config.ticketer = Arc::clone(&settings.tickets);
        // Early data could be replayed by an attacker (RFC 8446 §8).
        config.max_early_data_size = 0;
        Ok(Self { config: Arc::new(config) })
    }

    /// Returns the configuration for the TLS library.
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }
}

/// Returns a TLS version and later ones, in the TLS library's type.
pub(crate) fn versions_from(min: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    match min {
        TlsVersion::Tls12 => &FROM_12,
        TlsVersion::Tls13 => &FROM_13,
    }
}

fn verifier(
    clients: ClientCertificates<'_>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let roots = Arc::clone(&clients.authorities.roots);
    let builder = WebPkiClientVerifier::builder_with_provider(roots, provider);
    let builder = if clients.is_optional { builder.allow_unauthenticated() } else { builder };
    let builder = match clients.revoked {
        Some(revoked) => builder.with_crls(revoked.lists.iter().cloned()),
        None => builder,
    };
    builder.build().map_err(TlsError::Verifier)
}

static FROM_12: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
static FROM_13: [&SupportedProtocolVersion; 1] = [&TLS13];

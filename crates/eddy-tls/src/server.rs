//! What a listener shows to its clients.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ProducesTickets, ResolvesServerCert, VerifierBuilderError, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use thiserror::Error;

use crate::authorities::Authorities;
use crate::challenges::{CHALLENGE_PROTOCOL, Challenges, Proving};
use crate::identity::{Identity, IdentityError};
use crate::names::SniCertResolver;
use crate::revocations::Revocations;

/// A version of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TlsVersion {
    /// 1.2, with forward secrecy and authenticated encryption only.
    #[default]
    Tls12,
    /// 1.3.
    Tls13,
}

impl TlsVersion {
    /// The versions from this one on, as the library names them.
    pub(crate) fn and_above(self) -> &'static [&'static SupportedProtocolVersion] {
        match self {
            Self::Tls12 => &FROM_12,
            Self::Tls13 => &FROM_13,
        }
    }
}

/// How clients show who they are.
#[derive(Clone, Copy, Debug)]
pub struct ClientCertificates<'a> {
    /// The authorities whose certificates are taken.
    pub authorities: &'a Authorities,
    /// Whether a client without one is served as well.
    pub is_optional: bool,
    /// The certificates that are taken no longer. With these, each authority of a chain has to have a list.
    pub revoked: Option<&'a Revocations>,
}

/// What a listener's TLS is made of.
#[derive(Debug)]
pub struct ServerSettings<'a> {
    /// The identities; without any, handshakes fail that ask for no proof of a name.
    pub identities: &'a [Identity],
    /// Whether clients are turned away that ask for a name which no identity has, or for none.
    pub is_strict: bool,
    /// The least version.
    pub version_min: TlsVersion,
    /// Whether and how clients show who they are.
    pub clients: Option<ClientCertificates<'a>>,
    /// The protocols that are spoken inside, the preferred one first.
    pub protocols: &'a [&'a [u8]],
    /// The keys of session tickets.
    pub tickets: Arc<dyn ProducesTickets>,
    /// What proves names to authorities, where they are to ask here.
    pub challenges: Option<&'a Arc<Challenges>>,
}

/// What a listener shows to its clients, ready for use; shared by all workers.
#[derive(Clone, Debug)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
}

/// Why settings make no TLS.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The authorities cannot be read.
    #[error("{0}")]
    Authorities(IdentityError),
    /// One of the authorities is none.
    #[error("certificate {0} in it is not that of an authority: {1}")]
    Authority(usize, rustls::Error),
    /// There is no authority whose certificates could be taken.
    #[error("there is no authority in it whose certificates could be taken")]
    NoAuthority,
    /// Nothing can have this name.
    #[error("`{0}` is neither a host nor an address")]
    Name(String),
    /// There is no way to check others by them.
    #[error("nobody can be checked by it: {0}")]
    Verifier(VerifierBuilderError),
    /// The library refuses the settings.
    #[error(transparent)]
    Settings(#[from] rustls::Error),
}

impl ServerTls {
    /// Makes the settings ready.
    ///
    /// # Errors
    /// Each [`TlsError`].
    pub fn new(settings: &ServerSettings<'_>) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let versions = settings.version_min.and_above();
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
        // The last choice of all, so that it is taken by those alone who want nothing else.
        config.alpn_protocols.extend(settings.challenges.map(|_| CHALLENGE_PROTOCOL.to_vec()));
        config.ticketer = Arc::clone(&settings.tickets);
        // What came before the handshake could be sent again by anybody (RFC 8446 §8).
        config.max_early_data_size = 0;
        Ok(Self { config: Arc::new(config) })
    }

    /// The library's form of it.
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
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

//! A TLS endpoint that terminates TLS and relays the plaintext, in both directions, to another endpoint.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, ensure};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, SupportedProtocolVersion};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::place;
use crate::secure::{Authority, Issued};
use crate::wire::within;

/// A running endpoint, stopped on drop.
#[derive(Debug)]
pub struct SecureOrigin {
    address: SocketAddr,
    shaken: Arc<Mutex<Vec<Shaken>>>,
    task: JoinHandle<()>,
}

/// A successful TLS handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shaken {
    /// Requested server name (SNI).
    pub server_name: Option<String>,
    /// Whether the client presented a certificate.
    pub has_certificate: bool,
    /// Whether the session was resumed.
    pub is_resumed: bool,
    /// Negotiated protocol (ALPN).
    pub protocol: Option<String>,
}

impl SecureOrigin {
    /// Starts an endpoint in front of `behind` that presents `own` and requests client certificates of `clients`, if
    /// given.
    ///
    /// # Errors
    /// When no socket can be bound, or a certificate cannot be parsed.
    pub async fn before(
        behind: SocketAddr,
        own: &Issued,
        clients: Option<&Authority>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<Self> {
        Self::start(behind, server_config(own, clients, versions)?).await
    }

    /// Starts an endpoint that requests no client certificate and offers these protocols (ALPN).
    ///
    /// # Errors
    /// As [`Self::before`].
    pub async fn speaking(behind: SocketAddr, own: &Issued, protocols: &[&[u8]]) -> Result<Self> {
        let mut config = server_config(own, None, rustls::ALL_VERSIONS)?;
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Self::start(behind, config).await
    }

    async fn start(behind: SocketAddr, config: ServerConfig) -> Result<Self> {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(place::any_port()).await?;
        let address = listener.local_addr()?;
        let shaken = Arc::<Mutex<Vec<Shaken>>>::default();
        let seen = Arc::clone(&shaken);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, acceptor.clone(), behind, Arc::clone(&seen)));
            }
        });
        Ok(Self { address, shaken, task })
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the handshakes so far.
    pub fn shaken(&self) -> Vec<Shaken> {
        self.shaken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for SecureOrigin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn relay(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    behind: SocketAddr,
    seen: Arc<Mutex<Vec<Shaken>>>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = within("a handshake", acceptor.accept(stream)).await??;
    let session = stream.get_ref().1;
    let protocol = session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
    let shaken = Shaken {
        server_name: session.server_name().map(str::to_owned),
        has_certificate: session.peer_certificates().is_some(),
        is_resumed: session.handshake_kind() == Some(rustls::HandshakeKind::Resumed),
        protocol,
    };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(shaken);
    let mut behind = TcpStream::connect(behind).await?;
    behind.set_nodelay(true)?;
    copy_bidirectional(&mut stream, &mut behind).await?;
    Ok(())
}

fn server_config(
    own: &Issued,
    clients: Option<&Authority>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ServerConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions)?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes())?)?;
            let roots = Arc::new(roots);
            builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots, provider).build()?,
            )
        }
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(own.chain.as_bytes()).collect::<Result<_, _>>()?;
    ensure!(!chain.is_empty(), "there is no certificate");
    let mut config = builder.with_single_cert(chain, PrivateKeyDer::from_pem_slice(own.key.as_bytes())?)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

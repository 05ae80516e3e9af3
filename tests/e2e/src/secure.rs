//! TLS for tests: an authority that issues certificates, and client connections that report how they end.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, RevokedCertParams,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::wire::{ParseOutcome, WireResponse, read_response, within};

/// A certificate authority.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate chain and its key, PEM.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Certificate chain.
    pub chain: String,
    /// Private key.
    pub key: String,
}

impl Authority {
    /// Creates an authority.
    ///
    /// # Errors
    /// When no key can be generated.
    pub fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// Returns the authority's own certificate, PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Issues a certificate for hosts.
    ///
    /// # Errors
    /// When no key can be generated.
    pub fn issue(&self, hosts: &[&str]) -> Result<Issued> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        self.sign(CertificateParams::new(hosts)?)
    }

    /// Issues a certificate for hosts that expired at the beginning of `year`.
    ///
    /// # Errors
    /// When no key can be generated.
    pub fn issue_until(&self, hosts: &[&str], year: i32) -> Result<Issued> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts)?;
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        self.sign(params)
    }

    /// Issues a client certificate.
    ///
    /// # Errors
    /// When no key can be generated.
    pub fn issue_client(&self, name: &str) -> Result<Issued> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// Issues a client certificate with this serial number.
    ///
    /// # Errors
    /// When no key can be generated.
    pub fn issue_numbered_client(&self, number: u64) -> Result<Issued> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.serial_number = Some(number.into());
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// Returns the certificate revocation list with these serial numbers, PEM.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn revoked(&self, numbers: &[u64]) -> Result<String> {
        let revoked = |number: &u64| RevokedCertParams {
            serial_number: (*number).into(),
            revocation_time: rcgen::date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2020, 1, 1),
            next_update: rcgen::date_time_ymd(2100, 1, 1),
            crl_number: 1_u64.into(),
            issuing_distribution_point: None,
            revoked_certs: numbers.iter().map(revoked).collect(),
            key_identifier_method: rcgen::KeyIdMethod::Sha256,
        };
        Ok(list.signed_by(&self.issuer)?.pem()?)
    }

    fn sign(&self, params: CertificateParams) -> Result<Issued> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Issued { chain: certificate.pem(), key: key.serialize_pem() })
    }

    /// Returns a client configuration that trusts only this authority and presents `own`, if given.
    ///
    /// # Errors
    /// When a certificate or key cannot be parsed.
    pub fn trust(
        &self,
        own: Option<&Issued>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem().as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)?
            .with_root_certificates(roots);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some(Issued { chain, key }) => builder.with_client_auth_cert(
                CertificateDer::pem_slice_iter(chain.as_bytes()).collect::<Result<_, _>>()?,
                PrivateKeyDer::from_pem_slice(key.as_bytes())?,
            )?,
        };
        Ok(Arc::new(config))
    }
}

/// Returns a client configuration that accepts any server certificate without verification.
///
/// # Errors
/// When the library does not support these versions.
pub fn accept_any_certificate(versions: &[&'static SupportedProtocolVersion]) -> Result<Arc<ClientConfig>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions)?;
    let verifier = Arc::new(AcceptAnyVerifier(schemes));
    Ok(Arc::new(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()))
}

/// Certificate verifier that accepts any certificate and any signature.
#[derive(Debug)]
struct AcceptAnyVerifier(Vec<SignatureScheme>);

impl ServerCertVerifier for AcceptAnyVerifier {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}

impl Issued {
    /// Returns an X.509 version 1 certificate with the common name `a.test`, which no authority has issued.
    pub fn version_1() -> Self {
        Self {
            chain: include_str!("../data/certificates/version1.crt").to_owned(),
            key: include_str!("../data/certificates/version1.key").to_owned(),
        }
    }

    /// Writes it as `NAME.crt` and `NAME.key` to a folder, each file atomically.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, folder: &Path, name: &str) -> Result<()> {
        for (end, text) in [("crt", &self.chain), ("key", &self.key)] {
            let next = folder.join(format!(".{name}.{end}.next"));
            std::fs::write(&next, text)?;
            std::fs::rename(&next, folder.join(format!("{name}.{end}")))?;
        }
        Ok(())
    }
}

impl Issued {
    /// Performs the server side of a TLS handshake on a connection.
    ///
    /// # Errors
    /// When the handshake fails.
    pub async fn accept(&self, stream: TcpStream) -> Result<tokio_rustls::server::TlsStream<TcpStream>> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                CertificateDer::pem_slice_iter(self.chain.as_bytes()).collect::<Result<_, _>>()?,
                PrivateKeyDer::from_pem_slice(self.key.as_bytes())?,
            )?;
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        Ok(within("the handshake", acceptor.accept(stream)).await??)
    }
}

/// A client connection over TLS.
pub struct SecureClient {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
}

/// End of a TLS connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecureEnd {
    /// The server sent close_notify.
    CloseNotify,
    /// The connection was cut without close_notify.
    Cut,
}

impl SecureClient {
    /// Connects and performs the TLS handshake with `host` as the server name.
    ///
    /// # Errors
    /// When the connection or the handshake fails.
    pub async fn connect(address: SocketAddr, config: &Arc<ClientConfig>, host: &str) -> Result<Self> {
        let name = ServerName::try_from(host.to_owned())?;
        let connect = async {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            TlsConnector::from(Arc::clone(config)).connect(name, stream).await
        };
        let stream = within("the handshake", connect).await??;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Returns the server's certificate, DER.
    pub fn server_certificate(&self) -> &[u8] {
        self.stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).map_or(&[], AsRef::as_ref)
    }

    /// Returns the protocol negotiated in the handshake (ALPN); empty without one.
    pub fn protocol(&self) -> &[u8] {
        self.stream.get_ref().1.alpn_protocol().unwrap_or_default()
    }

    /// Whether the TLS session was resumed.
    pub fn is_resumed(&self) -> bool {
        self.stream.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Resumed)
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// When the connection has ended, or the peer accepts no bytes within the deadline.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        let send = async {
            self.stream.write_all(bytes.as_ref()).await?;
            self.stream.flush().await
        };
        Ok(within("sending", send).await??)
    }

    /// Reads a response to a GET.
    ///
    /// # Errors
    /// When no response arrives, or not within the deadline.
    pub async fn answer(&mut self) -> Result<WireResponse> {
        let mut is_ended = false;
        loop {
            match read_response(&self.buffer, b"GET", is_ended) {
                ParseOutcome::Whole { message, length } => {
                    self.buffer.drain(..length);
                    return Ok(*message);
                }
                ParseOutcome::Partial { .. } if is_ended => bail!("the connection ended within a response"),
                ParseOutcome::Partial { .. } => {
                    let read = within("a response", self.stream.read_buf(&mut self.buffer)).await?;
                    is_ended = read.context("the connection was cut")? == 0;
                }
                ParseOutcome::Bad(why) => bail!("no response: {why}"),
            }
        }
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    /// As [`Self::send`] and [`Self::answer`].
    pub async fn exchange(&mut self, request: impl AsRef<[u8]>) -> Result<WireResponse> {
        self.send(request).await?;
        self.answer().await
    }

    /// Reads all bytes until the end, and returns them with the kind of end.
    ///
    /// # Errors
    /// When the end does not come within the deadline.
    pub async fn read_to_end(&mut self) -> Result<(Vec<u8>, SecureEnd)> {
        let end = self.end().await?;
        Ok((std::mem::take(&mut self.buffer), end))
    }

    /// Waits for the end of the connection.
    ///
    /// # Errors
    /// When it does not come within the deadline.
    pub async fn end(&mut self) -> Result<SecureEnd> {
        loop {
            match within("the end", self.stream.read_buf(&mut self.buffer)).await? {
                Ok(0) => return Ok(SecureEnd::CloseNotify),
                Ok(_) => {}
                Err(_) => return Ok(SecureEnd::Cut),
            }
        }
    }
}

//! TLS as a client and an authority have it: certificates to order, and connections that tell how they end.

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

/// An authority that issues certificates.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A chain and its key, PEM.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The chain.
    pub chain: String,
    /// The key.
    pub key: String,
}

impl Authority {
    /// A new authority.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// Its own certificate, PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for hosts.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn issue(&self, hosts: &[&str]) -> Result<Issued> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        self.sign(CertificateParams::new(hosts)?)
    }

    /// A certificate for hosts that held until the beginning of a year.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn issue_until(&self, hosts: &[&str], year: i32) -> Result<Issued> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts)?;
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        self.sign(params)
    }

    /// A certificate for a client.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn issue_client(&self, name: &str) -> Result<Issued> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// A certificate with this number for a client.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn issue_numbered_client(&self, number: u64) -> Result<Issued> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.serial_number = Some(number.into());
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// The list of revoked certificates, by their numbers, PEM.
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

    /// How a client trusts this authority alone and shows `own`, if it has one.
    ///
    /// # Errors
    /// When what was issued cannot be read.
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

/// How a client takes any certificate that a server shows, and looks at none.
///
/// # Errors
/// When the library has no such versions.
pub fn take_any(versions: &[&'static SupportedProtocolVersion]) -> Result<Arc<ClientConfig>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions)?;
    let verifier = Arc::new(TakesAny(schemes));
    Ok(Arc::new(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()))
}

/// Takes any certificate and any signature.
#[derive(Debug)]
struct TakesAny(Vec<SignatureScheme>);

impl ServerCertVerifier for TakesAny {
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
    /// A certificate of X.509 version 1 with the common name `a.test`, which no authority has issued.
    pub fn version_1() -> Self {
        Self {
            chain: include_str!("../data/certificates/version1.crt").to_owned(),
            key: include_str!("../data/certificates/version1.key").to_owned(),
        }
    }

    /// Writes it as `NAME.crt` and `NAME.key` into a folder, each at once.
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
    /// Takes the server's part in a handshake on a connection.
    ///
    /// # Errors
    /// Whatever ends the handshake.
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

/// A connection inside of TLS.
pub struct SecureClient {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
}

/// How a connection inside of TLS ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecureEnd {
    /// The server has said so.
    Said,
    /// It was cut.
    Cut,
}

impl SecureClient {
    /// Connects and shakes hands, asking for `host`.
    ///
    /// # Errors
    /// Whatever ends the handshake.
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

    /// The server's own certificate, DER.
    pub fn server_certificate(&self) -> &[u8] {
        self.stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).map_or(&[], AsRef::as_ref)
    }

    /// The protocol that was agreed on in the handshake; empty where none was.
    pub fn protocol(&self) -> &[u8] {
        self.stream.get_ref().1.alpn_protocol().unwrap_or_default()
    }

    /// Whether a session of before was taken up.
    pub fn is_resumed(&self) -> bool {
        self.stream.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Resumed)
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// When the connection has ended, or takes none within the deadline.
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
    /// When there is none, or not within the deadline.
    pub async fn answer(&mut self) -> Result<WireResponse> {
        let mut is_ended = false;
        loop {
            match read_response(&self.buffer, b"GET", is_ended) {
                ParseOutcome::Whole { message, length } => {
                    self.buffer.drain(..length);
                    return Ok(*message);
                }
                ParseOutcome::Partial { .. } if is_ended => bail!("the connection ended in a response"),
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

    /// Reads all that comes, and how it ends.
    ///
    /// # Errors
    /// When the end does not come within the deadline.
    pub async fn read_to_end(&mut self) -> Result<(Vec<u8>, SecureEnd)> {
        let end = self.end().await?;
        Ok((std::mem::take(&mut self.buffer), end))
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When it does not come within the deadline.
    pub async fn end(&mut self) -> Result<SecureEnd> {
        loop {
            match within("the end", self.stream.read_buf(&mut self.buffer)).await? {
                Ok(0) => return Ok(SecureEnd::Said),
                Ok(_) => {}
                Err(_) => return Ok(SecureEnd::Cut),
            }
        }
    }
}

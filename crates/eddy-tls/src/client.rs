//! TLS towards endpoints: certificate verification and client certificate.

use std::sync::Arc;

use eddy_model::{ServerCheck, TlsVersion};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use crate::authorities::Authorities;
use crate::error::TlsError;
use crate::identity::Identity;
use crate::possession;
use crate::server::versions_from;
use crate::server_name::server_name;

/// TLS settings of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct ClientSettings<'a> {
    /// Server name for all endpoints; by default each endpoint's own.
    pub server_name: Option<&'a str>,
    /// Whether the name is sent (SNI).
    pub sends_name: bool,
    /// Verification of endpoints.
    pub check: ServerCheck,
    /// Trusted authorities; not needed with [`ServerCheck::Nothing`].
    pub authorities: Option<&'a Authorities>,
    /// Client certificate, sent to endpoints that request one.
    pub identity: Option<&'a Identity>,
    /// Minimum TLS version.
    pub version_min: TlsVersion,
    /// ALPN protocols, in order of preference.
    pub protocols: &'a [&'a [u8]],
}

/// Compiled TLS settings of a cluster. All workers share them, including the sessions that can be resumed.
#[derive(Clone, Debug)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

impl ClientTls {
    /// Compiles the settings.
    ///
    /// The library keeps the sessions of the last 256 server names.
    ///
    /// # Errors
    /// [`TlsError::NoAuthority`], [`TlsError::Name`], [`TlsError::Verifier`] or [`TlsError::Settings`].
    pub fn new(settings: &ClientSettings<'_>) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = verifier(settings, &provider)?;
        let name = match settings.server_name {
            Some(name) => Some(server_name(name).ok_or_else(|| TlsError::Name(name.to_owned()))?),
            None => None,
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions_from(settings.version_min))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match settings.identity {
            Some(identity) => {
                let own = SingleCertAndKey::from(Arc::clone(&identity.key));
                builder.with_client_cert_resolver(Arc::new(own))
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = settings.protocols.iter().map(|name| name.to_vec()).collect();
        config.enable_sni = settings.sends_name;
        Ok(Self { config: Arc::new(config), name })
    }

    /// Returns the configuration for the TLS library.
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// Returns the server name for an endpoint whose own name is `own`, a host or an address. `None` when that is not a
    /// valid name.
    pub fn name_for(&self, own: Option<&str>) -> Option<ServerName<'static>> {
        self.name.clone().or_else(|| server_name(own?))
    }

    /// Whether both are the same object, so that connections of one may be used for the other.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && self.name == other.name
    }
}

fn verifier(
    settings: &ClientSettings<'_>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    if settings.check == ServerCheck::Nothing {
        return Ok(Arc::new(AcceptAnyCertificate(provider.signature_verification_algorithms)));
    }
    let authorities = settings.authorities.ok_or(TlsError::NoAuthority)?;
    let roots = Arc::clone(&authorities.roots);
    let full = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
        .build()
        .map_err(TlsError::Verifier)?;
    match settings.check {
        ServerCheck::Authority => Ok(Arc::new(AnyName(full))),
        ServerCheck::Full | ServerCheck::Nothing => Ok(full),
    }
}

/// Accepts a certificate of a trusted authority for any name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // The name is checked last: a certificate that fails only by its name is valid in all other respects.
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Accepts any certificate whose key the endpoint has.
#[derive(Debug)]
struct AcceptAnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
            .or_else(|_| possession::verify_tls12(message, certificate, signed, &self.0))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
            .or_else(|_| possession::verify_tls13(message, certificate, signed, &self.0))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
    use rustls::pki_types::pem::PemObject;

    struct TestAuthority {
        issuer: CertifiedIssuer<'static, KeyPair>,
    }

    impl TestAuthority {
        fn new() -> Self {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.distinguished_name.push(DnType::CommonName, "authority");
            Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
        }

        /// Issues a certificate for `a.test` that expires at the start of `year`.
        fn issue(&self, year: i32) -> CertificateDer<'static> {
            let mut params = CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(year, 1, 1);
            let signed = params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap();
            CertificateDer::from_pem_slice(signed.pem().as_bytes()).unwrap()
        }

        fn tls(&self, check: ServerCheck) -> Arc<dyn ServerCertVerifier> {
            let authorities = Authorities::from_pem(self.issuer.pem().as_bytes()).unwrap();
            let settings = ClientSettings { authorities: Some(&authorities), check, ..SETTINGS };
            verifier(&settings, &Arc::new(aws_lc_rs::default_provider())).unwrap()
        }
    }

    const SETTINGS: ClientSettings<'static> = ClientSettings {
        server_name: None,
        sends_name: true,
        check: ServerCheck::Full,
        authorities: None,
        identity: None,
        version_min: TlsVersion::Tls12,
        protocols: &[],
    };

    #[test]
    fn only_the_configured_certificate_checks_are_skipped() {
        let (world, other) = (TestAuthority::new(), TestAuthority::new());
        let (good, expired, strange) = (world.issue(2099), world.issue(2021), other.issue(2099));
        for (check, expected) in [
            (ServerCheck::Full, [true, false, false, false, false]),
            (ServerCheck::Authority, [true, true, false, false, false]),
            (ServerCheck::Nothing, [true; 5]),
        ] {
            let verifier = world.tls(check);
            let cases = [
                (&good, "a.test"),
                (&good, "b.test"),
                (&expired, "a.test"),
                (&expired, "b.test"),
                (&strange, "a.test"),
            ];
            for ((certificate, name), expected) in cases.into_iter().zip(expected) {
                let name = server_name(name).unwrap();
                let verified = verifier.verify_server_cert(certificate, &[], &name, &[], UnixTime::now());
                assert_eq!(verified.is_ok(), expected, "{check:?} {name:?} {verified:?}");
            }
        }
    }

    #[test]
    fn without_authorities_no_server_is_trusted() {
        assert!(matches!(ClientTls::new(&SETTINGS), Err(TlsError::NoAuthority)));
        assert!(ClientTls::new(&ClientSettings { check: ServerCheck::Nothing, ..SETTINGS }).is_ok());
        assert!(matches!(Authorities::from_pem(b""), Err(TlsError::Authorities(_))));
        assert!(matches!(
            Authorities::of_machine(b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"),
            Err(TlsError::NoAuthority)
        ));
    }

    #[test]
    fn the_sni_is_the_endpoint_name_unless_configured() {
        let nothing = ClientSettings { check: ServerCheck::Nothing, ..SETTINGS };
        let own = ClientTls::new(&nothing).unwrap();
        let named = ClientTls::new(&ClientSettings { server_name: Some("b.test"), ..nothing }).unwrap();
        for (own_name, expected) in [("a.test", "a.test"), ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")] {
            assert_eq!(own.name_for(Some(own_name)).unwrap().to_str(), expected);
            assert_eq!(named.name_for(Some(own_name)).unwrap().to_str(), "b.test");
        }
        assert!(own.name_for(Some("no name")).is_none() && own.name_for(None).is_none());
        let bad = ClientTls::new(&ClientSettings { server_name: Some("no name"), ..nothing });
        assert!(matches!(bad, Err(TlsError::Name(name)) if name == "no name"));
        assert!(own.is_same(&own.clone()) && !own.is_same(&ClientTls::new(&nothing).unwrap()));
    }
}

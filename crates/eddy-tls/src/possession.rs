//! Verifies handshake signatures by the certificate's public key alone.
//!
//! The library's own check parses the certificate for verification, so it fails for X.509 version 1 and for unknown
//! critical extensions. Where certificates are not verified, only the possession of the key counts.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use rustls::{CertificateError, DigitallySignedStruct, Error};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

/// Verifies the signature of a TLS 1.2 handshake.
///
/// # Errors
/// When the signature was not made by the certificate's key, or the certificate can't be parsed.
pub(crate) fn verify_tls12(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    supported: &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error> {
    let key = public_key_of(certificate)?;
    let algorithm = key.algorithm.to_der().map_err(|_| BROKEN)?;
    let bits = key.subject_public_key.raw_bytes();
    let mut candidates =
        supported.mapping.iter().filter(|(scheme, _)| *scheme == signed.scheme).flat_map(|(_, all)| *all);
    let is_key_error = candidates.any(|candidate| {
        // The library's identifiers lack the SEQUENCE header, which has two bytes because all lengths are below 128.
        algorithm.get(2..) == Some(candidate.public_key_alg_id().as_ref())
            && candidate.verify_signature(bits, message, signed.signature()).is_ok()
    });
    if is_key_error {
        Ok(HandshakeSignatureValid::assertion())
    } else {
        Err(Error::InvalidCertificate(CertificateError::BadSignature))
    }
}

/// Verifies the signature of a TLS 1.3 handshake.
///
/// # Errors
/// As [`verify_tls12`].
pub(crate) fn verify_tls13(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    supported: &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error> {
    let key = public_key_of(certificate)?.to_der().map_err(|_| BROKEN)?;
    verify_tls13_signature_with_raw_key(message, &SubjectPublicKeyInfoDer::from(key), signed, supported)
}

fn public_key_of(certificate: &CertificateDer<'_>) -> Result<SubjectPublicKeyInfoOwned, Error> {
    let certificate = Certificate::from_der(certificate).map_err(|_| BROKEN)?;
    Ok(certificate.tbs_certificate().subject_public_key_info().clone())
}

const BROKEN: Error = Error::InvalidCertificate(CertificateError::BadEncoding);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::pki_types::ServerName;
    use rustls::sign::CertifiedKey;
    use rustls::version::{TLS12, TLS13};
    use rustls::{ClientConnection, ServerConfig, ServerConnection, SupportedProtocolVersion};

    use crate::authorities::Authorities;
    use eddy_model::{ServerCheck, TlsVersion};

    use crate::client::{ClientSettings, ClientTls};
    use crate::identity::Identity;
    use crate::identity::tests::{VERSION_1, issue};

    /// Runs a handshake with an endpoint that presents the certificate of `shown` and signs with the key of `signing`.
    fn perform_handshake(
        check: ServerCheck,
        shown: &Identity,
        signing: &Identity,
        version: &'static SupportedProtocolVersion,
    ) -> Result<(), rustls::Error> {
        let key = CertifiedKey::new(shown.key.cert.clone(), Arc::clone(&signing.key.key));
        #[derive(Debug)]
        struct FixedCertResolver(Arc<CertifiedKey>);
        impl rustls::server::ResolvesServerCert for FixedCertResolver {
            fn resolve(&self, _: rustls::server::ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
                Some(Arc::clone(&self.0))
            }
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let server =
            ServerConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
        let server =
            server.with_no_client_auth().with_cert_resolver(Arc::new(FixedCertResolver(Arc::new(key))));
        let authorities = Authorities::from_pem(VERSION_1.0.as_bytes()).unwrap();
        let settings = ClientSettings {
            server_name: None,
            sends_name: true,
            check,
            authorities: Some(&authorities),
            identity: None,
            version_min: TlsVersion::Tls12,
            protocols: &[],
        };
        let client = ClientTls::new(&settings).unwrap();
        let name = ServerName::try_from("a.test").unwrap();
        let mut client = ClientConnection::new(Arc::clone(client.config()), name).unwrap();
        let mut server = ServerConnection::new(Arc::new(server)).unwrap();
        while client.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut &*bytes).unwrap();
            server.process_new_packets()?;
            bytes.clear();
            server.write_tls(&mut bytes).unwrap();
            client.read_tls(&mut &*bytes).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn an_unverified_endpoint_must_prove_possession_of_its_key() {
        let identity =
            |(chain, key): (&str, &str)| Identity::of_client(chain.as_bytes(), key.as_bytes()).unwrap();
        let old = identity(VERSION_1);
        let (chain, key) = issue(&["a.test"]);
        let new = identity((&chain, &key));
        for version in [&TLS12, &TLS13] {
            let end = |shown, signing| perform_handshake(ServerCheck::Nothing, shown, signing, version);
            assert_eq!((end(&old, &old), end(&new, &new)), (Ok(()), Ok(())), "{version:?}");
            assert!(end(&old, &new).is_err() && end(&new, &old).is_err(), "{version:?}");
            assert!(perform_handshake(ServerCheck::Authority, &old, &old, version).is_err(), "{version:?}");
        }
    }
}

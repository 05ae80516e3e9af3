//! Certificate chain and its private key.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use thiserror::Error;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::key_size::rsa_bits;
use crate::server_name::is_server_name;

/// Certificate chain and its private key, checked to belong together.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(crate) key: Arc<CertifiedKey>,
    names: Vec<String>,
    /// Whether `names` comes from the subjectAltName.
    has_alternative_names: bool,
    /// Hosts that override the names of the certificate; `None` to use its names.
    presented_for: Option<Vec<String>>,
    validity: Validity,
    print: Fingerprint,
}

/// SHA-256 hash of the text that a value was read from.
pub type Fingerprint = [u8; 32];

/// Validity period of a certificate, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// First valid second.
    pub not_before: u64,
    /// Last valid second.
    pub not_after: u64,
}

/// Why a certificate chain and key are rejected.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// There is no certificate in the text.
    #[error("there is no certificate in it: a PEM file with `-----BEGIN CERTIFICATE-----` is expected")]
    NoCertificate,
    /// The text is not PEM.
    #[error("it is not a PEM file: {0}")]
    Pem(pem::Error),
    /// The certificate at this position, from 1, cannot be parsed.
    #[error("certificate {0} in it is invalid: {1}")]
    Certificate(usize, x509_cert::der::Error),
    /// There is no key in the text.
    #[error(
        "there is no private key in it: a PEM file with `-----BEGIN PRIVATE KEY-----` is expected, not encrypted"
    )]
    NoKey,
    /// The kind of key is unknown, or the key is too weak.
    #[error("the key in it cannot be used: {0}")]
    Key(rustls::Error),
    /// The RSA key of this many bits is too short or too long.
    #[error("the RSA key in it has {0} bits; {RSA_BITS_MIN} to {RSA_BITS_MAX} bits are supported")]
    RsaSize(usize),
    /// The key belongs to another certificate.
    #[error("the key does not belong to the first certificate of the chain")]
    Mismatch,
}

impl IdentityError {
    /// Whether the error is in the key file.
    pub fn is_key_error(&self) -> bool {
        matches!(self, Self::NoKey | Self::Key(_) | Self::RsaSize(_) | Self::Mismatch)
    }
}

impl Identity {
    /// Parses a chain in PEM (the server's own certificate first), its key, and optionally an OCSP response in DER,
    /// which is stapled to handshakes unchanged.
    ///
    /// # Errors
    /// Any [`IdentityError`].
    ///
    /// # Cost
    /// Some 100 µs, with an RSA key a millisecond.
    pub fn from_pem(chain: &[u8], key: &[u8], ocsp: Option<Vec<u8>>) -> Result<Self, IdentityError> {
        let identity = Self::of_client(chain, key)?;
        let mut certified = CertifiedKey::clone(&identity.key);
        certified.ocsp = ocsp;
        Ok(Self { key: Arc::new(certified), ..identity })
    }

    /// Parses a client identity: as [`Self::from_pem`], without an OCSP response.
    ///
    /// # Errors
    /// Any [`IdentityError`].
    ///
    /// # Cost
    /// As [`Self::from_pem`].
    pub fn of_client(chain: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let print = Sha256::new().chain_update(Sha256::digest(chain)).chain_update(key).finalize().into();
        let chain = chain_of(chain)?;
        let mut certificates = Vec::with_capacity(chain.len());
        for (number, certificate) in (1..).zip(&chain) {
            let read = Certificate::from_der(certificate);
            certificates.push(read.map_err(|error| IdentityError::Certificate(number, error))?);
        }
        let first = certificates.first().ok_or(IdentityError::NoCertificate)?;
        let broken = |error| IdentityError::Certificate(1, error);
        let mut names = alternative_names_of(first).map_err(broken)?;
        let has_alternative_names = !names.is_empty();
        if !has_alternative_names {
            names.extend(common_name_of(first));
        }
        let public_key = first.tbs_certificate().subject_public_key_info().to_der().map_err(broken)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
            if matches!(error, pem::Error::NoItemsFound) {
                IdentityError::NoKey
            } else {
                IdentityError::Pem(error)
            }
        })?;
        let signing = aws_lc_rs::sign::any_supported_type(&key).map_err(|error| match rsa_bits(&key) {
            Some(bits) if !(RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) => IdentityError::RsaSize(bits),
            Some(_) | None => IdentityError::Key(error),
        })?;
        // `CertifiedKey::keys_match` parses the certificate for verification, so it fails for X.509 version 1.
        if signing.public_key().is_some_and(|key| key.as_ref() != public_key) {
            return Err(IdentityError::Mismatch);
        }
        let certified = CertifiedKey::new(chain, signing);
        // The chain is valid only while all of its certificates are.
        let validity = certificates.iter().map(validity_of).reduce(Validity::both);
        let validity = validity.ok_or(IdentityError::NoCertificate)?;
        Ok(Self {
            key: Arc::new(certified),
            names,
            has_alternative_names,
            presented_for: None,
            validity,
            print,
        })
    }

    /// Returns the hosts of the certificate in lower case: names, possibly with `*.` in front, and addresses. They come
    /// from the subjectAltName, or, if it has none, from the common name if that is a host.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the subjectAltName contains a host; few clients look anywhere else (RFC 9525 §6.3).
    pub fn has_alternative_names(&self) -> bool {
        self.has_alternative_names
    }

    /// Returns the leaf certificate in DER.
    pub fn certificate(&self) -> &[u8] {
        self.key.cert.first().map_or(&[], |certificate| certificate.as_ref())
    }

    /// Returns the fingerprint, which is equal for equal chains and keys only.
    pub fn print(&self) -> &Fingerprint {
        &self.print
    }

    /// Returns the identity to be presented for these hosts instead of the certificate's names. Hosts are in lower
    /// case; `*.` in front stands for any number of labels, `*` for every host.
    pub fn presented_for(self, hosts: Vec<String>) -> Self {
        Self { presented_for: Some(hosts), ..self }
    }

    /// Returns the hosts that override the certificate's names.
    pub(crate) fn other_hosts(&self) -> Option<&[String]> {
        self.presented_for.as_deref()
    }

    /// Returns the validity period of the whole chain.
    pub fn validity(&self) -> Validity {
        self.validity
    }
}

impl Validity {
    fn both(self, other: Self) -> Self {
        Self {
            not_before: self.not_before.max(other.not_before),
            not_after: self.not_after.min(other.not_after),
        }
    }
}

/// Parses the certificates of a PEM text.
pub(crate) fn chain_of(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let chain = chain.map_err(IdentityError::Pem)?;
    if chain.is_empty() { Err(IdentityError::NoCertificate) } else { Ok(chain) }
}

fn validity_of(certificate: &Certificate) -> Validity {
    let validity = certificate.tbs_certificate().validity();
    Validity {
        not_before: validity.not_before.to_unix_duration().as_secs(),
        not_after: validity.not_after.to_unix_duration().as_secs(),
    }
}

/// Returns the DNS names and addresses of the subjectAltName.
fn alternative_names_of(certificate: &Certificate) -> Result<Vec<String>, x509_cert::der::Error> {
    let Some((_, SubjectAltName(names))) = certificate.tbs_certificate().get_extension::<SubjectAltName>()?
    else {
        return Ok(Vec::new());
    };
    let text = |name: &GeneralName| match name {
        GeneralName::DnsName(name) => Some(name.to_string().to_ascii_lowercase()),
        GeneralName::IpAddress(bytes) => address_of(bytes.as_bytes()),
        GeneralName::OtherName(_)
        | GeneralName::Rfc822Name(_)
        | GeneralName::DirectoryName(_)
        | GeneralName::EdiPartyName(_)
        | GeneralName::UniformResourceIdentifier(_)
        | GeneralName::RegisteredId(_) => None,
    };
    Ok(names.iter().filter_map(text).collect())
}

/// Returns the common name of the subject, if it is a host.
fn common_name_of(certificate: &Certificate) -> Option<String> {
    let name = certificate.tbs_certificate().subject().common_name().ok()??;
    let name = name.value().to_ascii_lowercase();
    is_server_name(name.strip_prefix("*.").unwrap_or(&name)).then_some(name)
}

fn address_of(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    <[u8; 16]>::try_from(bytes).ok().map(|bytes| std::net::Ipv6Addr::from(bytes).to_string())
}

/// RSA key sizes that the TLS library signs with.
const RSA_BITS_MIN: usize = 2048;
const RSA_BITS_MAX: usize = 8192;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    /// Chain of X.509 version 1 and its key, as PEM.
    pub(crate) const VERSION_1: (&str, &str) = (
        include_str!("../../../tests/e2e/data/certificates/version1.crt"),
        include_str!("../../../tests/e2e/data/certificates/version1.key"),
    );
    const RSA_1024: (&str, &str) = (
        include_str!("../../../tests/e2e/data/certificates/rsa1024.crt"),
        include_str!("../../../tests/e2e/data/certificates/rsa1024.key"),
    );
    const RSA_1024_PKCS1: &str = include_str!("../../../tests/e2e/data/certificates/rsa1024-pkcs1.key");

    /// Issues a self-signed certificate for these names and returns it with its key, as PEM.
    pub(crate) fn issue(names: &[&str]) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2030, 1, 1);
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn an_identity_has_its_names_and_its_validity() {
        let (chain, key) = issue(&["Www.Example.com", "*.example.com", "10.0.0.1", "::1"]);
        let identity = Identity::from_pem(chain.as_bytes(), key.as_bytes(), None).unwrap();
        assert_eq!(identity.names(), ["www.example.com", "*.example.com", "10.0.0.1", "::1"]);
        assert_eq!(identity.validity(), Validity { not_before: 1_577_836_800, not_after: 1_893_456_000 });
    }

    #[test]
    fn a_certificate_without_subject_alt_names_is_served() {
        let cases: [(&str, &[&str]); 4] =
            [("A.test", &["a.test"]), ("*.a.test", &["*.a.test"]), ("no host", &[]), ("", &[])];
        for (common_name, names) in cases {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(rcgen::DnType::CommonName, common_name);
            let key = KeyPair::generate().unwrap();
            let chain = params.self_signed(&key).unwrap().pem();
            let read = Identity::from_pem(chain.as_bytes(), key.serialize_pem().as_bytes(), None);
            let identity = read.unwrap();
            assert_eq!(identity.names(), names, "{common_name}");
            assert!(!identity.has_alternative_names());
        }
        let (chain, key) = issue(&["a.test"]);
        assert!(Identity::of_client(chain.as_bytes(), key.as_bytes()).unwrap().has_alternative_names());
    }

    #[test]
    fn a_certificate_of_x509_version_1_is_served() {
        let (chain, key) = VERSION_1;
        let identity = Identity::from_pem(chain.as_bytes(), key.as_bytes(), None).unwrap();
        assert_eq!(identity.names(), ["a.test"]);
    }

    #[test]
    fn invalid_identity_files_have_a_reason() {
        let (chain, key) = issue(&["a.test"]);
        let (_, other) = issue(&["a.test"]);
        let broken = chain.replacen("MII", "MIJ", 1);
        let rsa1024 = "the RSA key in it has 1024 bits; 2048 to 8192 bits are supported";
        let cases: [(&str, &str, &str, bool); 9] = [
            ("", &key, "there is no certificate in it", false),
            (&key, &key, "there is no certificate in it", false),
            (&broken, &key, "certificate 1 in it is invalid", false),
            ("-----BEGIN CERTIFICATE-----\n!", &key, "it is not a PEM file", false),
            (&chain, &chain, "there is no private key in it", true),
            (&chain, &other, "the key does not belong to the first certificate", true),
            (VERSION_1.0, &other, "the key does not belong to the first certificate", true),
            (RSA_1024.0, RSA_1024.1, rsa1024, true),
            (RSA_1024.0, RSA_1024_PKCS1, rsa1024, true),
        ];
        for (chain, key, message, is_key_error) in cases {
            let error = Identity::from_pem(chain.as_bytes(), key.as_bytes(), None).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
            assert_eq!(error.is_key_error(), is_key_error, "{error}");
        }
    }

    #[test]
    fn a_chain_is_valid_as_long_as_all_its_certificates() {
        let long = Validity { not_before: 10, not_after: 100 };
        let short = Validity { not_before: 20, not_after: 90 };
        assert_eq!(long.both(short), short);
    }
}

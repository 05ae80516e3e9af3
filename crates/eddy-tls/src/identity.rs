//! A chain of certificates and its key.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use thiserror::Error;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use crate::authorities::Fingerprint;

/// A chain of certificates and its key, which belong together.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(crate) key: Arc<CertifiedKey>,
    names: Vec<String>,
    /// The hosts that it is shown for whatever its names are; none for those of its names.
    shown_for: Option<Vec<String>>,
    validity: Validity,
    print: Fingerprint,
}

/// From when until when a certificate holds, seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first second in which it holds.
    pub not_before: u64,
    /// The last one.
    pub not_after: u64,
}

/// Why files make no identity.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// The text has no certificate.
    #[error("there is no certificate in it: a PEM file with `-----BEGIN CERTIFICATE-----` is expected")]
    NoCertificate,
    /// The text is not PEM.
    #[error("it is not a PEM file: {0}")]
    Pem(pem::Error),
    /// A certificate cannot be read; it is the one of this number, from 1.
    #[error("certificate {0} in it is broken: {1}")]
    Certificate(usize, x509_cert::der::Error),
    /// The text has no key.
    #[error(
        "there is no private key in it: a PEM file with `-----BEGIN PRIVATE KEY-----` is expected, not encrypted"
    )]
    NoKey,
    /// The key is of a kind that is not known, or too weak.
    #[error("the key in it cannot be used: {0}")]
    Key(rustls::Error),
    /// The key is another certificate's.
    #[error("the key does not belong to the first certificate of the chain")]
    Mismatch,
    /// The certificate names no host that a client could ask for.
    #[error(
        "the first certificate names no host (it has no DNS name or address in its subjectAltName), so no client accepts it"
    )]
    Nameless,
}

impl IdentityError {
    /// Whether the file of the key is the one to look at.
    pub fn is_of_key(&self) -> bool {
        matches!(self, Self::NoKey | Self::Key(_) | Self::Mismatch)
    }
}

impl Identity {
    /// The identity of a chain in PEM, the server's own certificate first, its key, and perhaps what the authority says of
    /// its revocation (an OCSP response in DER), which is handed on to clients as it is.
    ///
    /// # Errors
    /// Each [`IdentityError`].
    ///
    /// # Cost
    /// Some 100 µs, with a key of RSA a millisecond.
    pub fn from_pem(chain: &[u8], key: &[u8], ocsp: Option<Vec<u8>>) -> Result<Self, IdentityError> {
        let identity = Self::of_client(chain, key)?;
        if identity.names.is_empty() {
            return Err(IdentityError::Nameless);
        }
        let mut certified = CertifiedKey::clone(&identity.key);
        certified.ocsp = ocsp;
        Ok(Self { key: Arc::new(certified), ..identity })
    }

    /// The identity of a client: as [`Self::from_pem`], but its certificate need not be for a host.
    ///
    /// # Errors
    /// Each [`IdentityError`] but [`IdentityError::Nameless`].
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
        let names = names_of(first).map_err(|error| IdentityError::Certificate(1, error))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
            if matches!(error, pem::Error::NoItemsFound) {
                IdentityError::NoKey
            } else {
                IdentityError::Pem(error)
            }
        })?;
        let signing = aws_lc_rs::sign::any_supported_type(&key).map_err(IdentityError::Key)?;
        let certified = CertifiedKey::new(chain, signing);
        match certified.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {}
            Err(_) => return Err(IdentityError::Mismatch),
        }
        // The chain holds no longer than the shortest of its certificates.
        let validity = certificates.iter().map(validity_of).reduce(Validity::both);
        let validity = validity.ok_or(IdentityError::NoCertificate)?;
        Ok(Self { key: Arc::new(certified), names, shown_for: None, validity, print })
    }

    /// The hosts that the certificate is for, in lower case: names, perhaps with `*.` in front, and addresses.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The certificate itself, in DER; nothing of those behind it.
    pub fn certificate(&self) -> &[u8] {
        self.key.cert.first().map_or(&[], |certificate| certificate.as_ref())
    }

    /// The same for the same chain and key, and for no others.
    pub fn print(&self) -> &Fingerprint {
        &self.print
    }

    /// The same identity, shown for these hosts instead of those that it names: in lower case, `*.` in front for any number
    /// of labels, `*` for every host.
    pub fn shown_for(self, hosts: Vec<String>) -> Self {
        Self { shown_for: Some(hosts), ..self }
    }

    /// The hosts that it is shown for instead of those that it names.
    pub(crate) fn other_hosts(&self) -> Option<&[String]> {
        self.shown_for.as_deref()
    }

    /// When the whole chain holds.
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

/// The certificates of a PEM text.
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

/// DNS names and addresses; what a common name says has not counted for years (RFC 9525 §6.3).
fn names_of(certificate: &Certificate) -> Result<Vec<String>, x509_cert::der::Error> {
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

fn address_of(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    <[u8; 16]>::try_from(bytes).ok().map(|bytes| std::net::Ipv6Addr::from(bytes).to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    /// A chain and key for these names, as PEM.
    pub(crate) fn issue(names: &[&str]) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2030, 1, 1);
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn an_identity_tells_its_names_and_how_long_it_holds() {
        let (chain, key) = issue(&["Www.Example.com", "*.example.com", "10.0.0.1", "::1"]);
        let identity = Identity::from_pem(chain.as_bytes(), key.as_bytes(), None).unwrap();
        assert_eq!(identity.names(), ["www.example.com", "*.example.com", "10.0.0.1", "::1"]);
        assert_eq!(identity.validity(), Validity { not_before: 1_577_836_800, not_after: 1_893_456_000 });
    }

    #[test]
    fn files_that_make_no_identity_say_why() {
        let (chain, key) = issue(&["a.test"]);
        let (_, other) = issue(&["a.test"]);
        let (nameless, its_key) = issue(&[]);
        let broken = chain.replacen("MII", "MIJ", 1);
        let cases: [(&str, &str, &str, bool); 7] = [
            ("", &key, "there is no certificate in it", false),
            (&key, &key, "there is no certificate in it", false),
            (&broken, &key, "certificate 1 in it is broken", false),
            ("-----BEGIN CERTIFICATE-----\n!", &key, "it is not a PEM file", false),
            (&chain, &chain, "there is no private key in it", true),
            (&chain, &other, "the key does not belong to the first certificate", true),
            (&nameless, &its_key, "the first certificate names no host", false),
        ];
        for (chain, key, message, is_of_key) in cases {
            let error = Identity::from_pem(chain.as_bytes(), key.as_bytes(), None).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
            assert_eq!(error.is_of_key(), is_of_key, "{error}");
        }
    }

    #[test]
    fn a_chain_holds_as_long_as_all_of_it() {
        let long = Validity { not_before: 10, not_after: 100 };
        let short = Validity { not_before: 20, not_after: 90 };
        assert_eq!(long.both(short), short);
    }
}

//! Certificate revocation lists.

use rustls::pki_types::CertificateRevocationListDer;
use rustls::pki_types::pem::{self, PemObject};
use sha2::{Digest, Sha256};
use thiserror::Error;
use x509_cert::crl::CertificateList;
use x509_cert::der::{self, Decode};

use crate::identity::Fingerprint;

/// Certificate revocation lists (RFC 5280 §5); at least one.
#[derive(Clone, Debug)]
pub struct Revocations {
    pub(crate) lists: Vec<CertificateRevocationListDer<'static>>,
    next_update: Option<u64>,
    print: Fingerprint,
}

/// Why revocation lists cannot be parsed.
#[derive(Debug, Error)]
pub enum RevocationsError {
    /// There is no list in the text.
    #[error("there is no revocation list in it: a PEM file with `-----BEGIN X509 CRL-----` is expected")]
    None,
    /// The text is not PEM.
    #[error("it is not a PEM file: {0}")]
    Pem(pem::Error),
    /// The list at this position, from 1, cannot be parsed.
    #[error("revocation list {0} in it is invalid: {1}")]
    List(usize, der::Error),
}

impl Revocations {
    /// Parses lists in PEM.
    ///
    /// # Errors
    /// Any [`RevocationsError`].
    ///
    /// # Cost
    /// Linear in the text; memory of its size.
    pub fn from_pem(text: &[u8]) -> Result<Self, RevocationsError> {
        let lists: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(text).collect();
        let lists = lists.map_err(RevocationsError::Pem)?;
        if lists.is_empty() {
            return Err(RevocationsError::None);
        }
        let mut next_update = None;
        for (number, list) in (1..).zip(&lists) {
            let list: CertificateList =
                CertificateList::from_der(list).map_err(|error| RevocationsError::List(number, error))?;
            let next = list.tbs_cert_list.next_update.map(|time| time.to_unix_duration().as_secs());
            next_update = [next_update, next].into_iter().flatten().min();
        }
        Ok(Self { lists, next_update, print: Sha256::digest(text).into() })
    }

    /// Returns the earliest `nextUpdate` of the lists, in seconds since 1970, if any list has one.
    pub fn next_update(&self) -> Option<u64> {
        self.next_update
    }

    /// Returns the fingerprint, which is equal for equal texts only.
    pub fn print(&self) -> &Fingerprint {
        &self.print
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{
        CertificateParams, CertificateRevocationListParams, CertifiedIssuer, IsCa, KeyIdMethod, KeyPair,
        KeyUsagePurpose, SerialNumber, date_time_ymd,
    };

    fn list(until: i32) -> String {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: Vec::new(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&issuer).unwrap().pem().unwrap()
    }

    #[test]
    fn revocation_lists_report_when_the_first_expires() {
        let text = list(2040) + &list(2030);
        let lists = Revocations::from_pem(text.as_bytes()).unwrap();
        assert_eq!((lists.lists.len(), lists.next_update()), (2, Some(1_893_456_000)));
    }

    #[test]
    fn an_invalid_revocation_list_is_reported() {
        let whole = list(2030);
        let broken = whole.replacen("MI", "MA", 1);
        for (text, message) in [
            ("", "there is no revocation list in it"),
            (broken.as_str(), "revocation list 1 in it is invalid"),
            ("-----BEGIN X509 CRL-----\n!", "it is not a PEM file"),
        ] {
            let error = Revocations::from_pem(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}

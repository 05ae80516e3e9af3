//! A stored certificate: its hosts, validity, and identifier at the authority.

use base64ct::{Base64UrlUnpadded, Encoding};
use eddy_tls::{Identity, IdentityError, Validity};
use instant_acme::CertificateIdentifier;
use sha2::{Digest, Sha256};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::AuthorityKeyIdentifier;

/// Stored certificate.
#[derive(Clone, Debug)]
pub(crate) struct StoredCertificate {
    names: Vec<String>,
    pub(crate) validity: Validity,
    /// Position in each renewal window; derived from the certificate, so that it never changes.
    pub(crate) fraction: u16,
    /// Identifier for renewal information, if the certificate has the extension that it is made of.
    pub(crate) id: Option<CertificateIdentifier<'static>>,
}

impl StoredCertificate {
    /// Parses a file with the certificate chain and the key.
    pub(crate) fn parse(pem: &[u8]) -> Result<Self, IdentityError> {
        let identity = Identity::from_pem(pem, pem, None)?;
        let digest: [u8; 32] = Sha256::digest(pem).into();
        Ok(Self {
            names: identity.names().to_vec(),
            validity: identity.validity(),
            fraction: u16::from_be_bytes([digest[0], digest[1]]),
            id: id_of(identity.certificate()),
        })
    }

    /// Whether the certificate covers all of these hosts.
    pub(crate) fn is_for(&self, hosts: &[String]) -> bool {
        hosts.iter().all(|host| self.names.contains(host))
    }
}

/// Returns the certificate identifier for renewal information (RFC 9773 §4.1).
fn id_of(certificate: &[u8]) -> Option<CertificateIdentifier<'static>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let certificate = certificate.tbs_certificate();
    let (_, authority) = certificate.get_extension::<AuthorityKeyIdentifier>().ok()??;
    let key = authority.key_identifier?;
    let serial = certificate.serial_number().to_der().ok()?;
    // The identifier excludes the DER tag and length. The length takes one byte, because serial numbers are short.
    let (_, serial) = serial.split_at_checked(2)?;
    Some(CertificateIdentifier {
        authority_key_identifier: Base64UrlUnpadded::encode_string(key.as_bytes()).into(),
        serial: Base64UrlUnpadded::encode_string(serial).into(),
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{
        CertificateParams, CertifiedIssuer, IsCa, KeyIdMethod, KeyPair, SerialNumber, date_time_ymd,
    };

    use super::*;

    #[test]
    fn the_certificate_identifier_follows_rfc_9773() {
        // Key identifier, serial number and resulting certificate identifier of RFC 9773 §4.1.
        let key_id = [
            0x69, 0x88, 0x5b, 0x6b, 0x87, 0x46, 0x40, 0x41, 0xe1, 0xb3, 0x7b, 0x84, 0x7b, 0xa0, 0xae, 0x2c,
            0xde, 0x01, 0xc8, 0xd4,
        ];
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        authority.key_identifier_method = KeyIdMethod::PreSpecified(key_id.to_vec());
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let mut params = CertificateParams::new(vec!["a.test".to_owned(), "b.test".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from_slice(&[0x00, 0x87, 0x65, 0x43, 0x21]));
        params.use_authority_key_identifier_extension = true;
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2030, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let pem = certificate.pem() + &key.serialize_pem();
        let have = StoredCertificate::parse(pem.as_bytes()).unwrap();
        assert_eq!(have.id.as_ref().unwrap().to_string(), "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE");
        assert_eq!(have.validity, Validity { not_before: 1_577_836_800, not_after: 1_893_456_000 });
        let is_for =
            |hosts: &[&str]| have.is_for(&hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>());
        assert!(is_for(&["a.test"]) && is_for(&["b.test", "a.test"]) && !is_for(&["a.test", "c.test"]));
        assert!(StoredCertificate::parse(certificate.pem().as_bytes()).is_err());
    }
}

//! Subject of a client certificate, as passed on to endpoints.

use sha2::{Digest, Sha256};
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// Verified client certificate in the forms that are passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// Subject as text (RFC 4514): `CN=client,O=Example`; empty if it cannot be sent in a header.
    pub subject: String,
    /// Element of `X-Forwarded-Client-Cert`: hash of the certificate and subject.
    pub forwarded: String,
}

impl ClientCertificate {
    /// Parses a certificate in DER.
    pub fn of(certificate: &[u8]) -> Self {
        let subject = subject_of(certificate).unwrap_or_default();
        let hash = Sha256::digest(certificate).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let quoted = subject.replace('\\', "\\\\").replace('"', "\\\"");
        let forwarded = format!("Hash={hash};Subject=\"{quoted}\"");
        Self { subject, forwarded }
    }
}

fn subject_of(certificate: &[u8]) -> Option<String> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let text = certificate.tbs_certificate().subject().to_string();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    (is_plain && text.len() <= SUBJECT_BYTES_MAX).then_some(text)
}

/// Maximum length of a subject; a longer one is not passed on.
const SUBJECT_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair};

    fn certificate(name: &str) -> Vec<u8> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Example");
        params.distinguished_name.push(DnType::CommonName, name);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn a_subject_is_text_that_is_allowed_in_a_field() {
        let subject = |name: &str| ClientCertificate::of(&certificate(name)).subject;
        assert_eq!(subject("client, one"), "CN=client\\, one,O=Example");
        assert_eq!(subject("a\r\nb"), "CN=a\\0d\\0ab,O=Example");
        assert_eq!(subject("ä"), "");
        assert_eq!(subject(&"a".repeat(1100)), "");
        assert_eq!(ClientCertificate::of(b"no certificate").subject, "");
    }

    #[test]
    fn a_forwarded_subject_cannot_inject_other_attributes() {
        let forwarded = ClientCertificate::of(&certificate("a\";Hash=0")).forwarded;
        let (hash, subject) = forwarded.split_once(';').unwrap();
        assert_eq!((hash.len(), &hash[..5]), (69, "Hash="));
        assert_eq!(subject, r#"Subject="CN=a\\\"\\;Hash=0,O=Example""#);
    }
}

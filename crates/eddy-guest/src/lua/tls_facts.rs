//! TLS properties of the client connection, as scripts read them.

use std::fmt::Write as _;

use base64ct::{Base64, Encoding};
use eddy_filter::TlsInfo;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::{DirectoryString, GeneralName};
use x509_cert::name::Name;

/// Returns the properties as a JSON object; its member `certificate` is null if the client has sent none.
///
/// # Cost
/// Parses the certificate.
pub(super) fn tls_json(tls: &TlsInfo<'_>) -> String {
    let suite = SUITES.iter().find(|suite| suite.iana.as_bytes() == tls.suite);
    let certificate = (!tls.certificate.is_empty()).then(|| certificate_json(tls.certificate));
    json!({
        "version": String::from_utf8_lossy(tls.version),
        "suite": suite.map_or("", |suite| suite.openssl),
        "suite_id": format!("{:#06x}", suite.map_or(0xffff, |suite| suite.id)),
        "certificate": certificate,
    })
    .to_string()
}

/// Returns the facts of a certificate in DER; of one that cannot be parsed, only those of its bytes.
fn certificate_json(der: &[u8]) -> Value {
    let mut facts = json!({ "digest": hex(digest(&SHA256, der).as_ref()), "pem": encoded_pem(der) });
    let (Ok(certificate), Some(members)) = (Certificate::from_der(der), facts.as_object_mut()) else {
        return facts;
    };
    let own = certificate.tbs_certificate();
    let serial = own.serial_number().as_bytes();
    let names =
        own.get_extension::<SubjectAltName>().ok().flatten().map(|(_, names)| names.0).unwrap_or_default();
    let uris = names.iter().filter_map(|name| {
        if let GeneralName::UniformResourceIdentifier(uri) = name { Some(uri.as_str()) } else { None }
    });
    let hosts = names
        .iter()
        .filter_map(|name| if let GeneralName::DnsName(host) = name { Some(host.as_str()) } else { None });
    let oids = own.extensions().into_iter().flatten().map(|extension| extension.extn_id.to_string());
    let validity = own.validity();
    members.extend([
        ("serial".to_owned(), hex(serial.get(leading_zeros(serial)..).unwrap_or_default()).into()),
        ("issuer".to_owned(), own.issuer().to_string().into()),
        ("subject".to_owned(), own.subject().to_string().into()),
        (
            "common_name".to_owned(),
            values(own.subject(), COMMON_NAME).into_iter().next().unwrap_or_default().into(),
        ),
        ("organizations".to_owned(), values(own.subject(), ORGANIZATION).into()),
        ("uris".to_owned(), uris.collect::<Vec<_>>().into()),
        ("hosts".to_owned(), hosts.collect::<Vec<_>>().into()),
        ("oids".to_owned(), oids.collect::<Vec<_>>().into()),
        ("valid_from".to_owned(), validity.not_before.to_unix_duration().as_secs().into()),
        ("expiration".to_owned(), validity.not_after.to_unix_duration().as_secs().into()),
    ]);
    facts
}

/// Returns the values of an attribute of a name, except those that are no text.
fn values(name: &Name, oid: ObjectIdentifier) -> Vec<String> {
    let own = name.iter().filter(|attribute| attribute.oid == oid);
    own.filter_map(|attribute| DirectoryString::try_from(&attribute.value).ok())
        .map(|text| text.value().into_owned())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn leading_zeros(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == 0).count()
}

/// Returns a certificate as PEM (RFC 7468), encoded as Envoy does it for headers.
fn encoded_pem(der: &[u8]) -> String {
    let base64 = Base64::encode_string(der);
    let lines: Vec<&str> =
        base64.as_bytes().chunks(PEM_LINE_BYTES).filter_map(|line| str::from_utf8(line).ok()).collect();
    let pem = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"));
    pem.replace('\n', "%0A").replace(' ', "%20").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

/// Cipher suite by its names and its number (IANA TLS Cipher Suites).
struct CipherSuite {
    iana: &'static str,
    openssl: &'static str,
    id: u16,
}

const fn suite(iana: &'static str, openssl: &'static str, id: u16) -> CipherSuite {
    CipherSuite { iana, openssl, id }
}

/// Cipher suites that eddy negotiates.
const SUITES: [CipherSuite; 9] = [
    suite("TLS13_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", 0x1301),
    suite("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", 0x1302),
    suite("TLS13_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", 0x1303),
    suite("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", 0xc02b),
    suite("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", 0xc02c),
    suite("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", 0xcca9),
    suite("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", 0xc02f),
    suite("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", 0xc030),
    suite("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", 0xcca8),
];

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
const PEM_LINE_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_cannot_be_parsed_has_the_facts_of_its_bytes() {
        let tls = TlsInfo { version: b"TLSv1.3", suite: b"another", server_name: b"", certificate: b"none" };
        let facts: Value = serde_json::from_str(&tls_json(&tls)).unwrap();
        assert_eq!((&facts["suite"], &facts["suite_id"]), (&json!(""), &json!("0xffff")));
        let certificate = &facts["certificate"];
        assert_eq!(certificate["digest"].as_str().unwrap().len(), 64);
        assert!(
            certificate["pem"]
                .as_str()
                .unwrap()
                .starts_with("-----BEGIN%20CERTIFICATE-----%0Abm9uZQ%3D%3D%0A")
        );
        assert!(certificate.get("subject").is_none());
        let without = TlsInfo { certificate: b"", ..tls };
        assert!(tls_json(&without).contains("\"certificate\":null"));
    }
}

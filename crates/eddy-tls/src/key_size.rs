//! Size of RSA keys, for keys that the TLS library rejects without a reason.

use rustls::pki_types::PrivateKeyDer;
use x509_cert::der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef, UintRef};
use x509_cert::der::{Header, Reader, Result, SliceReader};
use x509_cert::spki::AlgorithmIdentifier;

/// Returns the bits of the modulus of an RSA key in PKCS #1 or PKCS #8; `None` for a key of another kind.
pub(crate) fn rsa_bits(key: &PrivateKeyDer<'_>) -> Option<usize> {
    if let PrivateKeyDer::Pkcs1(key) = key {
        return modulus_bits(key.secret_pkcs1_der()).ok();
    }
    let PrivateKeyDer::Pkcs8(key) = key else { return None };
    modulus_bits(rsa_of_pkcs8(key.secret_pkcs8_der()).ok()??).ok()
}

/// Returns the key within a `PrivateKeyInfo`, if it is an RSA key.
///
/// # Spec
/// RFC 5208 §5.
fn rsa_of_pkcs8(info: &[u8]) -> Result<Option<&[u8]>> {
    let mut fields = fields_of(info)?;
    let _version: UintRef<'_> = fields.decode()?;
    let algorithm: AlgorithmIdentifier<AnyRef<'_>> = fields.decode()?;
    let key: &OctetStringRef = fields.decode()?;
    Ok((algorithm.oid == RSA_ENCRYPTION).then(|| key.as_bytes()))
}

/// Returns the bits of the modulus of a PKCS #1 key.
///
/// # Spec
/// RFC 8017, appendix A.1.2.
fn modulus_bits(key: &[u8]) -> Result<usize> {
    let mut fields = fields_of(key)?;
    let _version: UintRef<'_> = fields.decode()?;
    let modulus: UintRef<'_> = fields.decode()?;
    let bytes = modulus.as_bytes();
    let unused = bytes.first().map_or(0, |first| first.leading_zeros() as usize);
    Ok(bytes.len() * 8 - unused)
}

/// Returns a reader of the fields of a SEQUENCE.
fn fields_of(sequence: &[u8]) -> Result<SliceReader<'_>> {
    let mut reader = SliceReader::new(sequence)?;
    let _header: Header = reader.decode()?;
    Ok(reader)
}

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::KeyPair;
    use rustls::pki_types::pem::PemObject;

    #[test]
    fn the_size_of_rsa_keys_is_determined() {
        let bits = |key: &[u8]| rsa_bits(&PrivateKeyDer::from_pem_slice(key).unwrap());
        assert_eq!(bits(include_bytes!("../../../tests/e2e/data/certificates/rsa1024.key")), Some(1024));
        assert_eq!(
            bits(include_bytes!("../../../tests/e2e/data/certificates/rsa1024-pkcs1.key")),
            Some(1024)
        );
        assert_eq!(bits(KeyPair::generate().unwrap().serialize_pem().as_bytes()), None);
        for broken in [&b""[..], b"\x30", b"\x30\x03\x02\x01", b"\x30\x06\x02\x01\x00\x02\x01\x00"] {
            let bits = rsa_bits(&PrivateKeyDer::Pkcs1(broken.to_vec().into()));
            assert!(bits.is_none_or(|bits| bits == 0), "{broken:?}: {bits:?}");
        }
    }
}

//! Signature verification for guests: RSA (PKCS #1 v1.5) and ECDSA, by the algorithm of the key.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, UnparsedPublicKey, VerificationAlgorithm,
};

/// Kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignatureKeyKind {
    Rsa,
    P256,
    P384,
}

/// Public key as `SubjectPublicKeyInfo` (RFC 5280 §4.1.2.7), in DER.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublicKey<'a> {
    kind: SignatureKeyKind,
    key: &'a [u8],
}

impl<'a> PublicKey<'a> {
    /// Parses a key.
    ///
    /// # Errors
    /// The reason why the key is invalid.
    pub(crate) fn read(der: &'a [u8]) -> Result<Self, String> {
        let broken = || "not a public key: expected a SubjectPublicKeyInfo in DER".to_owned();
        let (info, rest) = element(der, SEQUENCE).ok_or_else(broken)?;
        let (algorithm, info) = element(info, SEQUENCE).ok_or_else(broken)?;
        let (bits, behind) = element(info, BIT_STRING).ok_or_else(broken)?;
        let (oid, parameters) = element(algorithm, OBJECT_ID).ok_or_else(broken)?;
        let key = bits.strip_prefix(&[0]).ok_or_else(broken)?;
        if !rest.is_empty() || !behind.is_empty() {
            return Err(broken());
        }
        let curve = element(parameters, OBJECT_ID).map(|(curve, _)| curve);
        let kind = match (oid, curve) {
            (RSA, _) => SignatureKeyKind::Rsa,
            (EC, Some(P256)) => SignatureKeyKind::P256,
            (EC, Some(P384)) => SignatureKeyKind::P384,
            _ => return Err("unsupported key: use RSA, or EC on curve P-256 or P-384".to_owned()),
        };
        Ok(Self { kind, key })
    }

    /// Verifies a signature of data with a hash function.
    ///
    /// # Errors
    /// The reason why the signature is not valid.
    pub(crate) fn verify(&self, hash: &[u8], signature: &[u8], data: &[u8]) -> Result<(), String> {
        let name = String::from_utf8_lossy(hash).to_ascii_uppercase();
        let algorithm: &'static dyn VerificationAlgorithm = match (self.kind, name.as_str()) {
            (SignatureKeyKind::Rsa, "SHA1") => &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
            (SignatureKeyKind::Rsa, "SHA256") => &RSA_PKCS1_2048_8192_SHA256,
            (SignatureKeyKind::Rsa, "SHA384") => &RSA_PKCS1_2048_8192_SHA384,
            (SignatureKeyKind::Rsa, "SHA512") => &RSA_PKCS1_2048_8192_SHA512,
            (SignatureKeyKind::P256, "SHA256") => &ECDSA_P256_SHA256_ASN1,
            (SignatureKeyKind::P256, "SHA384") => &ECDSA_P256_SHA384_ASN1,
            (SignatureKeyKind::P384, "SHA256") => &ECDSA_P384_SHA256_ASN1,
            (SignatureKeyKind::P384, "SHA384") => &ECDSA_P384_SHA384_ASN1,
            _ => return Err(format!("{} is not supported.", String::from_utf8_lossy(hash))),
        };
        UnparsedPublicKey::new(algorithm, self.key)
            .verify(data, signature)
            .map_err(|_| "Failed to verify digest.".to_owned())
    }
}

/// Returns the content of the first DER element, if it has this tag, and the rest.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[its_tag, first], rest) = der.split_first_chunk()?;
    if its_tag != tag {
        return None;
    }
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81 => rest.split_first().map(|(len, rest)| (usize::from(*len), rest))?,
        0x82 => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_be_bytes(*len)), rest))?,
        _ => return None,
    };
    rest.split_at_checked(len)
}

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;
const OBJECT_ID: u8 = 0x06;
/// Object identifiers: `rsaEncryption`, `id-ecPublicKey`, `secp256r1`, `secp384r1`.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];

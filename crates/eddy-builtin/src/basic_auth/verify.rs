//! Password verification.

use bcrypt::bcrypt;
use sha_crypt::{PasswordHashRef, PasswordVerifier, ShaCrypt};
use sha1::{Digest, Sha1};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::form::PasswordForm;

/// Whether `password` matches the form. The time does not depend on how much of it is correct.
pub(super) fn verify(form: &PasswordForm, password: &[u8]) -> bool {
    match form {
        // Digests have one length, so that the time does not reveal the password's length either.
        PasswordForm::Plain(plain) => Sha256::digest(plain).ct_eq(&Sha256::digest(password)).into(),
        PasswordForm::Sha1(digest) => Sha1::digest(password).as_slice().ct_eq(digest).into(),
        PasswordForm::Bcrypt { cost, salt, hash } => {
            let (key, length) = bcrypt_key(password);
            let key = key.get(..length).unwrap_or_default();
            let found = bcrypt(*cost, *salt, key);
            found.get(..hash.len()).unwrap_or_default().ct_eq(hash).into()
        }
        PasswordForm::ShaCrypt { text, .. } => PasswordHashRef::new(text)
            .is_ok_and(|hash| ShaCrypt::default().verify_password(password, hash).is_ok()),
    }
}

/// Returns the key that bcrypt uses: the password and a zero byte, truncated to 72 bytes.
fn bcrypt_key(password: &[u8]) -> (Zeroizing<[u8; BCRYPT_KEY_BYTES]>, usize) {
    let mut key = Zeroizing::new([0; BCRYPT_KEY_BYTES]);
    let used = password.len().min(BCRYPT_KEY_BYTES);
    if let (Some(place), Some(bytes)) = (key.get_mut(..used), password.get(..used)) {
        place.copy_from_slice(bytes);
    }
    (key, (used + 1).min(BCRYPT_KEY_BYTES))
}

const BCRYPT_KEY_BYTES: usize = 72;

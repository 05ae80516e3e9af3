//! Password hash formats: parsers and verification.

use std::fmt;

use base64ct::{Base64, Base64Bcrypt, Encoding};
use bcrypt::bcrypt;
use sha_crypt::{PasswordHashRef, PasswordVerifier, ShaCrypt};
use sha1::{Digest, Sha1};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;
use zeroize::Zeroizing;

/// Stored form of a password: plain text or a hash.
#[derive(Clone, PartialEq, Eq)]
pub enum PasswordForm {
    /// Plain password.
    Plain(Box<[u8]>),
    /// `{SHA}`: SHA-1 of the password.
    Sha1([u8; 20]),
    /// `$2a$`, `$2b$` or `$2y$`: bcrypt.
    Bcrypt {
        /// Cost: binary logarithm of the number of iterations.
        cost: u32,
        /// Salt.
        salt: [u8; 16],
        /// Hash.
        hash: [u8; 23],
    },
    /// `$5$` or `$6$`: SHA-256-crypt or SHA-512-crypt.
    ShaCrypt {
        /// Number of rounds.
        rounds: u32,
        /// Complete hash text.
        text: Box<str>,
    },
}

/// Error of parsing a password hash. The text is omitted, as it may be a password.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FormError {
    /// The hash is truncated or damaged.
    #[error("is not a complete {0} hash")]
    Damaged(&'static str),
    /// The hash format is unknown or not safe to use.
    #[error("has an unsupported hash format; use bcrypt (`htpasswd -B`)")]
    Unknown,
    /// The hash needs more work than a request may cost.
    #[error(
        "needs more work than a request may cost: at most bcrypt cost {BCRYPT_COST_MAX} or {ROUNDS_MAX} \
         rounds"
    )]
    TooExpensive,
    /// The password is empty or too long.
    #[error("must have 1 to 1,024 bytes")]
    Length,
    /// A plain password where only hashes are allowed.
    #[error("is a plain password; a password file may only contain hashes")]
    Plain,
}

impl PasswordForm {
    /// Parses a password from the configuration: a hash, or a plain password, optionally preceded by `{PLAIN}`.
    ///
    /// # Errors
    /// Any [`FormError`] but `Plain`.
    pub fn parse(text: &str) -> Result<Self, FormError> {
        if text.is_empty() || text.len() > PLAIN_BYTES_MAX {
            return Err(FormError::Length);
        }
        if let Some(plain) = text.strip_prefix("{PLAIN}") {
            return Ok(Self::Plain(plain.as_bytes().into()));
        }
        match text.as_bytes() {
            [b'{' | b'$', ..] => Self::parse_hash(text),
            _ => Ok(Self::Plain(text.as_bytes().into())),
        }
    }

    /// Parses a hash from a password file.
    ///
    /// # Errors
    /// Any [`FormError`].
    pub fn parse_hash(text: &str) -> Result<Self, FormError> {
        if let Some(digest) = text.strip_prefix("{SHA}") {
            let mut sha1 = [0; 20];
            let read = Base64::decode(digest, &mut sha1).map(<[u8]>::len);
            return if read == Ok(20) { Ok(Self::Sha1(sha1)) } else { Err(FormError::Damaged("SHA-1")) };
        }
        if text.starts_with("$5$") || text.starts_with("$6$") {
            return parse_sha_crypt(text);
        }
        match BCRYPT_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
            Some(rest) => parse_bcrypt(rest),
            None if text.starts_with(['{', '$']) => Err(FormError::Unknown),
            None => Err(FormError::Plain),
        }
    }

    /// Whether verification takes so long that it must not run on a worker.
    pub fn is_slow(&self) -> bool {
        self.work() > 0
    }

    /// Returns the relative cost of verification, for comparing two forms; 0 for quick ones.
    pub(super) fn work(&self) -> u64 {
        match self {
            Self::Plain(_) | Self::Sha1(_) => 0,
            // One step of the key schedule takes about as long as 128 rounds of SHA-512.
            Self::Bcrypt { cost, .. } => 128 << cost,
            Self::ShaCrypt { rounds, .. } => u64::from(*rounds),
        }
    }

    /// Whether `password` matches the form. The time does not depend on how much of it is correct.
    pub(super) fn verify(&self, password: &[u8]) -> bool {
        match self {
            // Digests have one length, so that the time does not reveal the password's length either.
            Self::Plain(plain) => Sha256::digest(plain).ct_eq(&Sha256::digest(password)).into(),
            Self::Sha1(digest) => Sha1::digest(password).as_slice().ct_eq(digest).into(),
            Self::Bcrypt { cost, salt, hash } => {
                let (key, length) = bcrypt_key(password);
                let key = key.get(..length).unwrap_or_default();
                let found = bcrypt(*cost, *salt, key);
                found.get(..hash.len()).unwrap_or_default().ct_eq(hash).into()
            }
            Self::ShaCrypt { text, .. } => PasswordHashRef::new(text)
                .is_ok_and(|hash| ShaCrypt::default().verify_password(password, hash).is_ok()),
        }
    }
}

/// Shows only the format.
impl fmt::Debug for PasswordForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Sha1(_) => "Sha1",
            Self::Bcrypt { .. } => "Bcrypt",
            Self::ShaCrypt { .. } => "ShaCrypt",
        })
    }
}

/// Parses the part after the prefix: two digits of cost, `$`, 22 characters of salt and 31 of hash.
fn parse_bcrypt(text: &str) -> Result<PasswordForm, FormError> {
    const DAMAGED: FormError = FormError::Damaged("bcrypt");
    let (cost, rest) = text.split_once('$').ok_or(DAMAGED)?;
    let (salt_text, hash_text) = rest.split_at_checked(22).ok_or(DAMAGED)?;
    let cost = Some(cost).filter(|cost| cost.len() == 2).and_then(|cost| cost.parse().ok()).ok_or(DAMAGED)?;
    let (mut salt, mut hash) = ([0; 16], [0; 23]);
    // The last character of each has unused bits, which other programs set arbitrarily.
    let read_salt = decode_loosely(salt_text, &mut salt);
    if !read_salt || hash_text.len() != 31 || !decode_loosely(hash_text, &mut hash) {
        return Err(DAMAGED);
    }
    match cost {
        4..=BCRYPT_COST_MAX => Ok(PasswordForm::Bcrypt { cost, salt, hash }),
        ..4 => Err(DAMAGED),
        _ => Err(FormError::TooExpensive),
    }
}

/// Decodes bcrypt's Base64 and ignores trailing bits that fill no byte.
fn decode_loosely(text: &str, out: &mut [u8]) -> bool {
    let mut padded = [b'.'; 32];
    let Some(place) = padded.get_mut(..text.len()) else { return false };
    place.copy_from_slice(text.as_bytes());
    let whole = text.len().next_multiple_of(4);
    let mut bytes = [0; 24];
    let Some(Ok(text)) = padded.get(..whole).map(std::str::from_utf8) else { return false };
    let Ok(decoded) = Base64Bcrypt::decode(text, &mut bytes) else { return false };
    let Some(kept) = decoded.get(..out.len()) else { return false };
    out.copy_from_slice(kept);
    true
}

fn parse_sha_crypt(text: &str) -> Result<PasswordForm, FormError> {
    const DAMAGED: FormError = FormError::Damaged("SHA-crypt");
    let parts: Vec<&str> = text.split('$').skip(1).collect();
    let (rounds, salt, hash) = match parts.as_slice() {
        [_, rounds, salt, hash] => (rounds.strip_prefix("rounds=").ok_or(DAMAGED)?, salt, hash),
        [_, salt, hash] => ("5000", salt, hash),
        _ => return Err(DAMAGED),
    };
    let rounds: u32 = rounds.parse().map_err(|_| DAMAGED)?;
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    let hash_len = if text.starts_with("$5$") { 43 } else { 86 };
    if !(1..=16).contains(&salt.len()) || !salt.bytes().all(is_char) || hash.len() != hash_len {
        return Err(DAMAGED);
    }
    match rounds {
        1000..=ROUNDS_MAX if hash.bytes().all(is_char) => {
            Ok(PasswordForm::ShaCrypt { rounds, text: text.into() })
        }
        1000..=ROUNDS_MAX | ..1000 => Err(DAMAGED),
        _ => Err(FormError::TooExpensive),
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

/// About two seconds.
const BCRYPT_COST_MAX: u32 = 15;
/// About two seconds.
const ROUNDS_MAX: u32 = 2_000_000;
const PLAIN_BYTES_MAX: usize = 1024;
const BCRYPT_PREFIXES: [&str; 3] = ["$2a$", "$2b$", "$2y$"];
const BCRYPT_KEY_BYTES: usize = 72;

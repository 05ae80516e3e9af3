//! What a password is compared with: its forms, read and told apart.

use std::fmt;

use base64ct::{Base64, Base64Bcrypt, Encoding};
use thiserror::Error;

/// What a password is compared with.
#[derive(Clone, PartialEq, Eq)]
pub enum PasswordForm {
    /// The password itself.
    Plain(Box<[u8]>),
    /// `{SHA}`: its SHA-1.
    Sha1([u8; 20]),
    /// `$2a$`, `$2b$` or `$2y$`: bcrypt.
    Bcrypt {
        /// The logarithm of the work.
        cost: u32,
        /// The salt.
        salt: [u8; 16],
        /// The result.
        hash: [u8; 23],
    },
    /// `$5$` or `$6$`: SHA-256-crypt or SHA-512-crypt.
    ShaCrypt {
        /// How often the digest is applied.
        rounds: u32,
        /// The whole text.
        text: Box<str>,
    },
}

/// Why a text is no form of a password. The text is left out, as it may be a password.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FormError {
    /// The text is cut off or damaged.
    #[error("is no whole {0} hash")]
    Damaged(&'static str),
    /// A form that is not known, or not safe to use.
    #[error("is a form of password that is not read; bcrypt (`htpasswd -B`) is best")]
    Unknown,
    /// More work than a request may cost.
    #[error(
        "asks for more work than a request may cost: at most bcrypt cost {BCRYPT_COST_MAX} or {ROUNDS_MAX} rounds"
    )]
    TooDear,
    /// Nothing, or far too much.
    #[error("is no password: it has 1 to 1,024 bytes")]
    Length,
    /// A plain password where none may stand.
    #[error("is a plain password, which a file of hashes does not hold")]
    Plain,
}

impl PasswordForm {
    /// Reads a form as it is written in a configuration: a hash, or a plain password, which `{PLAIN}` may precede.
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

    /// Reads a hash as it stands in a file.
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

    /// Whether comparing takes so long that it must not be done on a worker.
    pub fn is_slow(&self) -> bool {
        self.work() > 0
    }

    /// How much work comparing is, to tell the dearer of two forms; 0 for what is quick.
    pub(super) fn work(&self) -> u64 {
        match self {
            Self::Plain(_) | Self::Sha1(_) => 0,
            // One step of the schedule takes about as long as 128 rounds of SHA-512.
            Self::Bcrypt { cost, .. } => 128 << cost,
            Self::ShaCrypt { rounds, .. } => u64::from(*rounds),
        }
    }
}

/// Says which form it is and no more.
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

/// Reads what follows the prefix: two digits, `$`, 22 characters of salt and 31 of hash.
fn parse_bcrypt(text: &str) -> Result<PasswordForm, FormError> {
    const DAMAGED: FormError = FormError::Damaged("bcrypt");
    let (cost, rest) = text.split_once('$').ok_or(DAMAGED)?;
    let (salt_text, hash_text) = rest.split_at_checked(22).ok_or(DAMAGED)?;
    let cost = Some(cost).filter(|cost| cost.len() == 2).and_then(|cost| cost.parse().ok()).ok_or(DAMAGED)?;
    let (mut salt, mut hash) = ([0; 16], [0; 23]);
    // The last character of each carries bits that mean nothing, which other programs set as they like.
    let read_salt = decode_loosely(salt_text, &mut salt);
    if !read_salt || hash_text.len() != 31 || !decode_loosely(hash_text, &mut hash) {
        return Err(DAMAGED);
    }
    match cost {
        4..=BCRYPT_COST_MAX => Ok(PasswordForm::Bcrypt { cost, salt, hash }),
        ..4 => Err(DAMAGED),
        _ => Err(FormError::TooDear),
    }
}

/// Reads bcrypt's Base64 and drops the bits at its end that fill no byte.
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
        _ => Err(FormError::TooDear),
    }
}

/// About two seconds.
const BCRYPT_COST_MAX: u32 = 15;
/// About two seconds.
const ROUNDS_MAX: u32 = 2_000_000;
const PLAIN_BYTES_MAX: usize = 1024;
const BCRYPT_PREFIXES: [&str; 3] = ["$2a$", "$2b$", "$2y$"];

//! User table, with a dummy user for unknown names, and the parser of password files.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::config::BasicAuthConfig;
use super::form::{FormError, PasswordForm};
use crate::json::json_text;

/// Users by name.
#[derive(Debug)]
pub(super) struct Users {
    users: HashMap<Box<[u8]>, User>,
    /// Dummy user for unknown names: matches no password, and is as expensive to verify as the most expensive user.
    nobody: User,
    /// Whether any hash is slow.
    pub(super) has_slow: bool,
}

/// User with a password.
#[derive(Debug)]
pub(super) struct User {
    pub(super) name: Arc<str>,
    /// Name as JSON.
    pub(super) json: Box<str>,
    pub(super) form: PasswordForm,
    /// Digest of a plain password, so that it is not computed for each request.
    digest: Option<[u8; 32]>,
    pub(super) is_known_user: bool,
}

impl User {
    fn new(name: Arc<str>, form: PasswordForm) -> Self {
        let json = json_text(&name);
        let digest = match &form {
            PasswordForm::Plain(plain) => Some(digest(plain)),
            PasswordForm::Sha1(_) | PasswordForm::Bcrypt { .. } | PasswordForm::ShaCrypt { .. } => None,
        };
        Self { name, json, form, digest, is_known_user: true }
    }

    /// Whether this is the user's password. The time does not depend on how much of it is correct.
    pub(super) fn has_password(&self, password: &[u8]) -> bool {
        match &self.digest {
            // Digests have one length, so that the time does not reveal the password's length either.
            Some(wanted) => digest(password).ct_eq(wanted).into(),
            None => self.form.verify(password),
        }
    }
}

fn digest(password: &[u8]) -> [u8; 32] {
    Sha256::digest(password).into()
}

impl Users {
    /// Builds the table of a configuration; users written there take precedence over those of a file.
    pub(super) fn new(config: &BasicAuthConfig, file: Vec<(Arc<str>, PasswordForm)>) -> Self {
        let all = file.into_iter().chain(config.users.iter().cloned());
        let users: HashMap<Box<[u8]>, User> =
            all.map(|(name, form)| (name.as_bytes().into(), User::new(name, form))).collect();
        let dearest = users.values().max_by_key(|user| verification_cost(&user.form));
        let form = dearest.map_or_else(|| PasswordForm::Sha1([0; 20]), |user| unmatched(&user.form));
        let has_slow = form.is_slow();
        let nobody = User { is_known_user: false, ..User::new("".into(), form) };
        Self { users, nobody, has_slow }
    }

    /// Returns the user of this name, or the dummy user.
    pub(super) fn find(&self, name: &[u8]) -> &User {
        self.users.get(name).unwrap_or(&self.nobody)
    }

    /// Returns the dummy user for unknown names.
    pub(super) fn nobody(&self) -> &User {
        &self.nobody
    }
}

/// Returns a form of the same cost that matches no password.
fn unmatched(form: &PasswordForm) -> PasswordForm {
    match form {
        PasswordForm::Plain(_) => PasswordForm::Plain([].into()),
        PasswordForm::Sha1(_) => PasswordForm::Sha1([0; 20]),
        PasswordForm::Bcrypt { cost, .. } => {
            PasswordForm::Bcrypt { cost: *cost, salt: *b"eddy knows nobod", hash: [0; 23] }
        }
        PasswordForm::ShaCrypt { .. } => form.clone(),
    }
}

/// Sort key: the cost of verification.
fn verification_cost(form: &PasswordForm) -> (u64, bool) {
    (form.work(), matches!(form, PasswordForm::Sha1(_)))
}

/// Reads lines `user:hash`; skips empty lines and lines that begin with `#`.
///
/// # Errors
/// The problem and its line number, without the content of the line.
pub(super) fn read_users(bytes: &[u8]) -> Result<Vec<(Arc<str>, PasswordForm)>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8")
    })?;
    let mut users: Vec<(Arc<str>, PasswordForm)> = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, rest) = line.split_once(':').ok_or_else(|| format!("line {number} has no colon"))?;
        // Some programs store more data about a user behind another colon.
        let hash = rest.split(':').next().unwrap_or_default();
        if name.is_empty() || name.len() > USER_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(format!("line {number} has no valid user name"));
        }
        let form = PasswordForm::parse_hash(hash)
            .map_err(|error: FormError| format!("the password in line {number} {error}"))?;
        users.push((name.into(), form));
        if users.len() > USERS_MAX {
            return Err(format!("it has more than {USERS_MAX} users"));
        }
    }
    Ok(users)
}

const USER_BYTES_MAX: usize = 256;
const USERS_MAX: usize = 1_000_000;

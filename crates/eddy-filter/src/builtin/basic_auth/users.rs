//! The users, and whom a name that is not among them is taken for.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::config::BasicAuthConfig;
use super::form::PasswordForm;
use super::verify::verify;

/// The users by name.
#[derive(Debug)]
pub(super) struct Users {
    users: HashMap<Box<[u8]>, User>,
    /// Stands for all who are not users: nobody's password, as dear to compare as the dearest.
    nobody: User,
    /// Whether any form is slow.
    pub(super) has_slow: bool,
}

/// A user.
#[derive(Debug)]
pub(super) struct User {
    pub(super) name: Arc<str>,
    /// The name as JSON.
    pub(super) json: Box<str>,
    pub(super) form: PasswordForm,
    /// Of a plain password, so that it is not computed for each request.
    digest: Option<[u8; 32]>,
    pub(super) is_somebody: bool,
}

impl User {
    fn new(name: Arc<str>, form: PasswordForm, is_somebody: bool) -> Self {
        let json = json_text(&name);
        let digest = match &form {
            PasswordForm::Plain(plain) => Some(digest(plain)),
            PasswordForm::Sha1(_) | PasswordForm::Bcrypt { .. } | PasswordForm::ShaCrypt { .. } => None,
        };
        Self { name, json, form, digest, is_somebody }
    }

    /// Whether this is the user's password. The time does not depend on how much of it is right.
    pub(super) fn has_password(&self, password: &[u8]) -> bool {
        match &self.digest {
            // Digests of one length, so that the time does not tell the length either.
            Some(wanted) => digest(password).ct_eq(wanted).into(),
            None => verify(&self.form, password),
        }
    }
}

fn digest(password: &[u8]) -> [u8; 32] {
    Sha256::digest(password).into()
}

impl Users {
    /// The users of a configuration; those written there go before those of a file.
    pub(super) fn new(config: &BasicAuthConfig, file: Vec<(Arc<str>, PasswordForm)>) -> Self {
        let all = file.into_iter().chain(config.users.iter().cloned());
        let users: HashMap<Box<[u8]>, User> =
            all.map(|(name, form)| (name.as_bytes().into(), User::new(name, form, true))).collect();
        let dearest = users.values().max_by_key(|user| dearness(&user.form));
        let form = dearest.map_or_else(|| PasswordForm::Sha1([0; 20]), |user| nobodys(&user.form));
        let has_slow = form.is_slow();
        let nobody = User::new("".into(), form, false);
        Self { users, nobody, has_slow }
    }

    /// The user of this name, or nobody.
    pub(super) fn find(&self, name: &[u8]) -> &User {
        self.users.get(name).unwrap_or(&self.nobody)
    }

    /// Who stands for those who are not users.
    pub(super) fn nobody(&self) -> &User {
        &self.nobody
    }
}

/// A form of the same cost that is of no password.
fn nobodys(form: &PasswordForm) -> PasswordForm {
    match form {
        PasswordForm::Plain(_) => PasswordForm::Plain([].into()),
        PasswordForm::Sha1(_) => PasswordForm::Sha1([0; 20]),
        PasswordForm::Bcrypt { cost, .. } => {
            PasswordForm::Bcrypt { cost: *cost, salt: *b"eddy knows nobod", hash: [0; 23] }
        }
        PasswordForm::ShaCrypt { .. } => form.clone(),
    }
}

/// More for a form that costs more to compare with.
fn dearness(form: &PasswordForm) -> (u64, bool) {
    (form.work(), matches!(form, PasswordForm::Sha1(_)))
}

fn json_text(text: &str) -> Box<str> {
    let mut json = String::from("\"");
    for character in text.chars() {
        // Names have no control characters.
        if matches!(character, '"' | '\\') {
            json.push('\\');
        }
        json.push(character);
    }
    json.push('"');
    json.into()
}

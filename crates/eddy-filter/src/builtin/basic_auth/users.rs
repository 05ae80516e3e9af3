//! The users, and whom a name that is not among them is taken for.

use std::collections::HashMap;
use std::sync::Arc;

use super::config::BasicAuthConfig;
use super::form::PasswordForm;

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
    pub(super) is_somebody: bool,
}

impl Users {
    /// The users of a configuration; those written there go before those of a file.
    pub(super) fn new(config: &BasicAuthConfig, file: Vec<(Arc<str>, PasswordForm)>) -> Self {
        let all = file.into_iter().chain(config.users.iter().cloned());
        let users: HashMap<Box<[u8]>, User> = all
            .map(|(name, form)| {
                let json = json_text(&name);
                (name.as_bytes().into(), User { name, json, form, is_somebody: true })
            })
            .collect();
        let dearest = users.values().max_by_key(|user| dearness(&user.form));
        let form = dearest.map_or_else(|| PasswordForm::Sha1([0; 20]), |user| nobodys(&user.form));
        let has_slow = form.is_slow();
        let nobody = User { name: "".into(), json: "\"\"".into(), form, is_somebody: false };
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

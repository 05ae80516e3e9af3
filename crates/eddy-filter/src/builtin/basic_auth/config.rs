//! How the filter is configured.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::form::PasswordForm;

/// The configuration of `basic_auth`.
#[derive(Clone, PartialEq, Eq)]
pub struct BasicAuthConfig {
    /// Users and what their passwords are compared with.
    pub users: Vec<(Arc<str>, PasswordForm)>,
    /// A file of lines `user:hash`, if any; read when the filter is made.
    pub file: Option<PathBuf>,
    /// What the client is told that the password is for.
    pub realm: Arc<str>,
    /// The field that tells the endpoint the user's name, if any.
    pub user_field: Option<Arc<str>>,
    /// Whether the request goes on without its `Authorization` field.
    pub is_stripped: bool,
    /// How long a password that was found right by a slow form is not computed again; zero for always.
    pub cache_ttl: Duration,
    /// Most passwords so remembered.
    pub cache_entries_max: u32,
    /// Threads that compute slow forms.
    pub threads: u8,
    /// Most requests that wait for one.
    pub queue_max: u32,
}

impl Default for BasicAuthConfig {
    fn default() -> Self {
        Self {
            users: Vec::new(),
            file: None,
            realm: "restricted".into(),
            user_field: None,
            is_stripped: true,
            cache_ttl: Duration::from_secs(300),
            cache_entries_max: 4096,
            threads: 2,
            queue_max: 256,
        }
    }
}

/// Leaves out what passwords are compared with.
impl fmt::Debug for BasicAuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasicAuthConfig")
            .field("users", &self.users.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("file", &self.file)
            .field("realm", &self.realm)
            .field("user_field", &self.user_field)
            .field("is_stripped", &self.is_stripped)
            .field("cache_ttl", &self.cache_ttl)
            .field("cache_entries_max", &self.cache_entries_max)
            .field("threads", &self.threads)
            .field("queue_max", &self.queue_max)
            .finish()
    }
}

//! Configuration of `basic_auth`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::form::PasswordForm;

/// Configuration of `basic_auth`.
#[derive(Clone, PartialEq, Eq)]
pub struct BasicAuthConfig {
    /// Users with their password hashes.
    pub users: Vec<(Arc<str>, PasswordForm)>,
    /// File of lines `user:hash`, if any; read when the filter is created.
    pub file: Option<PathBuf>,
    /// Realm, shown to the client in the challenge.
    pub realm: Arc<str>,
    /// Request header that carries the user name to the endpoint, if any.
    pub user_field: Option<Arc<str>>,
    /// Whether the `Authorization` header is removed before the request is forwarded.
    pub is_stripped: bool,
    /// Time for which a verified password is cached, if its hash is slow; zero disables the cache.
    pub cache_ttl: Duration,
    /// Maximum number of cached passwords.
    pub cache_entries_max: u32,
    /// Number of threads that compute slow hashes.
    pub threads: u8,
    /// Maximum number of requests that wait for a thread.
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

/// Omits the password hashes.
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

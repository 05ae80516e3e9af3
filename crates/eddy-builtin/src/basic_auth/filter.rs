//! Basic authentication filter.

use std::sync::Arc;

use base64ct::{Base64, Encoding};
use eddy_filter::{ExchangeView, Interest, LoadError, LoadResult, Phase, Verdict};
use eddy_http::{FieldId, GrpcStatus};
use zeroize::{Zeroize, Zeroizing};

use super::authenticator::Authenticator;
use super::cache::Cache;
use super::config::BasicAuthConfig;
use super::pool::{HashThreadPool, Job};
use super::users::{Users, read_users};
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};

/// HTTP basic authentication: requires a user name and a password.
///
/// # Spec
/// [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617)
#[derive(Debug)]
pub(crate) struct BasicAuthFilter {
    authenticator: Arc<Authenticator>,
    /// Threads for slow hashes; `None` if no hash is slow.
    pool: Option<HashThreadPool>,
    overloaded: MetricCounter,
}

/// Decoded credentials of a request, wiped on drop.
struct Credentials {
    bytes: [u8; CREDENTIALS_BYTES_MAX],
    /// Number of bytes that may have been written; they are wiped at the end.
    written: usize,
    length: usize,
    colon: usize,
}

impl BasicAuthFilter {
    /// Creates the filter; reads the password file.
    ///
    /// # Errors
    /// [`LoadError::Refused`].
    pub(crate) fn new(config: &BasicAuthConfig, context: &BuiltinContext) -> LoadResult<Self> {
        let mut file = Vec::new();
        if let Some(path) = &config.file {
            let refused = |why: String| LoadError::Refused {
                message: format!("cannot use the password file \"{}\": {why}", path.display()),
            };
            let bytes = Zeroizing::new(context.services.read(path).map_err(refused)?);
            file = read_users(&bytes).map_err(refused)?;
        }
        let users = Users::new(config, file);
        let has_slow = users.has_slow;
        let authenticator = Arc::new(Authenticator {
            users,
            cache: Cache::new(config.cache_entries_max, config.cache_ttl, context.seed),
            challenge: format!("Basic realm=\"{}\", charset=\"UTF-8\"", config.realm).into(),
            user_field: config.user_field.clone(),
            is_stripped: config.is_stripped,
            refused: context.counter("refused"),
        });
        let mut pool = None;
        if has_slow {
            pool = Some(HashThreadPool::new(config.threads, config.queue_max, &authenticator, context)?);
        }
        Ok(Self { authenticator, pool, overloaded: context.counter("overloaded") })
    }

    fn verify(&self, credentials: &Credentials, answer: &mut PhaseContext<'_>) -> Verdict {
        let (name, password) = (credentials.user(), credentials.password());
        let user = self.authenticator.users.find(name);
        // In a table with slow hashes a wrong password is always as slow, or the time would reveal whose hash is quick.
        if !user.form.is_slow() {
            let is_right = user.has_password(password) && user.is_known_user;
            if is_right {
                return self.authenticator.accept(user, &mut |edit| answer.edit(edit));
            }
        }
        let Some(pool) = &self.pool else {
            return self.authenticator.refuse(answer.worker, &mut |edit| answer.edit(edit));
        };
        let pair = self.authenticator.cache.name(name, password);
        let now = answer.view.about().now;
        if user.is_known_user && self.authenticator.cache.has(pair, now) {
            return self.authenticator.accept(user, &mut |edit| answer.edit(edit));
        }
        let job = Job {
            exchange: answer.exchange,
            turn: answer.turn,
            step: answer.step(),
            user: name.into(),
            password: Zeroizing::new(password.to_vec()),
            name: pair,
            now,
        };
        if pool.push(job).is_ok() {
            return Verdict::Pause;
        }
        self.overloaded.count(answer.worker);
        let verdict = answer.reply(503, "too many concurrent logins\n", "basic_auth_overload");
        answer.reply_field("retry-after", b"1");
        answer.reply_grpc(GrpcStatus::Unavailable);
        verdict
    }
}

impl Builtin for BasicAuthFilter {
    fn interest(&self) -> Interest {
        Interest::of(&[Phase::RequestHead])
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        if answer.view.phase != Phase::RequestHead {
            return Verdict::Continue;
        }
        match Credentials::of(answer.view) {
            Some(credentials) => self.verify(&credentials, answer),
            None => self.authenticator.refuse(answer.worker, &mut |edit| answer.edit(edit)),
        }
    }
}

impl Credentials {
    /// Reads the credentials of a request; `None` if there are none, if the scheme is another, or if there is more than
    /// one `Authorization` header.
    fn of(view: &ExchangeView<'_>) -> Option<Self> {
        let mut sent = view.request.fields.all(FieldId::Authorization);
        let value = sent.next().filter(|_| sent.next().is_none())?;
        let (scheme, rest) = value.split_at_checked(6)?;
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return None;
        }
        let written = rest.len().min(CREDENTIALS_BYTES_MAX);
        let mut this = Self { bytes: [0; CREDENTIALS_BYTES_MAX], written, length: 0, colon: 0 };
        this.length = Base64::decode(rest.trim_ascii(), &mut this.bytes).ok()?.len();
        this.colon = this.bytes.get(..this.length)?.iter().position(|byte| *byte == b':')?;
        Some(this)
    }

    fn user(&self) -> &[u8] {
        self.bytes.get(..self.colon).unwrap_or_default()
    }

    fn password(&self) -> &[u8] {
        self.bytes.get(self.colon + 1..self.length).unwrap_or_default()
    }
}

impl Drop for Credentials {
    fn drop(&mut self) {
        self.bytes.get_mut(..self.written).unwrap_or_default().zeroize();
    }
}

/// Maximum length of user name, colon and password in bytes.
const CREDENTIALS_BYTES_MAX: usize = 1024;

//! Basic authentication filter.

use std::sync::Arc;

use base64ct::{Base64, Encoding};
use eddy_filter::{EditLog, ExchangeView, FilterEdit, Interest, LoadError, LoadResult, Phase, Verdict};
use eddy_http::FieldId;
use zeroize::{Zeroize, Zeroizing};

use super::cache::Cache;
use super::config::BasicAuthConfig;
use super::file::read_users;
use super::pool::{CredentialStore, HashThreadPool, Job, PasswordCheck, Say};
use super::users::{User, Users};
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};

/// HTTP basic authentication: requires a user name and a password.
///
/// # Spec
/// [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617)
#[derive(Debug)]
pub(crate) struct BasicAuthFilter {
    known: Arc<CredentialStore>,
    words: Arc<Words>,
    /// Threads for slow hashes; `None` if no hash is slow.
    pool: Option<HashThreadPool>,
    refused: MetricCounter,
    overloaded: MetricCounter,
}

/// Edits that accept or reject a request.
#[derive(Debug)]
struct Words {
    challenge: Box<str>,
    user_field: Option<Arc<str>>,
    is_stripped: bool,
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
        let cache = Cache::new(config.cache_entries_max, config.cache_ttl, context.seed);
        let known = Arc::new(CredentialStore { users, cache });
        let words = Arc::new(Words {
            challenge: format!("Basic realm=\"{}\", charset=\"UTF-8\"", config.realm).into(),
            user_field: config.user_field.clone(),
            is_stripped: config.is_stripped,
        });
        let refused = context.counter("refused");
        let mut pool = None;
        if has_slow {
            let (words, last_lane) = (Arc::clone(&words), context.host.workers());
            let say: Arc<Say> =
                Arc::new(move |known: &CredentialStore, job: &Job, outcome, edits: &mut EditLog| {
                    // Edits that exceed the limit are refused by the host; a few headers always fit.
                    let mut write = |edit: &FilterEdit<'_>| {
                        let _ = edits.push(job.step, edit);
                    };
                    match outcome {
                        PasswordCheck::Right => words.welcome(known.users.find(&job.user), &mut write),
                        PasswordCheck::Wrong => {
                            refused.count(u16::try_from(last_lane).unwrap_or(u16::MAX));
                            words.refuse(&mut write)
                        }
                    }
                });
            pool = Some(HashThreadPool::new(config.threads, config.queue_max, &known, &say, context)?);
        }
        Ok(Self { known, words, pool, refused, overloaded: context.counter("overloaded") })
    }

    fn judge(&self, credentials: &Credentials, answer: &mut PhaseContext<'_>) -> Verdict {
        let (name, password) = (credentials.user(), credentials.password());
        let user = self.known.users.find(name);
        // In a table with slow hashes a wrong password is always as slow, or the time would reveal whose hash is quick.
        if !user.form.is_slow() {
            let is_right = user.has_password(password) && user.is_somebody;
            if is_right {
                return self.words.welcome(user, &mut |edit| answer.edit(edit));
            }
        }
        let Some(pool) = &self.pool else {
            self.refused.count(answer.worker);
            return self.words.refuse(&mut |edit| answer.edit(edit));
        };
        let pair = self.known.cache.name(name, password);
        if user.is_somebody && self.known.cache.has(pair, answer.view.about.now) {
            return self.words.welcome(user, &mut |edit| answer.edit(edit));
        }
        let job = Job {
            exchange: answer.exchange,
            turn: answer.turn,
            step: answer.step(),
            user: name.into(),
            password: Zeroizing::new(password.to_vec()),
            name: pair,
            now: answer.view.about.now,
        };
        if pool.ask(job).is_ok() {
            return Verdict::Pause;
        }
        self.overloaded.count(answer.worker);
        let verdict = answer.reply(503, "too many concurrent logins\n", "basic_auth_overload");
        answer.reply_field("retry-after", b"1");
        answer.edit(&FilterEdit::ReplyGrpc(GRPC_UNAVAILABLE));
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
            Some(credentials) => self.judge(&credentials, answer),
            None => {
                self.refused.count(answer.worker);
                self.words.refuse(&mut |edit| answer.edit(edit))
            }
        }
    }
}

impl Words {
    /// Accepts the request of this user.
    fn welcome(&self, user: &User, write: &mut dyn FnMut(&FilterEdit<'_>)) -> Verdict {
        write(&FilterEdit::Metadata { space: b"auth", key: b"user", value: user.json.as_bytes() });
        if self.is_stripped {
            write(&FilterEdit::Remove { name: b"authorization" });
        }
        if let Some(field) = &self.user_field {
            write(&FilterEdit::Set { name: field.as_bytes(), value: user.name.as_bytes() });
        }
        Verdict::Continue
    }

    /// Replies 401 with a challenge.
    fn refuse(&self, write: &mut dyn FnMut(&FilterEdit<'_>)) -> Verdict {
        write(&FilterEdit::Reply { status: 401, body: b"unauthorized\n", details: b"basic_auth" });
        write(&FilterEdit::ReplyField { name: b"www-authenticate", value: self.challenge.as_bytes() });
        write(&FilterEdit::ReplyGrpc(GRPC_UNAUTHENTICATED));
        Verdict::Reply
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
const GRPC_UNAVAILABLE: u32 = 14;
const GRPC_UNAUTHENTICATED: u32 = 16;

//! Users, cache and responses of a filter, shared by its workers and its threads.

use std::sync::Arc;

use eddy_filter::{FilterEdit, Verdict};
use eddy_http::GrpcStatus;
use eddy_ids::WorkerTime;

use super::cache::{Cache, PairName};
use super::users::{User, Users};
use crate::context::MetricCounter;

/// Verifies passwords and writes the edits that accept or refuse a request.
#[derive(Debug)]
pub(super) struct Authenticator {
    pub(super) users: Users,
    pub(super) cache: Cache,
    /// Value of `WWW-Authenticate`.
    pub(super) challenge: Box<str>,
    pub(super) user_field: Option<Arc<str>>,
    pub(super) is_stripped: bool,
    pub(super) refused: MetricCounter,
}

impl Authenticator {
    /// Whether the password of a user is right; `pair` names both in the cache. A wrong one takes as long for every
    /// user name.
    pub(super) fn verify(&self, user: &[u8], password: &[u8], pair: PairName, now: WorkerTime) -> bool {
        // Browsers send several requests at once: only the first one needs the computation.
        if self.cache.has(pair, now) {
            return true;
        }
        let user = self.users.find(user);
        if user.has_password(password) && user.is_known_user {
            if user.form.is_slow() {
                self.cache.remember(pair, now);
            }
            return true;
        }
        let nobody = self.users.nobody();
        if user.form.work() < nobody.form.work() {
            let _ = nobody.form.verify(password);
        }
        false
    }

    /// Accepts the request of this user.
    pub(super) fn accept(&self, user: &User, write: &mut dyn FnMut(&FilterEdit<'_>)) -> Verdict {
        write(&FilterEdit::Metadata { space: b"auth", key: b"user", value: user.json.as_bytes() });
        if self.is_stripped {
            write(&FilterEdit::Remove { name: b"authorization" });
        }
        if let Some(field) = &self.user_field {
            write(&FilterEdit::Set { name: field.as_bytes(), value: user.name.as_bytes() });
        }
        Verdict::Continue
    }

    /// Replies 401 with a challenge, and counts that in the lane of a worker.
    pub(super) fn refuse(&self, worker: u16, write: &mut dyn FnMut(&FilterEdit<'_>)) -> Verdict {
        self.refused.count(worker);
        write(&FilterEdit::Reply { status: 401, body: b"unauthorized\n", details: b"basic_auth" });
        write(&FilterEdit::ReplyField { name: b"www-authenticate", value: self.challenge.as_bytes() });
        write(&FilterEdit::ReplyGrpc(GrpcStatus::Unauthenticated.code()));
        Verdict::Reply
    }
}

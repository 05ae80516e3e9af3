//! Renewal task of one certificate.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::sleep;

use crate::error::OrderError;
use crate::issuer::Issuer;
use crate::schedule::{PAUSE_MAX_S, RenewalWindow, pause, renewal};
use crate::settings::CertificateSpec;
use crate::stored::StoredCertificate;

/// Orders one certificate and renews it in time.
pub(crate) struct RenewalTask {
    issuer: Arc<Issuer>,
    wanted: CertificateSpec,
    /// Consecutive failed attempts.
    failures: u32,
    /// Earliest time of the next attempt after a failure, in seconds since 1970.
    retry_at: u64,
    /// Renewal window that the authority suggests, if known.
    told: Option<RenewalWindow>,
    /// When the authority may be asked for the window again, in seconds since 1970.
    ask_at: u64,
}

impl RenewalTask {
    pub(crate) fn new(issuer: Arc<Issuer>, wanted: CertificateSpec) -> Self {
        Self { issuer, wanted, failures: 0, retry_at: 0, told: None, ask_at: 0 }
    }

    /// Runs the renewal loop; never returns.
    pub(crate) async fn run(mut self) {
        loop {
            let have = self.look();
            if let Some(have) = &have {
                self.ask(have).await;
            }
            let due = self.due(have.as_ref()).await;
            let expires = have.as_ref().map(|have| have.validity.not_after);
            self.issuer.status.handle_plan(self.wanted.name(), expires, due);
            match due.checked_sub(now()) {
                // The system clock may be set and the machine may be suspended, so long waits are split.
                #[expect(clippy::disallowed_methods, reason = "a certificate is renewed at its time")]
                Some(left @ 1..) => sleep(Duration::from_secs(left).min(CLOCK_CHECK_INTERVAL)).await,
                Some(0) | None => self.order(have.as_ref()).await,
            }
        }
    }

    /// Returns the stored certificate if it is usable.
    fn look(&self) -> Option<StoredCertificate> {
        match self.issuer.look(&self.wanted) {
            Ok(Some(Ok(have))) => Some(have),
            Ok(None) => None,
            Ok(Some(Err(error))) => {
                let file = self.wanted.file.display();
                tracing::error!("`{file}` has no usable certificate; another one is ordered: {error}");
                None
            }
            Err(error) => {
                tracing::error!("{error}");
                None
            }
        }
    }

    /// Asks the authority for the renewal window, if that is due.
    async fn ask(&mut self, have: &StoredCertificate) {
        let now = now();
        if now < self.ask_at {
            return;
        }
        let again = match self.issuer.fetch_renewal_window(have).await {
            Ok(Some((window, again))) => {
                self.told = Some(window);
                again.clamp(RENEWAL_INFO_INTERVAL_MIN_S, RENEWAL_INFO_INTERVAL_MAX_S)
            }
            Ok(None) => RENEWAL_INFO_INTERVAL_MAX_S,
            Err(error) => {
                tracing::debug!("the renewal window of `{}` is not available: {error}", self.wanted.name());
                RENEWAL_INFO_INTERVAL_MIN_S
            }
        };
        self.ask_at = now + again;
    }

    /// Returns when the next order is due, in seconds since 1970.
    async fn due(&self, have: Option<&StoredCertificate>) -> u64 {
        let now = now();
        let wanted = match have {
            Some(have) if have.is_for(&self.wanted.hosts) => {
                renewal(have.validity, self.told, have.fraction, now)
            }
            Some(_) | None => 0,
        };
        wanted.max(self.retry_at).max(self.issuer.free_at(&self.wanted, now).await)
    }

    async fn order(&mut self, have: Option<&StoredCertificate>) {
        let name = self.wanted.name();
        tracing::info!(certificate = name, hosts = self.wanted.hosts.join(" "), "ordering a certificate");
        // Only an authority that offers renewal information knows the `replaces` field of an order. After a failure the
        // field is left out, because it may be the cause.
        let replaced = have.filter(|_| self.told.is_some() && self.failures == 0);
        match self.issuer.order(&self.wanted, replaced, now()).await {
            Ok(have) => {
                let days = have.validity.not_after.saturating_sub(now()) / DAY_S;
                tracing::info!(certificate = name, days, "a certificate was issued");
                self.issuer.status.handle_issued(name);
                (self.failures, self.retry_at, self.told, self.ask_at) = (0, 0, None, 0);
            }
            Err(error) => self.handle_failure(have, &error),
        }
    }

    fn handle_failure(&mut self, have: Option<&StoredCertificate>, error: &OrderError) {
        self.failures = self.failures.saturating_add(1);
        let pause_s = if error.is_rate_limit() { PAUSE_MAX_S } else { pause(self.failures) };
        self.retry_at = now() + pause_s;
        let name = self.wanted.name();
        self.issuer.status.handle_failed(name, &error.to_string(), Some(self.retry_at));
        match have.map(|have| have.validity.not_after.saturating_sub(now()) / DAY_S) {
            Some(days @ 1..) => {
                tracing::warn!(
                    certificate = name,
                    days,
                    pause_s,
                    "no certificate was issued; the previous one stays in use: {error}"
                );
            }
            Some(0) => tracing::error!(
                certificate = name,
                pause_s,
                "no certificate was issued, and the previous one expires: {error}"
            ),
            None => tracing::error!(
                certificate = name,
                pause_s,
                "no certificate was issued, and there is no previous one: {error}"
            ),
        }
    }
}

/// Returns the seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

/// Maximum time between two checks of the clock.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(15 * 60);
/// Minimum and maximum interval of requests for the renewal window, whatever interval the authority states.
const RENEWAL_INFO_INTERVAL_MIN_S: u64 = 3600;
const RENEWAL_INFO_INTERVAL_MAX_S: u64 = 24 * 3600;
const DAY_S: u64 = 24 * 3600;

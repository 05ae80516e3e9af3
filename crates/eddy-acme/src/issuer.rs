//! Resources that all renewal tasks share: the ACME account, the store and the order budget.

use std::sync::Arc;

use eddy_tls::{Challenges, IdentityError};
use instant_acme::{Account, NewAccount};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use crate::budget::OrderBudget;
use crate::error::{OrderError, StoreError};
use crate::https::HttpsClient;
use crate::order::{OrderRequest, order};
use crate::schedule::RenewalWindow;
use crate::settings::{AcmeSettings, CertificateSpec};
use crate::status::Status;
use crate::store::{AcmeStore, KeptAccount};
use crate::stored::StoredCertificate;

/// Resources that all renewal tasks share.
pub(crate) struct Issuer {
    pub(crate) settings: Arc<AcmeSettings>,
    pub(crate) status: Arc<Status>,
    store: AcmeStore,
    challenges: Arc<Challenges>,
    account: Mutex<Option<Account>>,
    budget: Mutex<OrderBudget>,
    /// Limits concurrent orders.
    seats: Semaphore,
}

impl Issuer {
    pub(crate) fn new(
        settings: Arc<AcmeSettings>,
        status: Arc<Status>,
        store: AcmeStore,
        challenges: Arc<Challenges>,
    ) -> Self {
        let budget = Mutex::new(OrderBudget::of(&store));
        Self {
            settings,
            status,
            store,
            challenges,
            account: Mutex::default(),
            budget,
            seats: Semaphore::new(ORDERS_AT_ONCE),
        }
    }

    /// Returns the stored certificate, if one exists.
    pub(crate) fn look(
        &self,
        wanted: &CertificateSpec,
    ) -> Result<Option<Result<StoredCertificate, IdentityError>>, StoreError> {
        Ok(self.store.read_certificate(&wanted.file)?.map(|pem| StoredCertificate::parse(&pem)))
    }

    /// Returns the earliest second at which a certificate may be ordered.
    pub(crate) async fn free_at(&self, wanted: &CertificateSpec, now: u64) -> u64 {
        self.budget.lock().await.free_at(wanted.name(), now)
    }

    /// Returns the renewal window that the authority suggests, and the seconds until it may be asked again.
    pub(crate) async fn fetch_renewal_window(
        &self,
        have: &StoredCertificate,
    ) -> Result<Option<(RenewalWindow, u64)>, OrderError> {
        let Some(id) = &have.id else { return Ok(None) };
        let told = self.account().await?.renewal_info(id).await;
        let (info, again) = match told {
            Err(instant_acme::Error::Unsupported(_)) => return Ok(None),
            told => told?,
        };
        let second = |time: i64| u64::try_from(time).unwrap_or_default();
        let window = RenewalWindow {
            start: second(info.suggested_window.start.unix_timestamp()),
            end: second(info.suggested_window.end.unix_timestamp()),
        };
        Ok(Some((window, again.as_secs())))
    }

    /// Orders a certificate and stores it.
    ///
    /// # Errors
    /// When no certificate is issued; the stored one stays in place.
    pub(crate) async fn order(
        &self,
        wanted: &CertificateSpec,
        replaced: Option<&StoredCertificate>,
        now: u64,
    ) -> Result<StoredCertificate, OrderError> {
        let _seat = self.seats.acquire().await;
        // Recorded on disk first: when that fails, the certificate could not be stored either and must not be ordered.
        self.budget.lock().await.note(wanted.name(), now, &self.store)?;
        let ask = OrderRequest {
            hosts: &wanted.hosts,
            profile: self.settings.profile.as_deref(),
            kind: self.settings.challenge,
            replaces: replaced.and_then(|have| have.id.clone()),
        };
        let ordered = timeout(ORDER_TIME_MAX, async {
            let account = self.account().await?;
            order(&account, ask, &self.challenges).await
        });
        let pem = match ordered.await.unwrap_or(Err(OrderError::Slow(ORDER_TIME_MAX))) {
            Err(error) if error.is_unknown_account() => {
                self.forget_account().await?;
                return Err(error);
            }
            ordered => ordered?,
        };
        let have = StoredCertificate::parse(pem.as_bytes())?;
        if !have.is_for(&wanted.hosts) {
            return Err(OrderError::Foreign);
        }
        self.store.write_certificate(&wanted.file, &pem)?;
        Ok(have)
    }

    /// Returns the stored account, or opens a new one.
    async fn account(&self) -> Result<Account, OrderError> {
        let mut held = self.account.lock().await;
        if let Some(account) = &*held {
            return Ok(account.clone());
        }
        let contact = self.settings.email.as_ref().map(|email| format!("mailto:{email}"));
        let contacts: Vec<&str> = contact.as_deref().into_iter().collect();
        let builder = Account::builder_with_http(Box::new(HttpsClient::new(self.settings.tls.clone())));
        let account = match self.store.read_account()? {
            Some(kept) => {
                let is_same = kept.contact == contact;
                let account = builder.from_credentials(kept.credentials).await?;
                if !is_same {
                    account.update_contacts(&contacts).await?;
                    self.keep_contact(contact)?;
                }
                account
            }
            None => {
                let new = NewAccount {
                    contact: &contacts,
                    terms_of_service_agreed: true,
                    only_return_existing: false,
                };
                let (account, credentials) =
                    builder.create(&new, self.settings.directory.clone(), None).await?;
                self.store.write_account(&KeptAccount { contact, credentials })?;
                tracing::info!(
                    directory = self.settings.directory,
                    "an account was created with the authority"
                );
                account
            }
        };
        *held = Some(account.clone());
        Ok(account)
    }

    fn keep_contact(&self, contact: Option<String>) -> Result<(), StoreError> {
        match self.store.read_account()? {
            Some(kept) => self.store.write_account(&KeptAccount { contact, ..kept }),
            None => Ok(()),
        }
    }

    async fn forget_account(&self) -> Result<(), StoreError> {
        tracing::warn!(
            directory = self.settings.directory,
            "the authority no longer knows the account; the next attempt creates another one"
        );
        *self.account.lock().await = None;
        self.store.retire_account()
    }
}

/// Maximum concurrent orders.
const ORDERS_AT_ONCE: usize = 4;
/// Timeout of an order.
const ORDER_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(15 * 60);

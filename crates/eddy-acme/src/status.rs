//! State of certificate orders, for the admin API.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::settings::AcmeSettings;

/// State of all certificate orders.
#[derive(Debug, Default)]
pub struct Status {
    /// Certificates by name.
    certificates: Mutex<BTreeMap<String, CertificateView>>,
}

/// State of one certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertificateView {
    /// Hosts that it covers.
    pub hosts: Vec<String>,
    /// Last second of its validity, since 1970; `None` without a certificate.
    pub expires_at: Option<u64>,
    /// When the next order is due, in seconds since 1970; `None` while this process cannot order, or another one does.
    pub ordered_at: Option<u64>,
    /// Certificates issued since the start.
    pub issued: u64,
    /// Failed orders since the start.
    pub failed: u64,
    /// Error of the last order; `None` after a success.
    pub error: Option<String>,
}

impl Status {
    /// Returns the state of each certificate by its name, which is its first host.
    pub fn certificates(&self) -> BTreeMap<String, CertificateView> {
        self.lock().clone()
    }

    /// Applies new settings; counters of certificates that stay are kept.
    pub(crate) fn handle_settings(&self, settings: Option<&AcmeSettings>) {
        let mut certificates = self.lock();
        let mut before = std::mem::take(&mut *certificates);
        for wanted in settings.into_iter().flat_map(|settings| &settings.certificates) {
            let view = before.remove(wanted.name()).unwrap_or_default();
            let view = CertificateView { hosts: wanted.hosts.clone(), ordered_at: None, ..view };
            certificates.insert(wanted.name().to_owned(), view);
        }
    }

    pub(crate) fn handle_plan(&self, name: &str, expires_at: Option<u64>, ordered_at: u64) {
        self.change(name, |view| {
            view.expires_at = expires_at;
            view.ordered_at = Some(ordered_at);
        });
    }

    pub(crate) fn handle_issued(&self, name: &str) {
        self.change(name, |view| {
            view.issued += 1;
            view.error = None;
        });
    }

    /// Records a failed order, and when the next one is due; `None` while the store cannot be used.
    pub(crate) fn handle_failed(&self, name: &str, error: &str, ordered_at: Option<u64>) {
        self.change(name, |view| {
            view.failed += 1;
            view.ordered_at = ordered_at;
            view.error = Some(error.to_owned());
        });
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut CertificateView)) {
        if let Some(view) = self.lock().get_mut(name) {
            change(view);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, CertificateView>> {
        self.certificates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! How orders do, for whoever asks.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::settings::AcmeSettings;

/// How orders do.
#[derive(Debug, Default)]
pub struct Status {
    /// By name.
    certificates: Mutex<BTreeMap<String, CertificateView>>,
}

/// How one certificate does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertificateView {
    /// The hosts that it is for.
    pub hosts: Vec<String>,
    /// The last second in which it holds, since 1970; nothing where there is none.
    pub expires_at: Option<u64>,
    /// When it is ordered next, seconds since 1970; nothing where another process orders.
    pub ordered_at: Option<u64>,
    /// Certificates that were issued since the start.
    pub issued: u64,
    /// Orders that came to nothing since the start.
    pub failed: u64,
    /// Why the last one did; nothing once one was issued.
    pub error: Option<String>,
}

impl Status {
    /// How each certificate does, by its name, the first of its hosts.
    pub fn certificates(&self) -> BTreeMap<String, CertificateView> {
        self.lock().clone()
    }

    /// Takes note of what is wanted from now on; figures of what was wanted before go on.
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

    pub(crate) fn handle_failed(&self, name: &str, error: &str) {
        self.change(name, |view| {
            view.failed += 1;
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

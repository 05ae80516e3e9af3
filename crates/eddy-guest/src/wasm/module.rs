//! Module of a library: what its VMs and their owners share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use eddy_filter::{FilterLibrary, HostError, Wake};
use eddy_ids::Millis;
use proxy_wasm_host::{Image, SharedView};

use super::embedding::{Common, Embedding, Plugin};
use super::settings::Isolation;
use super::token::WakeToken;

/// Part of a library that its VMs and their owners share.
pub(super) struct ModuleShared {
    /// The library, as the host knows it.
    pub(super) me: Weak<dyn FilterLibrary>,
    pub(super) common: Arc<Common>,
    pub(super) image: Image<Embedding>,
    pub(super) shared: SharedView,
    pub(super) vm_config: Arc<[u8]>,
    pub(super) isolation: Isolation,
    /// Whether the library is only created as a test.
    pub(super) is_trial: bool,
    pub(super) plugins: RwLock<Vec<Arc<Plugin>>>,
}

impl ModuleShared {
    /// Returns the plugin with this number of the library.
    pub(super) fn plugin(&self, number: u64) -> Option<Arc<Plugin>> {
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        plugins.get(usize::try_from(number).ok()?.checked_sub(1)?).map(Arc::clone)
    }

    /// Returns all plugins.
    pub(super) fn plugins(&self) -> Vec<Arc<Plugin>> {
        self.plugins.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Wakes the library on a worker.
    ///
    /// # Errors
    /// A host without workers, as in a trial, cannot wake any.
    pub(super) fn wake(
        &self,
        worker: u16,
        after: Millis,
        token: WakeToken,
        filter: u32,
    ) -> Result<(), HostError> {
        let wake = Wake { library: Weak::clone(&self.me), filter, token: token.number(), worker, after };
        self.common.host.wake(wake)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

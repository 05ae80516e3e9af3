//! Module of a library: its compilation, and what its VMs and their owners share.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock, Weak};

use eddy_filter::{FilterLibrary, HostError, Wake};
use eddy_ids::Millis;
use proxy_wasm_host::{Image, Module, SharedServices, SharedView, UnknownImports};
use wasm_sandbox::Engine;

use super::embedding::{Common, Embedding, Plugin};
use super::settings::Isolation;
use super::token::WakeToken;
use crate::engine::with_sources;
use crate::guest::index_of;

/// Data and queues shared by modules.
pub(super) static SERVICES: LazyLock<Arc<SharedServices>> = LazyLock::new(Arc::default);

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
        plugins.get(index_of(number)?).map(Arc::clone)
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

/// Reads and compiles a module.
///
/// # Errors
/// The reason why it cannot be used.
pub(super) fn compile(engine: &Engine, path: &Path) -> Result<Module, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MODULE_BYTES_MAX {
        return Err(format!("it has {length} bytes, more than {MODULE_BYTES_MAX}"));
    }
    let code = fs::read(path).map_err(|error| error.to_string())?;
    Module::compile(engine, &code, UnknownImports::Refuse).map_err(|error| with_sources(&error))
}

/// Maximum size of a module file.
const MODULE_BYTES_MAX: u64 = 256 << 20;

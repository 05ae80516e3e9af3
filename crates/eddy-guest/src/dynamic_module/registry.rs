//! Modules of the process: each file once.

use std::path::Path;
use std::sync::{Arc, Mutex};

use eddy_filter::{HostApi, LoadError, LoadResult};

use super::host;
use super::library::DynamicModule;
use super::load::{self, SymbolScope};
use crate::lock::lock;
use crate::native::{self, FileIdentity};
use crate::thread::prepare_thread;

static MODULES: Mutex<Vec<Arc<DynamicModule>>> = Mutex::new(Vec::new());

impl DynamicModule {
    /// Opens a module; the same file returns the same module. A trial module is opened only to check that it works.
    ///
    /// All guests of a process share the first host passed. Must not be called on a worker's thread, nor on the main
    /// thread for a module in Go. The calling thread must not end before the process does.
    ///
    /// # Errors
    /// [`LoadError::Library`]: the file does not exist, is not a dynamic module with HTTP filters, needs callbacks that
    /// eddy does not have, brings a second Go runtime, or was changed since it was opened.
    pub fn open(
        path: &Path,
        scope: SymbolScope,
        host: &Arc<dyn HostApi>,
        is_trial: bool,
    ) -> LoadResult<Arc<Self>> {
        let failed = |why: String| LoadError::Library {
            message: format!("cannot use the dynamic module \"{}\": {why}", path.display()),
        };
        let identity = FileIdentity::of(path).map_err(|error| failed(error.to_string()))?;
        let mut modules = lock(&MODULES);
        if let Some(known) = modules.iter().find(|known| known.identity().is_same_file(&identity)) {
            if *known.identity() != identity {
                return Err(failed("it was changed after this process opened it".to_owned()));
            }
            return Ok(Arc::clone(known));
        }
        if modules.iter().any(|known| known.path() == path) {
            return Err(failed("it was replaced after this process opened it".to_owned()));
        }
        native::host::install(host).map_err(failed)?;
        native::claim_go_runtime(path).map_err(failed)?;
        host::set_trial(is_trial);
        prepare_thread();
        let hooks = load::open(path, scope).map_err(failed)?;
        let module = Self::new(path, identity, hooks, host);
        modules.push(Arc::clone(&module));
        Ok(module)
    }
}

/// Whether this process cannot open the current file at this path, but a new process could.
///
/// A library is never closed, so a changed or replaced file still has its old code here. A process has one Go runtime,
/// that of the first library that contains one.
pub fn needs_new_process(path: &Path) -> bool {
    let Ok(identity) = FileIdentity::of(path) else { return false };
    let modules = lock(&MODULES);
    if modules.iter().any(|known| *known.identity() == identity) {
        return false;
    }
    let is_stale =
        |known: &Arc<DynamicModule>| known.path() == path || known.identity().is_same_file(&identity);
    modules.iter().any(is_stale) || native::needs_new_process(path)
}

//! Shared data of proxy-wasm modules in this process, and their compilation.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use proxy_wasm_host::{Module, SharedServices, UnknownImports};
use wasm_sandbox::Engine;

use crate::engine::with_sources;

/// Data and queues shared by modules.
pub(super) static SERVICES: LazyLock<Arc<SharedServices>> = LazyLock::new(Arc::default);

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

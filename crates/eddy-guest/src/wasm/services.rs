//! What modules by proxy-wasm have in common in this process, and how one is compiled.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use proxy_wasm_host::{Module, SharedServices, UnknownImports};
use wasm_sandbox::Engine;

use crate::engine::with_sources;

/// Values and queues that modules share.
pub(super) static SERVICES: LazyLock<Arc<SharedServices>> = LazyLock::new(Arc::default);

/// Reads and compiles a module.
///
/// # Errors
/// Why it cannot be used.
pub(super) fn compile(engine: &Engine, path: &Path) -> Result<Module, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MODULE_BYTES_MAX {
        return Err(format!("it has {length} bytes, more than {MODULE_BYTES_MAX}"));
    }
    let code = fs::read(path).map_err(|error| error.to_string())?;
    Module::compile(engine, &code, UnknownImports::Refuse).map_err(|error| with_sources(&error))
}

/// Largest file of a module.
const MODULE_BYTES_MAX: u64 = 256 << 20;

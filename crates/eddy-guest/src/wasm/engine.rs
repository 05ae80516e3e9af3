//! The engine of this process, and modules compiled by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proxy_wasm_host::{Engine, EngineSettings, Module, SharedServices, Ticker, UnknownImports};

/// What all modules of this process have in common.
#[derive(Clone)]
pub(super) struct Runtime {
    pub(super) engine: Engine,
    pub(super) services: Arc<SharedServices>,
    _ticker: Arc<Ticker>,
}

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// The runtime, which is made with the first module; `cache` is where compiled code is kept.
///
/// # Errors
/// Why there is none.
pub(super) fn runtime(cache: Option<&Path>) -> Result<Runtime, String> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.clone());
    }
    let engine = engine(cache.map(Path::to_path_buf))?;
    let ticker = engine.ticker(TICK).map_err(|error| format!("there is no thread for its clock: {error}"))?;
    let made = Runtime { engine, services: Arc::default(), _ticker: Arc::new(ticker) };
    Ok(runtime.insert(made).clone())
}

fn engine(cache: Option<PathBuf>) -> Result<Engine, String> {
    let mut settings = EngineSettings::default();
    settings.allocation = proxy_wasm_host::Allocation::Pooled { instances_max: INSTANCES_MAX };
    settings.memory_bytes_max = usize::try_from(MEMORY_BYTES_MAX).unwrap_or(usize::MAX);
    settings.cache_folder = cache;
    Engine::new(settings).map_err(|error| with_sources(&error))
}

/// Reads and compiles a module.
///
/// # Errors
/// Why it cannot be used.
pub(super) fn compile(runtime: &Runtime, path: &Path) -> Result<Module, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MODULE_BYTES_MAX {
        return Err(format!("it has {length} bytes, more than {MODULE_BYTES_MAX}"));
    }
    let code = fs::read(path).map_err(|error| error.to_string())?;
    Module::compile(&runtime.engine, &code, UnknownImports::Refuse).map_err(|error| with_sources(&error))
}

/// An error and what it comes from.
pub(super) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// Ticks of the clock that stops calls.
pub(super) const TICK: Duration = Duration::from_millis(1);
/// Most instances in a process: those of workers, and those of exchanges where each has its own.
const INSTANCES_MAX: u32 = 4096;
/// Largest memory that an instance may be allowed.
const MEMORY_BYTES_MAX: u64 = 4 << 30;
/// Largest file of a module.
const MODULE_BYTES_MAX: u64 = 256 << 20;

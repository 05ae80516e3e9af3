//! Wasm engine of the process, shared by modules of all ABIs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use wasm_sandbox::{Allocation, Engine, EngineSettings, Ticker};

use crate::lock::lock;

static RUNNING: Mutex<Option<RunningEngine>> = Mutex::new(None);

struct RunningEngine {
    engine: Engine,
    _ticker: Ticker,
}

/// Returns the engine, which is created for the first module; `cache` is the folder for compiled code.
///
/// # Errors
/// The reason why the engine cannot be created.
pub(crate) fn engine(cache: Option<&Path>) -> Result<Engine, String> {
    let mut running = lock(&RUNNING);
    if let Some(running) = &*running {
        return Ok(running.engine.clone());
    }
    let engine = make(cache.map(Path::to_path_buf))?;
    let ticker = engine
        .ticker(TICK)
        .map_err(|error| format!("cannot start the clock thread of the WebAssembly engine: {error}"))?;
    Ok(running.insert(RunningEngine { engine, _ticker: ticker }).engine.clone())
}

fn make(cache: Option<PathBuf>) -> Result<Engine, String> {
    let mut settings = EngineSettings::default();
    settings.allocation = Allocation::Pooled { instances_max: INSTANCES_MAX };
    settings.memory_bytes_max = MEMORY_BYTES_MAX;
    settings.table_elements_max = TABLE_ELEMENTS_MAX;
    settings.cache_folder = cache;
    Engine::new(settings).map_err(|error| with_sources(&error))
}

/// Returns the number of ticks that allow a call at least this time.
pub(crate) fn ticks(time: Duration) -> u64 {
    let ticks = time.as_millis() / TICK.as_millis().max(1);
    u64::try_from(ticks).unwrap_or(u64::MAX).saturating_add(1)
}

/// Formats an error with its sources.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// Tick length of the deadline clock.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Maximum table size of an instance: Go puts every function of a program into the table.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 500_000;
/// Maximum number of instances per process: those of workers, and those of exchanges with an instance of their own.
const INSTANCES_MAX: u32 = 4096;
/// Maximum memory that can be configured for an instance.
const MEMORY_BYTES_MAX: usize = 4 << 30;

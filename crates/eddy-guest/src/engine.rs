//! The engine of this process, which runs modules of Wasm whatever contract they speak.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use wasm_sandbox::{Allocation, Engine, EngineSettings, Ticker};

static RUNNING: Mutex<Option<RunningEngine>> = Mutex::new(None);

struct RunningEngine {
    engine: Engine,
    _ticker: Ticker,
}

/// The engine, which is made with the first module; `cache` is where compiled code is kept.
///
/// # Errors
/// Why there is none.
pub(crate) fn engine(cache: Option<&Path>) -> Result<Engine, String> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = &*running {
        return Ok(running.engine.clone());
    }
    let engine = make(cache.map(Path::to_path_buf))?;
    let ticker = engine.ticker(TICK).map_err(|error| format!("there is no thread for its clock: {error}"))?;
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

/// Ticks that a call may see so that it has at least this time.
pub(crate) fn ticks(time: Duration) -> u64 {
    let ticks = time.as_millis() / TICK.as_millis().max(1);
    u64::try_from(ticks).unwrap_or(u64::MAX).saturating_add(1)
}

/// An error and what it comes from.
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

/// Ticks of the clock that stops calls.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Largest table of an instance: Go puts every function of a program into it.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 500_000;
/// Most instances in a process: those of workers, and those of exchanges where each has its own.
const INSTANCES_MAX: u32 = 4096;
/// Largest memory that an instance may be allowed.
const MEMORY_BYTES_MAX: usize = 4 << 30;

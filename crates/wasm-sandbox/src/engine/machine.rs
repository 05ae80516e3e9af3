//! The engine: what compiles and runs.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use wasmtime::{
    Cache, CacheConfig, Config, InstanceAllocationStrategy, ModuleVersionStrategy, PoolingAllocationConfig,
};

use super::settings::{Allocation, EngineSettings};
use super::ticker::Ticker;

/// Compiles and runs modules; one a program is enough. Clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    machine: wasmtime::Engine,
    settings: EngineSettings,
}

/// Why there is no engine.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The folder for compiled code can't be used.
    #[error("the folder `{folder}` for compiled code cannot be used")]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: wasmtime::Error,
    },
    /// The settings ask for what this machine doesn't have, most often addresses for a pool.
    #[error("a machine for modules cannot be made with these settings")]
    Settings {
        /// Why.
        #[source]
        source: wasmtime::Error,
    },
}

impl Engine {
    /// Makes an engine.
    ///
    /// # Errors
    ///
    /// The cache can't be used, or addresses for the pool can't be reserved.
    pub fn new(settings: EngineSettings) -> Result<Self, EngineError> {
        let mut config = Config::new();
        config.epoch_interruption(true);
        config.max_wasm_stack(settings.stack_bytes_max);
        config.wasm_backtrace_max_frames(std::num::NonZeroUsize::new(FRAMES_MAX));
        config.module_version(ModuleVersionStrategy::WasmtimeVersion).map_err(settings_error)?;
        if let Allocation::Pooled { instances_max } = settings.allocation {
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(&settings, instances_max)));
        }
        if let Some(folder) = &settings.cache_folder {
            config.cache(Some(cache(folder.clone())?));
        }
        let machine = wasmtime::Engine::new(&config).map_err(settings_error)?;
        Ok(Self { machine, settings })
    }

    /// What it was made with.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// One tick of the clock of deadlines: a call that has seen as many as it may is stopped. Safe from any thread and
    /// from a signal handler.
    pub fn tick(&self) {
        self.machine.increment_epoch();
    }

    /// Starts a thread that ticks, for as long as what is returned lives.
    ///
    /// # Errors
    ///
    /// The system gives no thread.
    pub fn ticker(&self, period: Duration) -> std::io::Result<Ticker> {
        Ticker::start(self.clone(), period)
    }

    /// The engine of wasmtime.
    pub fn machine(&self) -> &wasmtime::Engine {
        &self.machine
    }
}

fn settings_error(source: wasmtime::Error) -> EngineError {
    EngineError::Settings { source }
}

fn cache(folder: PathBuf) -> Result<Cache, EngineError> {
    let mut config = CacheConfig::new();
    config.with_directory(&folder);
    Cache::new(config).map_err(|source| EngineError::Cache { folder, source })
}

fn pool(settings: &EngineSettings, instances_max: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(instances_max);
    pool.total_memories(instances_max);
    pool.total_tables(instances_max.saturating_mul(TABLES_MAX));
    pool.max_memories_per_module(1);
    pool.max_tables_per_module(TABLES_MAX);
    pool.max_memory_size(settings.memory_bytes_max);
    pool.table_elements(settings.table_elements_max);
    pool.max_core_instance_size(INSTANCE_BYTES_MAX);
    pool.linear_memory_keep_resident(MEMORY_KEPT_BYTES);
    pool.table_keep_resident(TABLE_KEPT_BYTES);
    pool
}

const FRAMES_MAX: usize = 20;
/// Tables that a module may have; compilers make one.
pub(crate) const TABLES_MAX: u32 = 4;
/// Globals, imports and functions of a module, as the machine lays them out; large modules in Go need some.
const INSTANCE_BYTES_MAX: usize = 4 << 20;
/// Memory that is wiped rather than given back when an instance ends.
const MEMORY_KEPT_BYTES: usize = 64 << 10;
const TABLE_KEPT_BYTES: usize = 16 << 10;

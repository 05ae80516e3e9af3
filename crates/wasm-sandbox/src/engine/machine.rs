//! WebAssembly engine: compiles and runs modules.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use wasmtime::{
    Cache, CacheConfig, Config, InstanceAllocationStrategy, ModuleVersionStrategy, PoolingAllocationConfig,
};

use super::settings::{Allocation, EngineSettings};
use super::ticker::Ticker;

/// WebAssembly engine that compiles and runs modules; one per program is enough. Clones share the engine.
#[derive(Clone)]
pub struct Engine {
    machine: wasmtime::Engine,
    settings: EngineSettings,
}

/// Error of creating an [`Engine`].
#[derive(Debug, Error)]
pub enum EngineError {
    /// The cache folder for compiled code cannot be used.
    #[error("cannot use the folder `{folder}` for compiled code")]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// Underlying error.
        #[source]
        source: wasmtime::Error,
    },
    /// The settings ask for resources that the machine does not have, most often address space for the pool.
    #[error("the WebAssembly engine cannot be created with these settings")]
    Settings {
        /// Underlying error.
        #[source]
        source: wasmtime::Error,
    },
}

impl Engine {
    /// Creates an engine.
    ///
    /// # Errors
    /// The cache folder cannot be used, or the pool's address space cannot be reserved.
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

    /// Returns the settings that the engine was created with.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Advances the deadline clock by one tick. Calls that have seen as many ticks as they may are stopped. Safe to
    /// call from any thread and from a signal handler.
    pub fn tick(&self) {
        self.machine.increment_epoch();
    }

    /// Starts a thread that calls [`tick`](Self::tick) until the returned value is dropped.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub fn ticker(&self, period: Duration) -> std::io::Result<Ticker> {
        let engine = self.clone();
        Ticker::start(period, move || engine.tick())
    }

    /// Returns the underlying wasmtime engine.
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
/// Maximum number of tables per module; compilers emit one.
pub(crate) const TABLES_MAX: u32 = 4;
/// Maximum size of wasmtime's instance data (globals, imports and functions); large Go modules need some.
const INSTANCE_BYTES_MAX: usize = 4 << 20;
/// Memory that is zeroed and kept, rather than returned to the system, when an instance ends.
const MEMORY_KEPT_BYTES: usize = 64 << 10;
const TABLE_KEPT_BYTES: usize = 16 << 10;

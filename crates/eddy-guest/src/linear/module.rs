//! A compiled module, and the machine it is compiled for.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use eddy_filter::LoadError;
use wasmtime::{Cache, CacheConfig, Config, Engine, Module};

/// A module of Wasm by the contract over linear memory, compiled.
#[derive(Clone, Debug)]
pub struct LinearModule {
    pub(super) name: Arc<str>,
    pub(super) compiled: Module,
    pub(super) limits: LinearLimits,
}

/// What a module may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearLimits {
    /// Most memory of an instance, bytes; each worker has one. Default 256 MiB.
    pub memory_bytes_max: usize,
    /// Longest time in one call; what takes longer is stopped, and its instance replaced. Default 1 s.
    pub call_time_max: Duration,
}

impl LinearModule {
    /// Compiles a module, or takes it from a folder where it was kept when it was compiled before. All modules of a
    /// process have the folder of the first one. What lies there is run: nobody else may write to it.
    ///
    /// # Errors
    /// [`LoadError::Library`]: it is no module, or has not the functions of the contract.
    ///
    /// # Cost
    /// Seconds of a processor for a module in Go.
    pub fn compile(
        name: &str,
        bytes: &[u8],
        limits: LinearLimits,
        cache: Option<&Path>,
    ) -> Result<Self, LoadError> {
        let refused = |message: String| LoadError::Library { message };
        let engine = engine(cache).as_ref().map_err(|why| refused(why.clone()))?;
        let compiled = Module::new(engine, bytes)
            .map_err(|error| refused(format!("\"{name}\" cannot be compiled: {error:#}")))?;
        let missing: Vec<&str> =
            FUNCTIONS.into_iter().filter(|wanted| compiled.get_export(wanted).is_none()).collect();
        if !missing.is_empty() {
            let message = format!(
                "\"{name}\" lacks what a module with filters exports: {}; build it with `eddy filter build --target wasm`",
                missing.join(", ")
            );
            return Err(refused(message));
        }
        Ok(Self { name: name.into(), compiled, limits })
    }

    /// Whether bytes are a module that speaks this contract, whatever else it speaks.
    pub fn speaks(bytes: &[u8]) -> bool {
        // An export's name lies in the module as it is; that it is exported is seen when it is compiled.
        bytes.starts_with(b"\0asm") && bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes())
    }
}

impl Default for LinearLimits {
    fn default() -> Self {
        Self { memory_bytes_max: 256 << 20, call_time_max: Duration::from_secs(1) }
    }
}

/// The machine of this process.
fn engine(cache: Option<&Path>) -> &'static Result<Engine, String> {
    static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let mut config = Config::new();
        config.epoch_interruption(true);
        if let Some(folder) = cache {
            let mut kept = CacheConfig::new();
            kept.with_directory(folder);
            let kept = Cache::new(kept)
                .map_err(|error| format!("\"{}\" cannot keep modules: {error:#}", folder.display()))?;
            config.cache(Some(kept));
        }
        let engine =
            Engine::new(&config).map_err(|error| format!("there is no machine for Wasm: {error:#}"))?;
        let ticking = engine.weak();
        // Nothing else measures the time of code that never returns.
        let ticker = move || {
            while let Some(engine) = ticking.upgrade() {
                engine.increment_epoch();
                drop(engine);
                thread::park_timeout(TICK);
            }
        };
        thread::Builder::new()
            .name("wasm-clock".to_owned())
            .spawn(ticker)
            .map_err(|error| format!("there is no thread for the clock of Wasm: {error}"))?;
        Ok(engine)
    })
}

/// How many ticks a time takes, at least.
pub(super) fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).saturating_add(2)
}

/// How exactly times are kept.
const TICK: Duration = Duration::from_millis(10);
/// What a module exports that speaks version 1 of the contract.
const MARK: &str = "eddy_abi_1";
const FUNCTIONS: [&str; 11] = [
    MARK,
    "_initialize",
    "eddy_open",
    "eddy_room",
    "eddy_filter_new",
    "eddy_filter_free",
    "eddy_config_new",
    "eddy_config_free",
    "eddy_run",
    "eddy_event",
    "memory",
];

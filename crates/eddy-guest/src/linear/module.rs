//! A compiled module.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eddy_filter::LoadError;
use wasm_sandbox::{Engine, Sandbox, SystemClock};
use wasmtime::Module;

use crate::engine;

/// A module of Wasm by the contract over linear memory, compiled.
#[derive(Clone)]
pub struct LinearModule {
    pub(super) name: Arc<str>,
    pub(super) engine: Engine,
    pub(super) compiled: Module,
    pub(super) limits: LinearLimits,
    pub(super) sandbox: Arc<Sandbox>,
}

/// What a module may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearLimits {
    /// Most memory of an instance, bytes; each worker has one. Default 256 MiB.
    pub memory_bytes_max: usize,
    /// Longest CPU time in one call; what takes longer is stopped, and its instance replaced. Default 1 s.
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
        let engine =
            engine::engine(cache).map_err(|why| refused(format!("\"{name}\" cannot be run: {why}")))?;
        let compiled = Module::new(engine.machine(), bytes)
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
        let mut sandbox = Sandbox::default();
        // Filters measure themselves with it.
        sandbox.clock = Arc::new(SystemClock::new(Duration::from_nanos(1)));
        Ok(Self { name: name.into(), engine, compiled, limits, sandbox: Arc::new(sandbox) })
    }

    /// Whether bytes are a module that speaks this contract, whatever else it speaks.
    pub fn speaks(bytes: &[u8]) -> bool {
        // An export's name lies in the module as it is; that it is exported is seen when it is compiled.
        bytes.starts_with(b"\0asm") && bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes())
    }
}

impl fmt::Debug for LinearModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinearModule({})", self.name)
    }
}

impl Default for LinearLimits {
    fn default() -> Self {
        Self { memory_bytes_max: 256 << 20, call_time_max: Duration::from_secs(1) }
    }
}

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

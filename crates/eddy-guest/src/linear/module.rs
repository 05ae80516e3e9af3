//! Compiled module.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eddy_filter::{LoadError, LoadResult};
use wasm_sandbox::{Engine, Sandbox, SystemClock};
use wasmtime::Module;

use crate::engine;

/// Compiled Wasm module that uses the filter ABI over linear memory.
#[derive(Clone)]
pub struct LinearModule {
    pub(super) name: Arc<str>,
    pub(super) engine: Engine,
    pub(super) compiled: Module,
    pub(super) limits: LinearLimits,
    pub(super) sandbox: Arc<Sandbox>,
}

/// Resource limits of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearLimits {
    /// Maximum memory per instance in bytes; each worker has one instance. Default 256 MiB.
    pub memory_bytes_max: usize,
    /// Maximum CPU time per call; a longer call is stopped, and its instance is replaced. Default 1 s.
    pub call_time_max: Duration,
    /// Maximum CPU time of starting an instance or creating a filter.
    pub create_time_max: Duration,
}

impl LinearModule {
    /// Compiles a module, or loads the compiled code from the cache folder. All modules of a process use the folder of
    /// the first one. Its files are executed, so no other program may write to it.
    ///
    /// # Errors
    /// [`LoadError::Library`]: the bytes are not a module, or it lacks the functions of the ABI.
    ///
    /// # Cost
    /// Seconds of CPU time for a Go module.
    pub fn compile(name: &str, bytes: &[u8], limits: LinearLimits, cache: Option<&Path>) -> LoadResult<Self> {
        let refused = |message: String| LoadError::Library { message };
        let engine =
            engine::engine(cache).map_err(|why| refused(format!("\"{name}\" cannot be run: {why}")))?;
        let compiled = Module::new(engine.machine(), bytes)
            .map_err(|error| refused(format!("\"{name}\" cannot be compiled: {error:#}")))?;
        let missing: Vec<&str> =
            FUNCTIONS.into_iter().filter(|wanted| compiled.get_export(wanted).is_none()).collect();
        if !missing.is_empty() {
            let message = format!(
                "\"{name}\" does not export {}, which a filter module must; build it with `eddy filter build \
                 --target wasm`",
                missing.join(", ")
            );
            return Err(refused(message));
        }
        let mut sandbox = Sandbox::default();
        // Filters measure their own run time with it.
        sandbox.clock = Arc::new(SystemClock::new(Duration::from_nanos(1)));
        Ok(Self { name: name.into(), engine, compiled, limits, sandbox: Arc::new(sandbox) })
    }

    /// Whether the bytes are a module that uses this ABI, possibly among others.
    pub fn speaks(bytes: &[u8]) -> bool {
        // The name of an export is contained in the module verbatim; compiling checks that it is exported.
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
        Self {
            memory_bytes_max: 256 << 20,
            call_time_max: Duration::from_secs(1),
            create_time_max: Duration::from_secs(5),
        }
    }
}

/// Export that declares version 1 of the ABI.
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

//! Checked configuration of filters.

use std::path::PathBuf;
use std::time::Duration;

use eddy_builtin::BuiltinConfig;
use eddy_filter::FilterPolicy;
use eddy_ids::{FilterId, Shared};

/// A filter as configured; the code for its kind turns it into a running filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterConfig {
    /// Name of the filter.
    pub name: Shared<str>,
    /// Engine that runs the filter.
    pub kind: FilterKind,
    /// Configuration as JSON; `null` if there is none, and for built-in filters. For a Wasm filter the bytes that it
    /// receives: a text verbatim, empty if there is none; likewise for a filter of a dynamic module.
    pub config: Shared<str>,
    /// Failure, timeout and resource policy of the filter in an exchange.
    pub policy: FilterPolicy,
}

/// Engine that runs a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// A filter that is built into eddy.
    Builtin(BuiltinConfig),
    /// A shared library that implements the filter ABI.
    Native {
        /// Library file; relative paths are resolved against the directory of the configuration file.
        library: PathBuf,
        /// Name of the filter within the library.
        filter: Shared<str>,
    },
    /// A Go filter.
    Go {
        /// Source package or built bundle.
        source: GoSource,
        /// Name of the filter within the bundle.
        filter: Shared<str>,
    },
    /// A Wasm module.
    Wasm(Shared<WasmConfig>),
    /// A library with HTTP filters for Envoy's dynamic module ABI.
    DynamicModule(DynamicModuleConfig),
    /// A Lua script.
    Lua(LuaConfig),
}

/// A library with HTTP filters for Envoy's dynamic module ABI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DynamicModuleConfig {
    /// The library.
    pub module: DynamicModuleSource,
    /// Name of the filter in the library; may be empty.
    pub filter: String,
    /// Whether libraries that are loaded later can use the symbols of this one.
    pub is_global: bool,
}

/// Place of a dynamic module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DynamicModuleSource {
    /// Library file; relative paths are resolved against the directory of the configuration file.
    File(PathBuf),
    /// Name of the module: the file `libNAME.so` in a directory of the environment.
    Name(String),
}

/// A Wasm module and its permissions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WasmConfig {
    /// Module file; relative paths are resolved against the directory of the configuration file.
    pub module: PathBuf,
    /// Root ID that selects a filter of the module; empty if the module has only one.
    pub root_id: String,
    /// VM ID that separates instances of the same module; empty by default.
    pub vm_id: String,
    /// Configuration that an instance receives when it starts; may be empty.
    pub vm_config: String,
    /// Exchanges that a fault of the module affects.
    pub isolation: WasmIsolation,
    /// Maximum memory of an instance. Default 64 MiB.
    pub memory_bytes: u64,
    /// Maximum time of one call. Default 10 ms.
    pub cpu: Duration,
    /// Maximum time of each step of an instance's start, at least `cpu`. Default 1 s, or 100 ms with
    /// [`WasmIsolation::Stream`].
    pub start_cpu: Duration,
    /// Environment variables that the module sees.
    pub env: Vec<(String, String)>,
}

/// Exchanges that a fault of a module affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WasmIsolation {
    /// All exchanges of the worker.
    #[default]
    Worker,
    /// One exchange.
    Stream,
}

/// A Lua filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuaConfig {
    /// Default script.
    pub script: LuaScriptText,
    /// Named scripts that rules can select.
    pub scripts: Vec<(Shared<str>, LuaScriptText)>,
    /// CPU time limit of a hook between two waits.
    pub cpu: Duration,
    /// Memory limit of the script on each worker.
    pub memory_bytes: usize,
    /// Allowed libraries that reach outside the Lua VM.
    pub allow: LuaAllowed,
    /// Maximum number of values in the shared stores.
    pub shared_entries_max: usize,
    /// Maximum size of the shared stores, in bytes.
    pub shared_bytes_max: usize,
}

/// Source of a Lua script.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LuaScriptText {
    /// A file.
    File(PathBuf),
    /// Inline text in the configuration.
    Inline {
        /// Name of the script in messages.
        name: Shared<str>,
        /// The script text.
        text: Shared<str>,
    },
}

/// Libraries that a Lua script may use in addition to those without access to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four")]
pub struct LuaAllowed {
    /// `os`.
    pub os: bool,
    /// `io`.
    pub io: bool,
    /// `package` and `require`.
    pub package: bool,
    /// `ffi`.
    pub ffi: bool,
}

/// Source of a Go filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GoSource {
    /// Directory of the filter's package, which is linked into the configuration's bundle.
    Package(PathBuf),
    /// A bundle that was built beforehand.
    Library(PathBuf),
    /// The configuration's bundle, and the directory of the filter's package in it.
    Linked {
        /// The bundle file.
        library: PathBuf,
        /// The package directory.
        package: PathBuf,
    },
}

/// Override of a filter under a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFilterConfig {
    /// The filter.
    pub filter: FilterId,
    /// Whether the filter is disabled; `None` if the rule does not set it.
    pub is_disabled: Option<bool>,
    /// Configuration for the filter under this rule as JSON, if any; never for a built-in filter.
    pub config: Option<Shared<str>>,
    /// Configuration of a built-in filter under this rule, if any: the filter's own with the rule's keys merged over
    /// it.
    pub builtin: Option<Shared<BuiltinConfig>>,
    /// Script of a Lua filter under this rule, if any.
    pub lua: Option<LuaScriptText>,
}

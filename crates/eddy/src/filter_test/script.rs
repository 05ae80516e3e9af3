//! A filter loaded by a spec: a script, or a filter of a library or a module.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eddy_filter::{ChainStep, Filter, FilterLibrary, FilterPolicy, HostApi, LibraryKeepAlive, LoadError};
use eddy_guest::{
    CreatedFilter, Guest, Isolation, LinearLibrary, LinearLimits, LinearModule, LuaLimits, LuaScript,
    LuaSource, NativeLibrary, ReclaimQueue, WasmLibrary, WasmSettings,
};

use super::host::RehearsalHost;
use crate::filters::{FilterFileKind, build_hint, module_cache};

/// Library or script, and the filter created from it.
pub(super) struct ScriptFilter {
    pub(super) host: Arc<RehearsalHost>,
    pub(super) library: Arc<dyn Guest>,
    pub(super) made: CreatedFilter,
    pub(super) reclaim_queue: ReclaimQueue,
}

impl ScriptFilter {
    /// Loads a script; `number` separates its shared stores from those of other scripts.
    ///
    /// # Errors
    /// Error message with file and line.
    pub(super) fn load(
        number: usize,
        chunk: &str,
        text: &[u8],
        config: &str,
        limits: LuaLimits,
    ) -> Result<Self, String> {
        let filter = format!("rehearsed {number}");
        let source = LuaSource { filter: &filter, chunk, text, limits };
        let loaded = Self::create(|host, reclaim_queue| {
            let library = LuaScript::load(&source, host)?;
            let made = library.filter("", config, FILTER_ID, reclaim_queue)?;
            Ok((library as Arc<dyn Guest>, made))
        });
        loaded.map_err(|error| error.to_string())
    }

    /// Loads the filter `name` of a library or a module, or its only filter if the name is empty; `config` is a JSON
    /// text.
    ///
    /// # Errors
    /// Why the filter cannot be created, and how a missing file is built.
    pub(super) fn load_compiled(path: &Path, name: &str, config: &str) -> Result<Self, String> {
        let is_module = is_module(path);
        let loaded = Self::create(|host, reclaim_queue| {
            if is_module {
                open_module(path, name, config, host, reclaim_queue)
            } else {
                open_library(path, name, config, host, reclaim_queue)
            }
        });
        loaded.map_err(|error| {
            let kind = if is_module { FilterFileKind::Wasm } else { FilterFileKind::Native };
            let hint = build_hint(path, kind).map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{error}{hint}")
        })
    }

    fn create(
        open: impl FnOnce(&Arc<dyn HostApi>, &ReclaimQueue) -> Result<LoadedFilter, LoadError>,
    ) -> Result<Self, LoadError> {
        let host = RehearsalHost::of_process();
        let reclaim_queue = ReclaimQueue::new(|| ());
        let (library, made) = open(&(Arc::clone(&host) as Arc<dyn HostApi>), &reclaim_queue)?;
        Ok(Self { host, library, made, reclaim_queue })
    }

    /// Returns the filter as a step of a chain; `config` is the number of the rule's configuration.
    pub(super) fn step(&self, config: u64) -> ChainStep {
        let filter = Filter {
            name: "rehearsed".into(),
            id: FILTER_ID,
            library: Arc::clone(&self.library) as Arc<dyn FilterLibrary>,
            number: self.made.number,
            info: self.made.info,
            policy: FilterPolicy::default(),
            owner: self.made.owner.clone(),
        };
        ChainStep { filter: Arc::new(filter), is_disabled: false, config, owner: LibraryKeepAlive::default() }
    }
}

type LoadedFilter = (Arc<dyn Guest>, CreatedFilter);

/// Whether a file is loaded as it is, and not read as a script.
pub(super) fn is_compiled(path: &Path) -> bool {
    is_module(path) || path.extension() == Some(OsStr::new("so"))
}

fn is_module(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("wasm"))
}

fn open_library(
    path: &Path,
    name: &str,
    config: &str,
    host: &Arc<dyn HostApi>,
    reclaim_queue: &ReclaimQueue,
) -> Result<LoadedFilter, LoadError> {
    let library = NativeLibrary::open(path, host)?;
    let name = match library.filters() {
        [only] if name.is_empty() => only.clone(),
        _ => name.to_owned(),
    };
    let made = library.filter(&name, config, FILTER_ID, reclaim_queue)?;
    Ok((library as Arc<dyn Guest>, made))
}

fn open_module(
    path: &Path,
    name: &str,
    config: &str,
    host: &Arc<dyn HostApi>,
    reclaim_queue: &ReclaimQueue,
) -> Result<LoadedFilter, LoadError> {
    let cache = module_cache();
    // An unreadable file is reported by the library.
    let bytes = fs::read(path).unwrap_or_default();
    if LinearModule::speaks(&bytes) {
        let chunk = path.file_name().unwrap_or_default().to_string_lossy();
        let module = LinearModule::compile(&chunk, &bytes, LinearLimits::default(), cache.as_deref())?;
        let library = Arc::new(LinearLibrary::open(&module, host)?);
        let name = match &library.names()[..] {
            [only] if name.is_empty() => (*only).to_owned(),
            _ => name.to_owned(),
        };
        let made = library.filter(&name, config, FILTER_ID, reclaim_queue)?;
        return Ok((library as Arc<dyn Guest>, made));
    }
    let settings = WasmSettings {
        module: path.to_owned(),
        vm_id: String::new(),
        vm_config: String::new(),
        isolation: Isolation::Worker,
        memory_bytes: MEMORY_BYTES,
        cpu: CPU,
        start_cpu: START_CPU,
        env: Vec::new(),
    };
    let library = WasmLibrary::open(&settings, host, cache.as_deref(), IS_TRIAL)?;
    // As in eddy.yaml: a string is passed as it is, any other value as JSON.
    let text: Result<Option<String>, _> = serde_json::from_str(config);
    let config = text.map_or_else(|_| config.to_owned(), Option::unwrap_or_default);
    let made = library.filter_of("rehearsed", name, &config, FILTER_ID, reclaim_queue)?;
    Ok((library as Arc<dyn Guest>, made))
}

/// The host's number of every filter: each is alone in its chain.
const FILTER_ID: u32 = 1;
/// The filters see requests, unlike those of `eddy check`.
const IS_TRIAL: bool = false;
/// Limits of a module, as without `memory`, `cpu` and `start_cpu` in eddy.yaml.
const MEMORY_BYTES: u64 = 64 << 20;
const CPU: Duration = Duration::from_millis(10);
const START_CPU: Duration = Duration::from_secs(1);

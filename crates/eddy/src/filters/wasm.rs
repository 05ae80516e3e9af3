//! Wasm modules of a configuration: filters with the same settings share a library.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use eddy_config::{WasmConfig, WasmIsolation};
use eddy_filter::{HostApi, LoadError};
use eddy_guest::{Isolation, LinearLibrary, LinearLimits, LinearModule, WasmLibrary, WasmSettings};

use crate::bundle::Cache;

/// Libraries opened for a configuration.
#[derive(Debug)]
pub(super) struct Modules {
    is_trial: bool,
    opened: Vec<(WasmSettings, Arc<WasmLibrary>)>,
    linear: Vec<(WasmSettings, Arc<LinearLibrary>)>,
}

impl Modules {
    /// Creates an empty set.
    pub(super) fn new(is_trial: bool) -> Self {
        Self { is_trial, opened: Vec::new(), linear: Vec::new() }
    }

    /// Returns the library of a module with these settings, if the module uses eddy's own ABI: Go filters.
    ///
    /// # Errors
    /// Why there is no library.
    pub(super) fn linear(
        &mut self,
        config: &WasmConfig,
        host: &Arc<dyn HostApi>,
    ) -> Result<Option<Arc<LinearLibrary>>, LoadError> {
        let settings = settings_of(config);
        if let Some((_, library)) = self.linear.iter().find(|(known, _)| *known == settings) {
            return Ok(Some(Arc::clone(library)));
        }
        // An unreadable file is reported by `Self::library`, which is called next.
        let Ok(bytes) = fs::read(&config.module) else { return Ok(None) };
        if !LinearModule::speaks(&bytes) {
            return Ok(None);
        }
        let is_plain = config.vm_id.is_empty() && config.vm_config.is_empty() && config.env.is_empty();
        if !is_plain || config.isolation == WasmIsolation::Stream {
            let message = format!(
                "\"{}\" contains Go filters, which do not support `vm_id`, `vm_config`, `allow` and `isolation: stream`: remove them",
                config.module.display()
            );
            return Err(LoadError::Library { message });
        }
        let limits = LinearLimits {
            memory_bytes_max: usize::try_from(config.memory_bytes).unwrap_or(usize::MAX),
            call_time_max: config.cpu,
            create_time_max: config.start_cpu,
        };
        let name = config.module.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let module = LinearModule::compile(&name, &bytes, limits, cache_folder().as_deref())?;
        let library = Arc::new(LinearLibrary::open(&module, host)?);
        self.linear.push((settings, Arc::clone(&library)));
        Ok(Some(library))
    }

    /// Returns the library of a module with these settings.
    ///
    /// # Errors
    /// Why there is no library.
    pub(super) fn library(
        &mut self,
        config: &WasmConfig,
        host: &Arc<dyn HostApi>,
    ) -> Result<Arc<WasmLibrary>, LoadError> {
        let settings = settings_of(config);
        if let Some((_, library)) = self.opened.iter().find(|(known, _)| *known == settings) {
            return Ok(Arc::clone(library));
        }
        let library = WasmLibrary::open(&settings, host, cache_folder().as_deref(), self.is_trial)?;
        self.opened.push((settings, Arc::clone(&library)));
        Ok(library)
    }
}

/// Returns the cache folder of compiled modules; `None` without a folder that only eddy can write to, because its
/// contents are executed.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = Cache::find(None).and_then(|cache| cache.folder("wasm"));
    // Without a cache, modules are compiled at each start, which only costs time.
    folder.ok()
}

fn settings_of(config: &WasmConfig) -> WasmSettings {
    WasmSettings {
        module: config.module.clone(),
        vm_id: config.vm_id.clone(),
        vm_config: config.vm_config.clone(),
        isolation: match config.isolation {
            WasmIsolation::Worker => Isolation::Worker,
            WasmIsolation::Stream => Isolation::Stream,
        },
        memory_bytes: config.memory_bytes,
        cpu: config.cpu,
        start_cpu: config.start_cpu,
        env: config.env.clone(),
    }
}

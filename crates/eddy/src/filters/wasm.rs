//! The modules in Wasm of a configuration: filters with the same settings share a library.

use std::path::PathBuf;
use std::sync::Arc;

use eddy_config::{WasmConfig, WasmIsolation};
use eddy_filter::{Host, LoadError};
use eddy_guest::{Isolation, WasmLibrary, WasmSettings};

use crate::bundle::Cache;

/// The libraries that were opened for a configuration.
#[derive(Debug)]
pub(super) struct Modules {
    is_trial: bool,
    opened: Vec<(WasmSettings, Arc<WasmLibrary>)>,
}

impl Modules {
    /// None yet.
    pub(super) fn new(is_trial: bool) -> Self {
        Self { is_trial, opened: Vec::new() }
    }

    /// The library of a module with these settings.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn library(
        &mut self,
        config: &WasmConfig,
        host: &Arc<dyn Host>,
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

/// Where compiled modules are kept; nowhere if there is no folder of eddy's own. What lies there is run.
fn cache_folder() -> Option<PathBuf> {
    let folder = Cache::find(None).and_then(|cache| cache.folder("wasm"));
    // It only costs time that modules are compiled at each start.
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
        env: config.env.clone(),
    }
}

//! Lua scripts of filters, loaded once for each filter that runs them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use eddy_config::{LuaConfig, LuaScriptText};
use eddy_filter::{HostApi, LoadError};
use eddy_guest::{LuaLimits, LuaScript, LuaSource, SharedLimits};
use eddy_ids::Shared;

use super::problem::{FilterProblem, ScriptLine};

/// Scripts of a configuration that is being built. Rules that run the same script for a filter share it, including its
/// Lua states.
#[derive(Default)]
pub(super) struct Scripts {
    loaded: HashMap<(Shared<str>, LuaScriptText), Arc<LuaScript>>,
}

impl Scripts {
    /// Returns the script of a filter; `warn` is called for a script that does nothing.
    ///
    /// # Errors
    /// Error of the script, with its position.
    pub(super) fn load(
        &mut self,
        filter: &Shared<str>,
        config: &LuaConfig,
        script: &LuaScriptText,
        host: &Arc<dyn HostApi>,
        warn: &dyn Fn(FilterProblem),
    ) -> Result<Arc<LuaScript>, FilterProblem> {
        let key = (Shared::clone(filter), script.clone());
        if let Some(known) = self.loaded.get(&key) {
            return Ok(Arc::clone(known));
        }
        let loaded = load(filter, config, script, host)?;
        if !loaded.has_hooks() {
            warn(without_hooks(filter, script));
        }
        self.loaded.insert(key, Arc::clone(&loaded));
        Ok(loaded)
    }
}

fn load(
    filter: &str,
    config: &LuaConfig,
    script: &LuaScriptText,
    host: &Arc<dyn HostApi>,
) -> Result<Arc<LuaScript>, FilterProblem> {
    let (chunk, text, path) = match script {
        LuaScriptText::Inline { name, text } => (name.to_string(), text.as_bytes().to_vec(), None),
        LuaScriptText::File(path) => {
            let text = read(path).map_err(|why| {
                let message = format!("the script \"{}\" cannot be read: {why}", path.display());
                FilterProblem::new(filter, message, None)
            })?;
            (chunk_of(path), text, Some(path.as_path()))
        }
    };
    let source = LuaSource { filter, chunk: &chunk, text: &text, limits: limits_of(config) };
    LuaScript::load(&source, host).map_err(|error| problem_of(filter, &chunk, path, &error))
}

/// Returns the warning about a script that does nothing.
fn without_hooks(filter: &str, script: &LuaScriptText) -> FilterProblem {
    let message = "the script defines neither `envoy_on_request` nor `envoy_on_response`, so it does nothing";
    let hint = "define one of them as a global function, without `local`";
    let script = match script {
        LuaScriptText::Inline { .. } => None,
        LuaScriptText::File(path) => Some(Box::new(ScriptLine { path: path.display().to_string(), line: 0 })),
    };
    FilterProblem { is_warning: true, script, ..FilterProblem::new(filter, message, Some(hint)) }
}

/// Returns the file name, as used in messages of the script.
fn chunk_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    file.take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > SCRIPT_BYTES_MAX {
        return Err(format!("it has more than {SCRIPT_BYTES_MAX} bytes"));
    }
    Ok(text)
}

fn limits_of(config: &LuaConfig) -> LuaLimits {
    LuaLimits {
        cpu: config.cpu,
        memory_bytes: config.memory_bytes,
        allows_os: config.allow.os,
        allows_io: config.allow.io,
        allows_package: config.allow.package,
        allows_ffi: config.allow.ffi,
        shared: SharedLimits { entries_max: config.shared_entries_max, bytes_max: config.shared_bytes_max },
    }
}

/// Returns the problem at the line of the script that starts the message.
fn problem_of(filter: &str, chunk: &str, path: Option<&Path>, error: &LoadError) -> FilterProblem {
    let message = error.to_string();
    let located = path.and_then(|path| {
        let rest = message.strip_prefix(chunk)?.strip_prefix(':')?;
        let (line, rest) = rest.split_once(": ")?;
        let script = ScriptLine { path: path.display().to_string(), line: line.parse().ok()? };
        Some((Box::new(script), rest))
    });
    match located {
        Some((script, rest)) => {
            FilterProblem { script: Some(script), ..FilterProblem::new(filter, rest, None) }
        }
        None => FilterProblem::new(filter, message, None),
    }
}

/// Maximum size of a script, in bytes.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

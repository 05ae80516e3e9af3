//! Checks Wasm filters.

use std::path::Path;
use std::time::Duration;

use eddy_config::{WasmConfig, WasmIsolation};
use eddy_spec::problem::ProblemReport;
use eddy_spec::spec::WasmSpec;
use eddy_spec::yaml::YamlNode;

use super::json::json_of;

/// Checks a Wasm filter; returns `None` if it has no module file.
pub(super) fn check_wasm(spec: &WasmSpec, folder: &Path, report: &mut ProblemReport) -> Option<WasmConfig> {
    let module = folder.join(&spec.module.as_ref()?.value.0);
    let text = |text: &Option<eddy_spec::read::Spanned<eddy_spec::value::BoundedText<256>>>| {
        text.as_ref().map_or_else(String::new, |text| text.value.0.clone())
    };
    let variables = spec.allow.as_ref().and_then(|allow| allow.value.env.as_ref());
    let variables = variables.into_iter().flat_map(|env| &env.value.0);
    let isolation = spec.isolation.map_or(WasmIsolation::Worker, |isolation| isolation.value);
    let cpu = spec.cpu.map_or(CPU_DEFAULT, |cpu| cpu.value.0);
    let start_cpu = spec.start_cpu.map_or_else(|| start_cpu_default(isolation), |time| time.value.0);
    let env = variables.filter_map(|entry| {
        let value = entry.value.as_ref()?;
        Some((entry.name.value.0.clone(), value.value.0.clone()))
    });
    Some(WasmConfig {
        module,
        root_id: text(&spec.root_id),
        vm_id: text(&spec.vm_id),
        vm_config: spec
            .vm_config
            .as_ref()
            .map_or_else(String::new, |config| plain_or_json(&config.value.0, report)),
        isolation,
        memory_bytes: spec.memory.map_or(MEMORY_BYTES_DEFAULT, |memory| memory.value.0),
        cpu,
        start_cpu: start_cpu.max(cpu),
        env: env.collect(),
    })
}

/// Returns the default time of a start step: without an instance of its own, no exchange waits for a start.
fn start_cpu_default(isolation: WasmIsolation) -> Duration {
    match isolation {
        WasmIsolation::Worker => Duration::from_secs(1),
        WasmIsolation::Stream => Duration::from_millis(100),
    }
}

/// Converts a value to the form that a module receives: a string as it is, null as an empty string, any other value as
/// JSON.
pub(super) fn plain_or_json(node: &YamlNode<'_>, report: &mut ProblemReport) -> String {
    let json = json_of(node, report);
    if json == "null" {
        return String::new();
    }
    serde_json::from_str::<String>(&json).unwrap_or(json)
}

const MEMORY_BYTES_DEFAULT: u64 = 64 << 20;
const CPU_DEFAULT: Duration = Duration::from_millis(10);

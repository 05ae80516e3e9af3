//! Checks Lua filters: their scripts, and the scripts of rules.

use std::path::Path;
use std::time::Duration;

use eddy_config::{LuaAllowed, LuaConfig, LuaScriptText};
use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;
use eddy_spec::spec::{LuaRuleSpec, LuaScriptSpec, LuaSpec};
use eddy_spec::value::{BoundedText, FilePath, LuaLibraryName};

/// Returns the script: the file, or the inline text, which is called `name` in messages. Exactly one is given.
fn script_of<const BYTES_MAX: usize>(
    name: &str,
    file: Option<&Spanned<FilePath>>,
    source: Option<&Spanned<BoundedText<BYTES_MAX>>>,
    folder: &Path,
) -> Option<LuaScriptText> {
    match (file, source) {
        (Some(file), _) => Some(LuaScriptText::File(folder.join(&file.value.0))),
        (None, Some(text)) => {
            Some(LuaScriptText::Inline { name: name.into(), text: text.value.0.as_str().into() })
        }
        (None, None) => None,
    }
}

/// Checks the configuration of the Lua filter `name`.
pub(super) fn check_lua(spec: &LuaSpec, name: &str, folder: &Path) -> Option<LuaConfig> {
    let script = script_of(name, spec.file.as_ref(), spec.source.as_ref(), folder)?;
    let mut scripts = Vec::new();
    for entry in spec.scripts.iter().flat_map(|scripts| &scripts.value.0) {
        let Some(Spanned { value: LuaScriptSpec { file, source }, .. }) = &entry.value else { continue };
        let shown = format!("{name}/{}", entry.name.value.0);
        if let Some(script) = script_of(&shown, file.as_ref(), source.as_ref(), folder) {
            scripts.push((Shared::clone(&entry.name.value.0), script));
        }
    }
    let shared = spec.shared.as_ref().map(|shared| &shared.value);
    Some(LuaConfig {
        script,
        scripts,
        cpu: spec.cpu.map_or(Duration::from_millis(10), |cpu| cpu.value.0),
        memory_bytes: spec.memory.map_or(32 << 20, |memory| memory.value.into()),
        allow: allowed(spec.allow.as_ref().map_or(&[][..], |names| &names.value)),
        shared_entries_max: shared
            .and_then(|shared| shared.entries)
            .map_or(10_000, |entries| entries.value.into()),
        shared_bytes_max: shared.and_then(|shared| shared.bytes).map_or(4 << 20, |bytes| bytes.value.into()),
    })
}

fn allowed(names: &[Spanned<LuaLibraryName>]) -> LuaAllowed {
    let has = |wanted| names.iter().any(|name| name.value == wanted);
    LuaAllowed {
        os: has(LuaLibraryName::Os),
        io: has(LuaLibraryName::Io),
        package: has(LuaLibraryName::Package),
        ffi: has(LuaLibraryName::Ffi),
    }
}

/// Returns the script that a rule uses in place of the filter's.
pub(super) fn check_rule_script(
    spec: &LuaRuleSpec,
    own: Option<&LuaConfig>,
    filter: &str,
    folder: &Path,
    report: &mut ProblemReport,
) -> Option<LuaScriptText> {
    let LuaRuleSpec { script, file, source } = spec;
    let Some(name) = script else {
        return script_of(filter, file.as_ref(), source.as_ref(), folder);
    };
    // Errors of the filter are reported at its definition.
    let own = own?;
    let found = own.scripts.iter().find(|(known, _)| *known == name.value.0);
    if found.is_none() {
        let meant = report.closest(&name.value.0, own.scripts.iter().map(|(known, _)| &**known));
        let meant = meant.map(ToOwned::to_owned);
        let message = format!("the filter has no script `{}`", shown(&name.value.0));
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "define it under `scripts` of the filter".to_owned(),
        };
        report.error(name.place, message).hint(hint);
    }
    found.map(|(_, script)| script.clone())
}

//! Reads and checks the configuration, and keeps what was read, for the day when the files are broken.

use std::sync::Arc;

use eddy_config::{Config, Problem, Severity, SourceText};
use eddy_source::{FileSource, Rejected};

/// A configuration that can be used.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The configuration.
    pub(crate) config: Arc<Config>,
    /// The texts it was made of.
    pub(crate) sources: Vec<SourceText>,
    /// What may be other than it was meant.
    pub(crate) warnings: Vec<Problem>,
}

/// Reads and checks the files of `source`.
///
/// # Errors
/// All problems at once.
pub(super) fn load(source: &FileSource) -> Result<Loaded, Rejected> {
    let loaded = source.load()?;
    let warnings = loaded.checked.warnings;
    Ok(Loaded { config: Arc::new(loaded.checked.config), sources: loaded.sources, warnings })
}

/// The texts as bytes that [`unpack`] understands.
pub(crate) fn pack(sources: &[SourceText]) -> Vec<u8> {
    let pairs: Vec<(&str, &str)> = sources.iter().map(|source| (&*source.path, &*source.text)).collect();
    serde_json::to_vec(&pairs).unwrap_or_default()
}

/// The configuration that [`pack`] kept, if it still is one; another version of eddy may have written it.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Loaded> {
    let pairs: Vec<(String, String)> = serde_json::from_slice(bytes).ok()?;
    let sources: Vec<SourceText> = pairs.iter().map(|(path, text)| SourceText::new(path, text)).collect();
    let checked = eddy_config::check(&sources).ok()?;
    Some(Loaded { config: Arc::new(checked.config), sources, warnings: Vec::new() })
}

/// Logs each problem with its place.
pub(super) fn log_problems(problems: &[Problem]) {
    for problem in problems {
        let (path, line, column) = (&*problem.path, problem.line, problem.column);
        let hint = problem.hint.as_deref();
        match problem.severity {
            Severity::Error => tracing::error!(path, line, column, hint, "{}", problem.message),
            Severity::Warning => tracing::warn!(path, line, column, hint, "{}", problem.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_force_can_be_checked_again() {
        let text = "listeners: [{address: '127.0.0.1:0', demo: true}]\n";
        let sources = vec![SourceText::new("eddy.yaml", text)];
        let checked = eddy_config::check(&sources).unwrap();
        let kept = unpack(&pack(&sources)).unwrap();
        assert_eq!(kept.sources, sources);
        assert_eq!(kept.config.version, checked.config.version);
        assert!(unpack(b"something else").is_none());
    }
}

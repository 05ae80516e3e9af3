//! Reads and checks the configuration, and packs it for a successor in case the files become invalid.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eddy_config::{GatewayConfig, Leniency, Problem, Severity, SourceText, version_of};
use eddy_source::{FileSource, Rejected};

use crate::bundle::GoBuildTarget;
use crate::filters::{FilterProblem, folders_of, link_packages, name_library, probe, problems_of};
use crate::tls::{ReadTls, TlsFiles, advise};

/// Valid configuration.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Checked configuration.
    pub(crate) config: Arc<GatewayConfig>,
    /// Texts that it was read from.
    pub(crate) sources: Vec<SourceText>,
    /// Warnings about likely mistakes.
    pub(crate) warnings: Vec<Problem>,
    /// Folders of the filters that are Go packages.
    pub(crate) folders: BTreeMap<Arc<str>, PathBuf>,
    /// Library of the Go packages, once they are linked.
    pub(crate) bundle: Option<PathBuf>,
    /// Certificates and keys.
    pub(crate) tls: ReadTls,
}

impl Loaded {
    /// Returns the files that are watched besides the texts.
    pub(super) fn companions(&self) -> Vec<PathBuf> {
        let mut files = self.config.companions();
        files.extend(self.tls.files.unnamed().cloned());
        files
    }
}

/// Reads and checks the files of `source`.
///
/// # Errors
/// All problems at once.
pub(super) fn load(source: &FileSource) -> Result<Loaded, Rejected> {
    let loaded = source.load()?;
    let mut warnings = loaded.checked.warnings;
    let config = loaded.checked.config;
    let sources = loaded.sources;
    let tls = match ReadTls::read(&config) {
        Ok(tls) => tls,
        Err(problems) => return Err(Rejected { problems, sources }),
    };
    warnings.extend(advise(&config, &tls.parts));
    let folders = folders_of(&config);
    Ok(Loaded { config: Arc::new(config), sources, warnings, folders, bundle: None, tls })
}

/// Links the Go packages of a configuration.
///
/// # Errors
/// Why they cannot be linked.
///
/// # Cost
/// With Go packages: a tenth of a second, or the time of a compiler.
pub(super) fn linked(mut loaded: Loaded) -> Result<Loaded, Rejected> {
    let notice = || tracing::info!("linking Go packages");
    match link_packages(Arc::make_mut(&mut loaded.config), None, GoBuildTarget::Library, &notice) {
        Ok(bundle) => Ok(Loaded { bundle: bundle.map(|bundle| bundle.library), ..loaded }),
        Err(failure) => {
            let Loaded { config, mut sources, .. } = loaded;
            let problems = problems_of(failure, &config, &mut sources);
            Err(Rejected { problems, sources })
        }
    }
}

/// Links the Go packages of a configuration. If its texts are still those of `last_good`, the same library is used even
/// when the Go sources have changed: the process that replaces a crashed one runs the same code.
///
/// # Errors
/// Why the packages cannot be linked.
pub(super) fn linked_as(read: Loaded, last_good: Option<&Loaded>) -> Result<Loaded, Rejected> {
    let same = last_good.filter(|last| version_of(&last.sources) == version_of(&read.sources));
    match same {
        Some(Loaded { config, bundle: Some(bundle), .. }) if bundle.is_file() => {
            Ok(Loaded { config: Arc::clone(config), bundle: Some(bundle.clone()), ..read })
        }
        Some(_) | None => linked(read),
    }
}

/// Checks that all filters of a configuration can be created.
///
/// # Errors
/// Every filter that cannot be created.
pub(super) fn vetted(loaded: Loaded) -> Result<Loaded, Rejected> {
    let problems = probe(&loaded.config, &loaded.sources, loaded.bundle.as_deref());
    if problems.is_empty() { Ok(loaded) } else { Err(Rejected { problems, sources: loaded.sources }) }
}

/// Returns the rejection of a configuration whose filters could be created in the probe but not now.
pub(super) fn unmade(problems: &[FilterProblem], loaded: &Loaded) -> Rejected {
    let problems = problems.iter().map(|problem| problem.in_sources(&loaded.sources)).collect();
    Rejected { problems, sources: loaded.sources.clone() }
}

/// Packs the texts, the library of the Go packages, and certificates and keys for [`unpack`]; a probe of filters needs
/// no certificates and keys.
pub(crate) fn pack(sources: &[SourceText], bundle: Option<&Path>, tls: Option<&TlsFiles>) -> Vec<u8> {
    let texts: Vec<(&str, &str, bool)> =
        sources.iter().map(|source| (&*source.path, &*source.text, source.is_included)).collect();
    serde_json::to_vec(&(texts, bundle, tls)).unwrap_or_default()
}

/// Returns the configuration that [`pack`] packed, if it is still valid; another version of eddy may have packed it.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Loaded> {
    /// Source: path, text, and whether another source includes it.
    type Kept = (String, String, bool);
    let (texts, bundle, tls): (Vec<Kept>, Option<PathBuf>, Option<TlsFiles>) =
        serde_json::from_slice(bytes).ok()?;
    let source = |(path, text, is_included): &Kept| SourceText {
        is_included: *is_included,
        ..SourceText::new(path, text)
    };
    let sources: Vec<SourceText> = texts.iter().map(source).collect();
    let mut config = eddy_config::check_with(&sources, Leniency::Lenient).ok()?.config;
    let folders = folders_of(&config);
    if let Some(library) = &bundle {
        name_library(&mut config, library);
    }
    let tls = match tls {
        Some(files) => ReadTls::of(&config, files).ok()?,
        None => ReadTls::default(),
    };
    Some(Loaded { config: Arc::new(config), sources, warnings: Vec::new(), folders, bundle, tls })
}

/// Logs each problem with its position.
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
        let text =
            "listeners: [{address: '127.0.0.1:0', routes: legacy}]\nroutes: {legacy: {file: legacy.conf}}\n";
        let legacy = SourceText::new("legacy.conf", "http { server { return 200; } }").included();
        let sources = vec![SourceText::new("eddy.yaml", text), legacy];
        let checked = eddy_config::check(&sources).unwrap();
        let kept = unpack(&pack(&sources, None, Some(&TlsFiles::default()))).unwrap();
        assert_eq!(kept.sources, sources);
        assert_eq!(kept.config.version, checked.config.version);
        assert!(unpack(b"something else").is_none());
    }
}

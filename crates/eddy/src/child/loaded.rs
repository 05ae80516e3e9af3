//! Valid configuration, and its packed form for a successor in case the files become invalid.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eddy_config::GatewayConfig;
use eddy_ids::Shared;
use eddy_spec::Leniency;
use eddy_spec::problem::{Problem, SourceText};

use crate::filters::{folders_of, name_library};
use crate::tls::{ReadTls, TlsFiles};

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
    pub(crate) folders: BTreeMap<Shared<str>, PathBuf>,
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
    let mut config = eddy_dialects::check_with(&sources, Leniency::Lenient).ok()?.config;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_configuration_can_be_checked_again() {
        let text =
            "listeners: [{address: '127.0.0.1:0', routes: legacy}]\nroutes: {legacy: {file: legacy.conf}}\n";
        let legacy = SourceText::new("legacy.conf", "http { server { return 200; } }").included();
        let sources = vec![SourceText::new("eddy.yaml", text), legacy];
        let checked = eddy_dialects::check(&sources).unwrap();
        let kept = unpack(&pack(&sources, None, Some(&TlsFiles::default()))).unwrap();
        assert_eq!(kept.sources, sources);
        assert_eq!(kept.config.version, checked.config.version);
        assert!(unpack(b"something else").is_none());
    }
}

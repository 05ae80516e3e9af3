//! TLS files and their parsed contents.

use eddy_config::GatewayConfig;
use eddy_spec::problem::Problem;

use super::files::TlsFiles;
use super::parts::TlsParts;

/// TLS files as read, and their parsed contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadTls {
    /// Files as read.
    pub(crate) files: TlsFiles,
    /// Parsed contents.
    pub(crate) parts: TlsParts,
}

impl ReadTls {
    /// Reads and parses the TLS files of a configuration.
    ///
    /// # Errors
    /// Every invalid file, at the position where it is named.
    pub(crate) fn read(config: &GatewayConfig) -> Result<Self, Vec<Problem>> {
        Self::of(config, TlsFiles::read(config)?)
    }

    /// Parses files that were read before.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn of(config: &GatewayConfig, files: TlsFiles) -> Result<Self, Vec<Problem>> {
        let parts = TlsParts::parse(config, &files)?;
        Ok(Self { files, parts })
    }
}

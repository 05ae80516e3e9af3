//! The files of TLS and what they hold.

use eddy_config::{GatewayConfig, Problem};

use super::files::TlsFiles;
use super::parts::TlsParts;

/// The files as they were read, and what they hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadTls {
    /// The files.
    pub(crate) files: TlsFiles,
    /// What they hold.
    pub(crate) parts: TlsParts,
}

impl ReadTls {
    /// Reads the files that a configuration names.
    ///
    /// # Errors
    /// Every file that does not do, at the place where it is named.
    pub(crate) fn read(config: &GatewayConfig) -> Result<Self, Vec<Problem>> {
        Self::of(config, TlsFiles::read(config)?)
    }

    /// What files hold that were read before.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn of(config: &GatewayConfig, files: TlsFiles) -> Result<Self, Vec<Problem>> {
        let parts = TlsParts::parse(config, &files)?;
        Ok(Self { files, parts })
    }
}

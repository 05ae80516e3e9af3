//! What the files of certificates and keys hold.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use eddy_config::{Config, Problem, Severity, WrittenPath};
use eddy_tls::TicketKeys;
use serde::{Deserialize, Serialize};

use super::make::make_tls;

/// The files that a configuration names for TLS, as they were read; kept with it, for the day when they are broken.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TlsFiles(BTreeMap<PathBuf, Vec<u8>>);

impl TlsFiles {
    /// Reads them.
    ///
    /// # Errors
    /// Each one that cannot be read, at the place where it is named.
    pub(crate) fn read(config: &Config) -> Result<Self, Vec<Problem>> {
        let (mut files, mut problems) = (BTreeMap::new(), Vec::new());
        for file in config.tls_files() {
            if files.contains_key(&file.path) {
                continue;
            }
            match read(&file.path) {
                Ok(bytes) => {
                    files.insert(file.path.clone(), bytes);
                }
                Err(error) => {
                    let hint = "name an existing file that eddy may read; a relative path is taken from where the configuration file lies";
                    problems.push(file.problem(
                        Severity::Error,
                        format_args!("it cannot be read: {error}"),
                        Some(hint.to_owned()),
                    ));
                }
            }
        }
        if problems.is_empty() { Ok(Self(files)) } else { Err(problems) }
    }

    /// What a file holds; nothing for one that was not read.
    pub(super) fn get(&self, file: &WrittenPath) -> &[u8] {
        self.0.get(&file.path).map_or(&[], Vec::as_slice)
    }
}

/// Reads the files of certificates and keys, and finds out whether they do.
///
/// # Errors
/// Each that does not, at the place where it is named.
pub(crate) fn read_tls(config: &Config) -> Result<TlsFiles, Vec<Problem>> {
    let files = TlsFiles::read(config)?;
    make_tls(config, &files, &mut TicketKeys::default()).map(|_| files)
}

/// The keys are nobody's to see.
impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it is larger than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    Ok(bytes)
}

/// A store of all public authorities has some 200 KiB.
const FILE_BYTES_MAX: u64 = 4 << 20;

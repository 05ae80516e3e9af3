//! Reads the files of certificates and keys.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use eddy_config::GatewayConfig;
use eddy_model::{ServerCheck, WrittenPath};
use eddy_spec::problem::{Problem, Severity};
use serde::{Deserialize, Serialize};

/// Contents of the TLS files of a configuration, as read; packed with it, in case the files become invalid.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TlsFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// File with the system's authorities, if needed.
    machine: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// Every file that cannot be read, at the position where it is named.
    pub(crate) fn read(config: &GatewayConfig) -> Result<Self, Vec<Problem>> {
        let (mut files, mut problems) = (BTreeMap::new(), Vec::new());
        for file in config.tls_files() {
            if files.contains_key(&file.path) {
                continue;
            }
            let found = match &file.text {
                Some(text) => Ok(text.0.to_vec()),
                None => read(&file.path),
            };
            match found {
                Ok(bytes) => {
                    files.insert(file.path.clone(), bytes);
                }
                // The file exists once its certificate was ordered.
                Err(error) if error.kind() == io::ErrorKind::NotFound && is_ordered(config, &file.path) => {}
                Err(error) => {
                    // Dialects resolve relative paths differently; the result is absolute.
                    let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
                    let hint =
                        format!("name an existing file that eddy can read; it tried `{}`", path.display());
                    let message = format_args!("it cannot be read: {error}");
                    problems.push(Problem::about(file, Severity::Error, message, Some(hint)));
                }
            }
        }
        let machine = match read_machine(config) {
            Ok(found) => found.map(|(path, bytes)| {
                files.insert(path.clone(), bytes);
                path
            }),
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        if problems.is_empty() { Ok(Self { files, machine }) } else { Err(problems) }
    }

    /// Whether a file was read.
    pub(super) fn has(&self, file: &WrittenPath) -> bool {
        self.files.contains_key(&file.path)
    }

    /// Returns the contents of a file; empty for one that was not read.
    pub(super) fn get(&self, file: &WrittenPath) -> &[u8] {
        self.files.get(&file.path).map_or(&[], Vec::as_slice)
    }

    /// Returns path and contents of the file with the system's authorities, if needed.
    pub(super) fn machine(&self) -> Option<(&Path, &[u8])> {
        let path = self.machine.as_deref()?;
        Some((path, self.files.get(path)?))
    }

    /// Returns the files to watch that the configuration doesn't name.
    pub(crate) fn unnamed(&self) -> Option<&PathBuf> {
        self.machine.as_ref()
    }
}

/// Hides the contents, which include private keys.
impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

fn is_ordered(config: &GatewayConfig, path: &Path) -> bool {
    config.acme.as_ref().is_some_and(|acme| acme.ordered_in(path).is_some())
}

/// Reads the system's authorities, if a cluster or the connection to the ACME authority is verified by them.
fn read_machine(config: &GatewayConfig) -> Result<Option<(PathBuf, Vec<u8>)>, Problem> {
    let mut asking = config.clusters.values().filter_map(|cluster| cluster.tls.as_ref());
    let asking = asking.find(|tls| tls.authorities.is_none() && tls.check != ServerCheck::Nothing);
    let ordering = config.acme.as_ref().filter(|acme| acme.authorities.is_none());
    let asking = asking.map(|tls| &tls.place).or_else(|| ordering.map(|acme| &acme.place));
    let Some(asking) = asking else { return Ok(None) };
    let said = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()).map(PathBuf::from);
    let usual = || MACHINE_FILES.iter().map(PathBuf::from).find(|path| path.is_file());
    let problem = |message: String| {
        let hint = "set `authorities`, or install the CA certificates of the system (`ca-certificates`)";
        Problem::at(asking, Severity::Error, message, Some(hint.to_owned()))
    };
    let path = said.or_else(usual);
    let path = path.ok_or_else(|| problem("this system has no file with CA certificates".to_owned()))?;
    match read(&path) {
        Ok(bytes) => Ok(Some((path, bytes))),
        Err(error) => Err(problem(format!(
            "the CA certificates of the system, `{}`, cannot be read: {error}",
            path.display()
        ))),
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

/// Maximum size of a file. A store of all public authorities has some 200 KiB.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Files in which distributions store the system's authorities; `SSL_CERT_FILE` takes precedence, as with OpenSSL.
const MACHINE_FILES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

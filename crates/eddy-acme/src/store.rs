//! Store of an ACME account and its certificates: a folder on disk.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use instant_acme::AccountCredentials;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// Store of an ACME account and its certificates: a folder on disk.
///
/// Only the owner can read the files. They are replaced by renaming, so that no reader sees a half-written file.
#[derive(Clone, Debug)]
pub(crate) struct AcmeStore {
    folder: PathBuf,
}

/// Stored ACME account.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptAccount {
    /// Contact address that the authority was last given.
    pub(crate) contact: Option<String>,
    /// URL of the account at the authority, and its key.
    pub(crate) credentials: AccountCredentials,
}

/// Exclusive right to order. Released when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub(crate) struct StoreLock {
    _file: File,
}

impl AcmeStore {
    /// Opens the store in this folder, which is created if missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(StoreError::at(folder, "created"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Takes the lock, or returns `None` when another process holds it.
    pub(crate) fn try_lock(&self) -> Result<Option<StoreLock>, StoreError> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(StoreError::at(&path, "opened"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(StoreLock { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(StoreError::at(&path, "locked")(error.into())),
        }
    }

    /// Returns the stored account, if there is one.
    pub(crate) fn read_account(&self) -> Result<Option<KeptAccount>, StoreError> {
        let path = self.account_path();
        let Some(bytes) = read(&path)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|source| StoreError::Account { path, source })
    }

    /// Stores an account.
    pub(crate) fn write_account(&self, account: &KeptAccount) -> Result<(), StoreError> {
        let path = self.account_path();
        let bytes = serde_json::to_vec_pretty(account)
            .map_err(|source| StoreError::Account { path: path.clone(), source })?;
        self.replace(&path, &bytes)
    }

    /// Sets an account aside that the authority no longer knows.
    pub(crate) fn retire_account(&self) -> Result<(), StoreError> {
        let path = self.account_path();
        fs::rename(&path, self.folder.join("account.unknown.json")).map_err(StoreError::at(&path, "renamed"))
    }

    /// Returns the contents of a certificate file, if it exists.
    pub(crate) fn read_certificate(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        read(path)
    }

    /// Replaces a certificate and its key.
    pub(crate) fn write_certificate(&self, path: &Path, pem: &str) -> Result<(), StoreError> {
        self.replace(path, pem.as_bytes())
    }

    /// Returns the recorded orders by certificate name; empty when they cannot be read.
    pub(crate) fn read_orders(&self) -> BTreeMap<String, Vec<u64>> {
        let path = self.folder.join(ORDERS);
        match read(&path) {
            Ok(None) => BTreeMap::new(),
            Ok(Some(bytes)) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(
                    "`{}` cannot be parsed; the order count restarts at zero: {error}",
                    path.display()
                );
                BTreeMap::new()
            }),
            Err(error) => {
                tracing::warn!("{error}; the order count restarts at zero");
                BTreeMap::new()
            }
        }
    }

    /// Records orders.
    pub(crate) fn write_orders(&self, orders: &BTreeMap<String, Vec<u64>>) -> Result<(), StoreError> {
        let path = self.folder.join(ORDERS);
        let bytes =
            serde_json::to_vec(orders).map_err(|error| StoreError::at(&path, "written")(error.into()))?;
        self.replace(&path, &bytes)
    }

    fn account_path(&self) -> PathBuf {
        self.folder.join("account.json")
    }

    /// Replaces a file: the new contents are written under another name first, so that the old file stays until all
    /// bytes are on disk.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let new = path.with_file_name(name);
        // Left over from a process that died while writing.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::at(&new, "removed")(error));
            }
            Ok(()) | Err(_) => {}
        }
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&new, path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(StoreError::at(path, "written"))
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::at(path, "opened")(error)),
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(StoreError::at(path, "read"))?;
    Ok(Some(bytes))
}

const ORDERS: &str = "orders.json";
/// Limit above any account, order list or certificate chain; a longer file is cut and fails to parse.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("eddy-acme-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn only_one_process_holds_the_order_lock() {
        let folder = folder("lock");
        let (one, other) = (AcmeStore::open(&folder).unwrap(), AcmeStore::open(&folder).unwrap());
        let lock = one.try_lock().unwrap();
        assert!(lock.is_some());
        assert!(other.try_lock().unwrap().is_none());
        drop(lock);
        assert!(other.try_lock().unwrap().is_some());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn files_are_private_and_replaced_atomically() {
        let folder = folder("files");
        let store = AcmeStore::open(&folder.join("below")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.join("below")), 0o700);
        let path = folder.join("below/a.test.pem");
        assert!(store.read_certificate(&path).unwrap().is_none());
        // A left-over temporary file does no harm.
        fs::write(folder.join("below/a.test.pem.new"), "half").unwrap();
        store.write_certificate(&path, "one").unwrap();
        store.write_certificate(&path, "two").unwrap();
        assert_eq!(store.read_certificate(&path).unwrap().unwrap(), b"two");
        assert_eq!(mode(&path), 0o600);
        let names: Vec<_> =
            fs::read_dir(folder.join("below")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.test.pem"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_invalid_account_is_an_error_and_an_invalid_order_count_is_reset() {
        let folder = folder("broken");
        let store = AcmeStore::open(&folder).unwrap();
        fs::write(folder.join("account.json"), "{").unwrap();
        let error = store.read_account().err().unwrap().to_string();
        assert!(
            error.contains("account.json` is not a valid account file") && error.contains("remove it"),
            "{error}"
        );
        fs::write(folder.join("orders.json"), "[]").unwrap();
        assert!(store.read_orders().is_empty());
        let orders = BTreeMap::from([("a.test".to_owned(), vec![1, 2])]);
        store.write_orders(&orders).unwrap();
        assert_eq!(store.read_orders(), orders);
        fs::remove_dir_all(folder).unwrap();
    }
}

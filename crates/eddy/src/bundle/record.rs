//! What is noted beside a bundle about how it was made.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::kits::KITS_VERSION;

/// The record of a bundle, a JSON file beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BundleManifest {
    /// Version of the contract between eddy and its libraries.
    pub(crate) abi: u32,
    /// Names everything that the library was made of.
    pub(crate) key: String,
    /// The Go toolchain, as in `go1.26.8`.
    pub(crate) go: String,
    /// Version of eddy and its kits.
    pub(crate) kits: String,
    /// Import paths of the packages with filters.
    pub(crate) packages: Vec<String>,
    /// Where these packages lie on this machine, and what each brings along; empty in a copy for other machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) linked: Vec<LinkedPackage>,
    /// Size of the library, which tells whether it is complete.
    pub(crate) library_bytes: u64,
}

/// A package with filters that a library was linked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkedPackage {
    /// Its folder, without links.
    pub(crate) folder: PathBuf,
    /// Its import path.
    pub(crate) path: String,
    /// Import paths of the packages that it brings along, its own included, without those of Go and the kits.
    pub(crate) links: BTreeSet<String>,
}

impl BundleManifest {
    pub(super) fn new(
        key: &str,
        go: &str,
        packages: Vec<String>,
        linked: Vec<LinkedPackage>,
        library_bytes: u64,
    ) -> Self {
        let (key, go, kits) = (key.to_owned(), go.to_owned(), KITS_VERSION.to_owned());
        Self { abi: ABI, key, go, kits, packages, linked, library_bytes }
    }

    /// The record beside a library, if it has one that can be read.
    pub(crate) fn beside(library: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(place_of(library)).ok()?).ok()
    }

    /// Writes the record beside a library.
    pub(crate) fn write(&self, library: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let (place, fresh) =
            (place_of(library), library.with_extension(format!("fresh-{}", std::process::id())));
        fs::write(&fresh, text)?;
        fs::rename(fresh, place)
    }

    /// Removes the record beside a library that is about to be replaced.
    pub(super) fn remove_beside(library: &Path) -> io::Result<()> {
        match fs::remove_file(place_of(library)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whether a library is what the record beside it says, and this eddy can have it in its process.
    ///
    /// # Errors
    /// What does not fit, for people.
    pub(crate) fn check(&self, library: &Path) -> Result<(), String> {
        if self.abi != ABI {
            return Err(format!(
                "it was built by eddy {} with {} for version {} of the contract, and this eddy has version {ABI}; build it again with `eddy filter build`",
                self.kits, self.go, self.abi
            ));
        }
        let bytes = fs::metadata(library).map_err(|error| error.to_string())?.len();
        if bytes != self.library_bytes {
            return Err(format!(
                "it has {bytes} bytes, and the record beside it was written for {}; build it again with `eddy filter build`, or remove \"{}\" if it is another library",
                self.library_bytes,
                place_of(library).display()
            ));
        }
        Ok(())
    }
}

/// `NAME.so.json` of `NAME.so`.
pub(super) fn place_of(library: &Path) -> PathBuf {
    let mut place = OsString::from(library);
    place.push(".json");
    place.into()
}

/// `EDDY_ABI` of `abi/eddy_filter.h`.
const ABI: u32 = 1;

//! Build manifest next to a bundle.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::kits::KITS_VERSION;

/// Build manifest of a bundle, a JSON file next to the library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BundleManifest {
    /// Version of the filter ABI.
    pub(crate) abi: u32,
    /// Hash of everything that the library was built from.
    pub(crate) key: String,
    /// Go toolchain, as in `go1.26.8`.
    pub(crate) go: String,
    /// Version of eddy and its SDKs.
    pub(crate) kits: String,
    /// Import paths of the packages with filters.
    pub(crate) packages: Vec<String>,
    /// Folders of these packages on this machine, and their dependencies; empty in a copy for other machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) linked: Vec<LinkedPackage>,
    /// Size of the library in bytes, which shows whether it is complete.
    pub(crate) library_bytes: u64,
}

/// Package with filters that a library was linked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkedPackage {
    /// Folder, without symbolic links.
    pub(crate) folder: PathBuf,
    /// Import path.
    pub(crate) path: String,
    /// Import paths of this package and of its dependencies, without those of Go and the SDKs.
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

    /// Reads the manifest next to a library, if it exists and can be parsed.
    pub(crate) fn beside(library: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(place_of(library)).ok()?).ok()
    }

    /// Writes the manifest next to a library.
    pub(crate) fn write(&self, library: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let (place, fresh) =
            (place_of(library), library.with_extension(format!("fresh-{}", std::process::id())));
        fs::write(&fresh, text)?;
        fs::rename(fresh, place)
    }

    /// Removes the manifest next to a library that is about to be replaced.
    pub(super) fn remove_beside(library: &Path) -> io::Result<()> {
        match fs::remove_file(place_of(library)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Checks that a library matches its manifest, and that this eddy can load it.
    ///
    /// # Errors
    /// Mismatch, as a message for people.
    pub(crate) fn check(&self, library: &Path) -> Result<(), String> {
        if self.abi != ABI {
            return Err(format!(
                "it was built by eddy {} with {} for version {} of the filter ABI, but this eddy has version {ABI}; build it again with `eddy filter build`",
                self.kits, self.go, self.abi
            ));
        }
        let bytes = fs::metadata(library).map_err(|error| error.to_string())?.len();
        if bytes != self.library_bytes {
            return Err(format!(
                "it has {bytes} bytes, but its manifest states {}; build it again with `eddy filter build`, or remove \"{}\" if that belongs to another library",
                self.library_bytes,
                place_of(library).display()
            ));
        }
        Ok(())
    }
}

/// Returns `NAME.so.json` for `NAME.so`.
pub(super) fn place_of(library: &Path) -> PathBuf {
    let mut place = OsString::from(library);
    place.push(".json");
    place.into()
}

/// `EDDY_ABI` of `abi/eddy_filter.h`.
const ABI: u32 = 1;

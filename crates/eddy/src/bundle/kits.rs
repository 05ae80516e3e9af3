//! Filter SDKs, which the program contains as sources.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use super::cache::{Cache, keep_newest, touch};
use super::failure::BundleFailure;

/// Unpacked SDKs.
#[derive(Clone, Debug)]
pub(crate) struct Kits {
    folder: PathBuf,
    current: PathBuf,
}

impl Kits {
    /// Unpacks the SDKs of this program, unless they are unpacked already.
    ///
    /// # Errors
    /// When the cache cannot be written to.
    pub(crate) fn unpack(cache: &Cache) -> Result<Self, BundleFailure> {
        let parent = cache.folder("kits")?;
        let kits = Self { folder: parent.join(KITS_VERSION), current: parent.join("current") };
        let unpacked = kits.fill(&parent).and_then(|()| kits.be_current(&parent));
        unpacked.map_err(|error| BundleFailure::of_io("unpack the filter SDKs to", &kits.folder, &error))?;
        Ok(kits)
    }

    fn fill(&self, parent: &Path) -> io::Result<()> {
        let archive = inflated()?;
        let files = files(&archive).ok_or(io::ErrorKind::InvalidData)?;
        let is_there = |(path, content): &(&Path, &[u8])| {
            fs::metadata(self.folder.join(path)).is_ok_and(|known| known.len() == content.len() as u64)
        };
        if files.iter().all(is_there) {
            touch(&self.folder);
            return Ok(());
        }
        let fresh = parent.join(format!("fresh-{}", std::process::id()));
        for (path, content) in files {
            let path = fresh.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, content)?;
        }
        // The existing folder is incomplete; another process may be about to put the same files there.
        let _ = fs::remove_dir_all(&self.folder);
        let renamed = fs::rename(&fresh, &self.folder);
        if renamed.is_err() {
            let _ = fs::remove_dir_all(&fresh);
        }
        keep_newest(parent, KITS_MAX)?;
        if self.folder.is_dir() { Ok(()) } else { renamed }
    }

    /// Points the link that projects use to these SDKs.
    fn be_current(&self, parent: &Path) -> io::Result<()> {
        if fs::read_link(&self.current).is_ok_and(|target| target == Path::new(KITS_VERSION)) {
            return Ok(());
        }
        let fresh = parent.join(format!("current-{}", std::process::id()));
        symlink(KITS_VERSION, &fresh)?;
        fs::rename(&fresh, &self.current)
    }

    /// Returns the folder of the SDK `name` for this version of eddy.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the folder of the SDK `name` of the most recently used eddy, which projects may refer to.
    pub(crate) fn current(&self, name: &str) -> PathBuf {
        self.current.join(name)
    }
}

fn inflated() -> io::Result<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, KITS_BYTES_MAX)
        .map_err(|error| io::Error::other(error.to_string()))
}

/// Parses paths and contents from the archive that the build script creates.
fn files(archive: &[u8]) -> Option<Vec<(&Path, &[u8])>> {
    let mut rest = archive;
    let mut part = || {
        let (length, after) = rest.split_first_chunk()?;
        let (part, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = after;
        Some(part)
    };
    let mut files = Vec::new();
    while let Some(path) = part() {
        let path = Path::new(str::from_utf8(path).ok()?);
        assert!(
            path.components().all(|component| matches!(component, Component::Normal(_))),
            "the build script packs paths below the SDKs only"
        );
        files.push((path, part()?));
    }
    rest.is_empty().then_some(files)
}

/// Version of eddy and hash of the SDKs.
pub(crate) const KITS_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("EDDY_KITS_HASH"));

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kits"));
/// Limit above the size of the SDKs.
const KITS_BYTES_MAX: usize = 16 << 20;
/// Number of eddy versions whose SDKs are kept.
const KITS_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kits_are_packed_without_their_tests() {
        let archive = inflated().unwrap();
        assert_eq!(archive.len().to_string(), env!("EDDY_KITS_BYTES"));
        let files = files(&archive).unwrap();
        let has = |wanted: &str| files.iter().any(|(path, _)| *path == Path::new(wanted));
        for wanted in [
            "Cargo.toml",
            "go/go.mod",
            "go/internal/bridge/bridge.c",
            "go-envoy/go.sum",
            "go-envoy/cmd/importable/main.go",
            "rust/src/test/mod.rs",
        ] {
            assert!(has(wanted), "{wanted}");
        }
        let is_test = |path: &Path| {
            let path = path.to_string_lossy();
            path.ends_with("_test.go") || path.ends_with("tests.rs")
        };
        assert!(!files.iter().any(|(path, _)| is_test(path)));
        println!("{} files, {} bytes, packed {}", files.len(), archive.len(), PACKED.len());
        // The SDKs may grow, but not unnoticed.
        assert!(PACKED.len() < 384 << 10, "{} bytes", PACKED.len());
    }

    #[test]
    fn a_broken_archive_is_noticed() {
        let archive = inflated().unwrap();
        assert!(files(&archive[..archive.len() - 1]).is_none());
        assert!(files(&archive[..3]).is_none());
    }
}

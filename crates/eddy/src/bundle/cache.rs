//! Cache folder of built libraries and unpacked SDKs.

use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::failure::BundleFailure;

/// Folder owned by eddy; its contents can be rebuilt.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(super) root: PathBuf,
}

impl Cache {
    /// Returns the given folder, else `EDDY_CACHE_DIR`, else `eddy` in the user's cache.
    ///
    /// # Errors
    /// When the user's cache folder is unknown.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, BundleFailure> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        let named = named.map(|path| path.as_os_str().to_owned()).or_else(|| variable("EDDY_CACHE_DIR"));
        let root = match named {
            Some(root) => std::path::absolute(&root)
                .map_err(|error| BundleFailure::of_io("find", Path::new(&root), &error))?,
            None => of_user(variable("XDG_CACHE_HOME"), variable("HOME"))
                .ok_or_else(|| BundleFailure::new("no cache folder for Go filters", Some(NO_FOLDER)))?,
        };
        Ok(Self { root })
    }

    /// Returns the folder `name`, which is created if missing. Its files are loaded into eddy, so others must not be
    /// able to write to it.
    ///
    /// # Errors
    /// When the folder cannot be created, belongs to another user, or is writable by others.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, BundleFailure> {
        let path = self.root.join(name);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        let known = made.and_then(|()| fs::metadata(&path));
        let known = known.map_err(|error| {
            let message = format!("cannot create the folder \"{}\": {error}", path.display());
            BundleFailure::new(message, Some(NO_FOLDER))
        })?;
        let is_own = known.uid() == rustix::process::geteuid().as_raw();
        if !is_own || known.mode() & 0o022 != 0 {
            let message = format!("other users can write to the folder \"{}\"", path.display());
            return Err(BundleFailure::new(
                message,
                Some("libraries are loaded from it; remove it, or set `EDDY_CACHE_DIR` to another folder"),
            ));
        }
        Ok(path)
    }
}

fn of_user(cache: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let cache = cache.map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = cache.or_else(|| home.map(|home| PathBuf::from(home).join(".cache")))?;
    folder.is_absolute().then(|| folder.join("eddy"))
}

/// Removes all entries of a folder except the `count` most recently used. A library is removed together with its
/// manifest.
pub(super) fn keep_newest(folder: &Path, count: usize) -> io::Result<()> {
    let mut entries: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let Ok(known) = fs::symlink_metadata(&path)
            && !known.is_symlink()
        {
            entries.push((known.modified()?, path));
        }
    }
    entries.sort_by_key(|(used, _)| Reverse(*used));
    let mut kept: Vec<&str> = Vec::new();
    for (_, path) in &entries {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let stem = name.split_once(".so").map_or(name, |(stem, _)| stem);
        if kept.contains(&stem) {
            continue;
        }
        if kept.len() < count {
            kept.push(stem);
        } else {
            // Another process may have removed the entry already.
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
    Ok(())
}

/// Marks an entry as used.
pub(super) fn touch(path: &Path) {
    // A cache that is read-only is still usable.
    let _ = fs::File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

const NO_FOLDER: &str = "set `EDDY_CACHE_DIR` or `--cache-dir` to a writable folder";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_user_selects_the_cache_folder() {
        let check = |cache: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let found = of_user(cache.map(Into::into), home.map(Into::into));
            assert_eq!(found, expected.map(PathBuf::from), "{cache:?} {home:?}");
        };
        check(Some("/c"), Some("/h"), Some("/c/eddy"));
        check(None, Some("/h"), Some("/h/.cache/eddy"));
        // The XDG specification ignores relative paths.
        check(Some("c"), Some("/h"), Some("/h/.cache/eddy"));
        check(Some("c"), Some("h"), None);
        check(None, None, None);
    }

    #[test]
    fn the_newest_cache_entries_are_kept_with_their_files() {
        let folder = env::temp_dir().join(format!("eddy-cache-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let begin = SystemTime::now();
        for age in 0..5 {
            for kind in ["so", "so.json"] {
                let file = fs::File::create(folder.join(format!("{age}.{kind}"))).unwrap();
                file.set_modified(begin - Duration::from_secs(age)).unwrap();
            }
        }
        keep_newest(&folder, 2).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["0.so", "0.so.json", "1.so", "1.so.json"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_writable_by_others_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let cache = Cache { root: env::temp_dir().join(format!("eddy-cache-mode-{}", std::process::id())) };
        let folder = cache.folder("bundles").unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(cache.folder("bundles").unwrap_err().to_string().contains("other users can write"));
        fs::remove_dir_all(&cache.root).unwrap();
    }
}

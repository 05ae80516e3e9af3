//! Lists the configuration files of a directory.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use eddy_spec::problem::Problem;

/// Files of a manifest directory, beyond those that [`files_in`] returns.
#[derive(Debug, Default)]
pub(crate) struct Below {
    /// Files; those of a folder before those of its subfolders, each sorted by name.
    pub(crate) files: Vec<PathBuf>,
    /// Folders of these files, including the directory itself.
    pub(crate) folders: Vec<PathBuf>,
}

/// Returns the files `*.yaml` and `*.yml` of a directory, sorted by name; hidden files are skipped.
pub(crate) fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        visible(directory)?.into_iter().filter(|path| has_extension(path, YAML)).collect();
    files.sort();
    Ok(files)
}

/// Returns the files `*.json` of a directory, and all `*.json`, `*.yaml` and `*.yml` in its subdirectories. Hidden
/// files and folders are skipped, symbolic links to folders are not followed.
///
/// # Errors
/// When a folder can't be listed, or when there are too many folders or levels.
pub(crate) fn files_below(directory: &Path) -> Result<Below, Problem> {
    let mut below = Below::default();
    let mut pending = vec![(directory.to_path_buf(), 0_usize)];
    while let Some((folder, depth)) = pending.pop() {
        let problem = |message: String| Problem::of_file(&folder.to_string_lossy(), message, None);
        if depth > DEPTH_MAX || below.folders.len() >= FOLDERS_MAX {
            return Err(problem(format!("at most {FOLDERS_MAX} folders in {DEPTH_MAX} levels are read")));
        }
        let entries =
            visible(&folder).map_err(|error| problem(format!("can't list this directory: {error}")))?;
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for path in entries {
            // `symlink_metadata` describes the link itself.
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
            let is_file =
                !is_folder && (has_extension(&path, JSON) || (depth > 0 && has_extension(&path, YAML)));
            if is_folder {
                folders.push(path);
            } else if is_file && path.is_file() {
                files.push(path);
            }
        }
        files.sort();
        folders.sort();
        below.files.extend(files);
        below.folders.push(folder);
        // A stack: the last entry is visited next.
        pending.extend(folders.into_iter().rev().map(|folder| (folder, depth + 1)));
    }
    Ok(below)
}

fn visible(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")) {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| extensions.contains(&extension))
}

const YAML: &[&str] = &["yaml", "yml"];
const JSON: &[&str] = &["json"];
/// Maximum folders of a configuration.
const FOLDERS_MAX: usize = 1000;
/// Maximum depth of nested folders.
const DEPTH_MAX: usize = 16;

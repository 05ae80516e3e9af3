//! Text files of the workspace, as the rules read them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Every file that rules check: its path relative to the root, with `/`, and its text.
#[derive(Clone, Debug, Default)]
pub struct SourceTree {
    files: BTreeMap<String, String>,
}

impl SourceTree {
    /// Reads the files below `root`, without build output and third-party folders.
    ///
    /// # Errors
    /// When a folder or file can't be read.
    pub fn load(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.load_folder(root, "")?;
        Ok(tree)
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    /// Iterates over every file, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Iterates over the files whose names end with `.ext`.
    pub fn with_extension(&self, ext: &str) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(move |(path, _)| path.rsplit_once('.').is_some_and(|(_, found)| found == ext))
    }

    /// Returns the text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether such a file or folder exists.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(found, _)| found.starts_with(&folder))
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn load_folder(&mut self, folder: &Path, below: &str) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("can't list `{}`", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir()
                && !EXCLUDED_FOLDERS.contains(&name.as_str())
                && !EXCLUDED_FOLDERS.contains(&path.as_str())
            {
                self.load_folder(&entry.path(), &path)?;
            } else if kind.is_file() {
                let bytes = fs::read(entry.path()).with_context(|| format!("can't read `{path}`"))?;
                // Files that are not text are kept with empty content.
                self.files.insert(path, String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(())
    }
}

/// Resolves `path` as written in a file of `folder`; a path that begins with `/` is relative to the root.
pub(crate) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// Folders, by name or path, that no rule checks.
const EXCLUDED_FOLDERS: [&str; 6] = [".git", "target", "node_modules", "__pycache__", "bench/work", "vendor"];

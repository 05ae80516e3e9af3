//! Configuration source of files and directories that the user names.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use eddy_config::GatewayConfig;
use eddy_dialects::{
    Checked, check_after, check_with, included_patterns, is_manifest, is_pattern, matches_pattern,
};
use eddy_spec::Leniency;
use eddy_spec::problem::{Problem, Severity, SourceText};

use crate::folder::{Below, files_below, files_in};
use crate::read::read_file;
use crate::stamp::Stamp;

/// Configuration in files. A directory stands for its files `*.yaml` and `*.yml`, sorted by name; a directory of
/// Kubernetes manifests also for its files `*.json` and for files in subdirectories.
#[derive(Clone, Debug)]
pub struct FileSource {
    paths: Vec<PathBuf>,
    leniency: Leniency,
    /// Files that the configuration refers to and that are watched with it. Clones share them.
    companions: Arc<Mutex<Vec<PathBuf>>>,
}

/// State of the files that the configuration refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompanionsSnapshot(Vec<(PathBuf, Option<Stamp>)>);

/// Configuration that was read and checked.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration and its warnings.
    pub checked: Checked,
    /// Texts that were read, to show warnings in context.
    pub sources: Vec<SourceText>,
}

/// Configuration that was rejected.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// Problems; at least one is an error.
    pub problems: Vec<Problem>,
    /// Texts that could be read, to show problems in context.
    pub sources: Vec<SourceText>,
}

impl FileSource {
    /// Creates a source of files and directories, in this order.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, leniency: Leniency::Strict, companions: Arc::default() }
    }

    /// Sets the handling of features of another program's configuration that eddy does not support.
    pub fn with_leniency(self, leniency: Leniency) -> Self {
        Self { leniency, ..self }
    }

    /// Watches these files as well, instead of those named before, and returns their current state.
    pub fn accompany(&self, paths: Vec<PathBuf>) -> CompanionsSnapshot {
        *self.companions.lock().unwrap_or_else(PoisonError::into_inner) = paths;
        self.snapshot_companions()
    }

    /// Returns the current state of the files that the configuration refers to.
    pub fn snapshot_companions(&self) -> CompanionsSnapshot {
        let paths = self.companions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let look = |path: PathBuf| {
            let stamp = Stamp::of_path(&path);
            (path, stamp)
        };
        CompanionsSnapshot(paths.into_iter().map(look).collect())
    }

    /// Reads and checks the files.
    ///
    /// Files are only accepted whole: one that is empty, or that changes while it is read, is a problem. The caller
    /// keeps its current configuration when this fails.
    ///
    /// # Errors
    /// All problems of the files and their contents.
    ///
    /// # Cost
    /// Blocks on the file system; holds the texts in memory, at most 64 MiB. Not for a worker thread.
    pub fn load(&self) -> Result<Loaded, Rejected> {
        self.load_by(|sources| check_with(sources, self.leniency))
    }

    /// Reads and checks the files, like [`Self::load`], as the successor of `last`: see [`check_after`].
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_after(&self, last: &GatewayConfig) -> Result<Loaded, Rejected> {
        self.load_by(|sources| check_after(sources, self.leniency, last))
    }

    fn load_by(
        &self,
        check: impl FnOnce(&[SourceText]) -> Result<Checked, Vec<Problem>>,
    ) -> Result<Loaded, Rejected> {
        let SourceScan { texts: sources, below, skipped_files } = self.read()?;
        match check(&sources) {
            Ok(mut checked) => {
                checked.config.included.extend(below);
                checked.warnings.extend(skipped_files);
                Ok(Loaded { checked, sources })
            }
            Err(problems) => Err(Rejected { problems, sources }),
        }
    }

    fn read(&self) -> Result<SourceScan, Rejected> {
        let mut rejected = Rejected { problems: Vec::new(), sources: Vec::new() };
        let mut bytes_left = TOTAL_BYTES_MAX;
        for path in self.files(&mut rejected.problems) {
            match read_file(&path, &mut bytes_left) {
                Ok(text) => rejected.sources.push(text),
                Err(problem) => rejected.problems.push(problem),
            }
        }
        if rejected.problems.is_empty() {
            read_included(&mut rejected, &mut bytes_left);
        }
        let (mut below, mut skipped_files) = (Vec::new(), Vec::new());
        for folder in self.paths.iter().filter(|path| path.is_dir()) {
            if rejected.problems.is_empty() && is_of_manifests(folder, &rejected.sources) {
                below.extend(read_subdirectories(folder, &mut rejected, &mut bytes_left, &mut skipped_files));
            }
        }
        for folder in self.paths.iter().filter(|path| path.is_dir()) {
            let has_any = |source: &SourceText| Path::new(&*source.path).starts_with(folder);
            if rejected.problems.is_empty() && !rejected.sources.iter().any(has_any) {
                let message = "there is no file `*.yaml` in this directory".to_owned();
                rejected.problems.push(Problem::of_file(&folder.to_string_lossy(), message, None));
            }
        }
        let Rejected { problems, sources } = rejected;
        if problems.is_empty() {
            Ok(SourceScan { texts: sources, below, skipped_files })
        } else {
            Err(Rejected { problems, sources })
        }
    }

    /// Returns the files that the paths currently stand for; errors of a directory go to `problems`.
    pub(crate) fn files(&self, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for path in &self.paths {
            if !path.is_dir() {
                // A missing path is reported when it is read.
                files.push(path.clone());
                continue;
            }
            match files_in(path) {
                Ok(found) => files.extend(found),
                Err(error) => {
                    let message = format!("can't list this directory: {error}");
                    problems.push(Problem::of_file(&path.to_string_lossy(), message, None));
                }
            }
        }
        if files.len() > FILES_MAX {
            let message = format!("too many files ({}): at most {FILES_MAX} are read", files.len());
            problems.push(Problem::of_file(&path_text(self.paths.first()), message, None));
            files.truncate(FILES_MAX);
        }
        files
    }
}

/// Result of reading all files.
struct SourceScan {
    texts: Vec<SourceText>,
    /// Files in subdirectories of manifest directories, and these subdirectories.
    below: Vec<PathBuf>,
    /// Files in subdirectories of manifest directories that are not manifests.
    skipped_files: Vec<Problem>,
}

/// Whether all files read from a folder are manifests; true if there were none.
fn is_of_manifests(folder: &Path, sources: &[SourceText]) -> bool {
    let mut of_folder = sources.iter().filter(|source| Path::new(&*source.path).parent() == Some(folder));
    of_folder.all(is_manifest)
}

/// Reads the manifests in subdirectories of a folder and returns the paths to watch with them.
fn read_subdirectories(
    folder: &Path,
    rejected: &mut Rejected,
    bytes_left: &mut u64,
    skipped_files: &mut Vec<Problem>,
) -> Vec<PathBuf> {
    let Below { files, folders } = match files_below(folder) {
        Ok(below) => below,
        Err(problem) => {
            rejected.problems.push(problem);
            return Vec::new();
        }
    };
    if rejected.sources.len() + files.len() > FILES_MAX {
        let message = format!("there are more than {FILES_MAX} files below this directory");
        rejected.problems.push(Problem::of_file(&folder.to_string_lossy(), message, None));
        return Vec::new();
    }
    for file in &files {
        match read_file(file, bytes_left) {
            Ok(text) if is_manifest(&text) => rejected.sources.push(text),
            Ok(text) => {
                let message = "skipped: this is not a manifest".to_owned();
                let hint = "manifests have `apiVersion` and `kind`; name the file itself if it is eddy's own configuration";
                let problem = Problem::of_file(&text.path, message, Some(hint.to_owned()));
                skipped_files.push(Problem { severity: Severity::Warning, ..problem });
            }
            Err(problem) => rejected.problems.push(problem),
        }
    }
    files.into_iter().chain(folders).collect()
}

/// Reads included files recursively.
fn read_included(rejected: &mut Rejected, bytes_left: &mut u64) {
    loop {
        let mut files: Vec<PathBuf> =
            included_patterns(&rejected.sources).iter().flat_map(|pattern| expand(pattern)).collect();
        files
            .retain(|file| !rejected.sources.iter().any(|source| Path::new(&*source.path) == file.as_path()));
        files.sort();
        files.dedup();
        if files.is_empty() {
            return;
        }
        if rejected.sources.len() + files.len() > FILES_MAX {
            let message = format!("more than {FILES_MAX} files are included");
            rejected.problems.push(Problem::of_file(&path_text(files.first()), message, None));
            return;
        }
        for file in files {
            // An included file may be empty.
            if fs::metadata(&file).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
                rejected.sources.push(SourceText::new(&file.to_string_lossy(), "").included());
                continue;
            }
            match read_file(&file, bytes_left) {
                Ok(text) => rejected.sources.push(text.included()),
                Err(problem) => rejected.problems.push(problem),
            }
        }
        if !rejected.problems.is_empty() {
            return;
        }
    }
}

/// Expands a pattern to files. A missing file that is not a pattern is reported where it is included.
fn expand(pattern: &str) -> Vec<PathBuf> {
    if !is_pattern(pattern) {
        let path = PathBuf::from(pattern);
        return if path.exists() { vec![path] } else { Vec::new() };
    }
    let mut found = vec![PathBuf::from(if pattern.starts_with('/') { "/" } else { "" })];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        found = if is_pattern(part) {
            found.iter().flat_map(|folder| entries_in(folder, part)).collect()
        } else {
            found.into_iter().map(|folder| folder.join(part)).collect()
        };
        found.truncate(FILES_MAX);
    }
    found.retain(|path| path.is_file());
    found
}

/// Returns the entries of a folder that match a pattern.
fn entries_in(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.filter(|name| matches_pattern(pattern, &name.to_string_lossy()));
    let mut paths: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    paths.sort();
    paths
}

fn path_text(path: Option<&PathBuf>) -> String {
    path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (problem, number) in self.problems.iter().zip(0..) {
            if number > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejected {}

/// Maximum files of a configuration.
const FILES_MAX: usize = 10_000;
/// Maximum total size of a configuration's files, in bytes.
const TOTAL_BYTES_MAX: u64 = 64 << 20;

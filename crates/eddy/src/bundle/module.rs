//! Go modules, parsed from go.mod and go.work.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::failure::BundleFailure;
use super::go::{Go, arguments};
use super::messages::failure_of;

/// Go module on this machine.
#[derive(Clone, Debug)]
pub(crate) struct GoModule {
    /// Folder of its go.mod.
    pub(crate) folder: PathBuf,
    /// Module path.
    pub(crate) path: String,
    /// Required Go version, as in `1.24`.
    pub(crate) go: String,
    /// Modules that it requires, and their versions.
    pub(crate) requires: BTreeMap<String, String>,
    /// Replacements of modules, from this go.mod or from the workspace that the module belongs to.
    pub(super) replaces: BTreeMap<Replaced, String>,
    /// Modules replaced in this go.mod itself.
    own: BTreeSet<Replaced>,
    /// Files with module checksums (go.sum, go.work.sum).
    pub(super) sums: Vec<PathBuf>,
    /// Other modules of its workspace, which need no version.
    pub(super) workspace_modules: BTreeMap<String, PathBuf>,
}

/// Replaced module, or one version of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Replaced {
    pub(super) path: String,
    /// Empty for all versions.
    pub(super) version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModuleFile {
    module: Option<GoModuleVersion>,
    #[serde(default)]
    go: String,
    #[serde(default)]
    require: Option<Vec<GoModuleVersion>>,
    #[serde(default)]
    replace: Option<Vec<Replace>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WorkFile {
    #[serde(default, rename = "Use")]
    uses: Option<Vec<Use>>,
    #[serde(default)]
    replace: Option<Vec<Replace>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Use {
    disk_path: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replace {
    old: GoModuleVersion,
    new: GoModuleVersion,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoModuleVersion {
    path: String,
    #[serde(default)]
    version: String,
}

impl GoModule {
    /// Reads the module whose go.mod is in `folder`, and the workspace that it belongs to.
    ///
    /// # Errors
    /// When a file is invalid.
    pub(crate) fn read(go: &Go, folder: &Path) -> Result<Self, BundleFailure> {
        let (mut module, replaces) = Self::read_without_workspace(go, folder)?;
        if let Some(work) = above(folder, "go.work").filter(|_| !is_work_off()) {
            module.read_work(go, &work)?;
        }
        for (old, new) in replaces {
            module.own.insert(old.clone());
            module.replaces.entry(old).or_insert(new);
        }
        Ok(module)
    }

    fn read_without_workspace(
        go: &Go,
        folder: &Path,
    ) -> Result<(Self, BTreeMap<Replaced, String>), BundleFailure> {
        let file = folder.join("go.mod");
        let read: ModuleFile = edit(go, &arguments([&"mod", &"edit", &"-json", &file]), &file)?;
        let Some(own) = read.module else {
            let message = format!("\"{}\" has no `module` line", file.display());
            return Err(BundleFailure::new(message, Some("add a line such as `module example.com/filter`")));
        };
        let requires = read.require.unwrap_or_default().into_iter();
        let requires = requires.map(|required| (required.path, required.version)).collect();
        let module = Self {
            folder: folder.to_owned(),
            path: own.path,
            go: read.go,
            requires,
            replaces: BTreeMap::new(),
            own: BTreeSet::new(),
            sums: vec![folder.join("go.sum")],
            workspace_modules: BTreeMap::new(),
        };
        Ok((module, replaced(read.replace, folder)))
    }

    fn read_work(&mut self, go: &Go, folder: &Path) -> Result<(), BundleFailure> {
        let file = folder.join("go.work");
        let work: WorkFile = edit(go, &arguments([&"work", &"edit", &"-json", &file]), &file)?;
        let used: Vec<PathBuf> = work
            .uses
            .unwrap_or_default()
            .into_iter()
            .filter_map(|used| folder.join(used.disk_path).canonicalize().ok())
            .collect();
        // A workspace without this module does not apply; Go itself would refuse to build the module.
        if !used.contains(&self.folder) {
            return Ok(());
        }
        self.sums.push(folder.join("go.work.sum"));
        self.replaces = replaced(work.replace, folder);
        for other in used.into_iter().filter(|other| *other != self.folder) {
            let (other, replaces) = Self::read_without_workspace(go, &other)?;
            self.sums.extend(other.sums);
            for (old, new) in replaces {
                self.replaces.entry(old).or_insert(new);
            }
            self.workspace_modules.insert(other.path, other.folder);
        }
        Ok(())
    }
}

impl GoModule {
    /// Whether the module or its workspace replaces the module `path`.
    pub(crate) fn has_replaced(&self, path: &str) -> bool {
        self.workspace_modules.contains_key(path) || self.replaces.keys().any(|old| old.path == path)
    }

    /// Returns the Go version that both the module and the SDK require.
    pub(crate) fn go_at_least(&self) -> &str {
        if version_numbers(&self.go) > version_numbers(GO_MIN) { &self.go } else { GO_MIN }
    }

    /// Returns the go.mod lines needed to use the module without its workspace.
    pub(crate) fn lines_of_work(&self) -> String {
        let replaced = self.replaces.iter().filter(|(old, _)| !self.own.contains(old));
        let replaced =
            replaced.map(|(Replaced { path, version }, new)| format!("replace {path} {version} => {new}\n"));
        let of_work =
            self.workspace_modules.iter().filter(|(path, _)| !self.own.iter().any(|old| old.path == **path));
        let workspace_modules =
            of_work.map(|(path, folder)| format!("replace {path} => {}\n", quoted(folder)));
        replaced.chain(workspace_modules).collect()
    }
}

#[cfg(test)]
impl GoModule {
    /// Returns a module with this path and nothing else.
    pub(super) fn named(path: &str) -> Self {
        Self {
            folder: PathBuf::from("/").join(path),
            path: path.to_owned(),
            go: GO_MIN.to_owned(),
            requires: BTreeMap::new(),
            replaces: BTreeMap::new(),
            own: BTreeSet::new(),
            sums: Vec::new(),
            workspace_modules: BTreeMap::new(),
        }
    }
}

/// Returns 1, 24, 1 for `1.24.1`.
pub(super) fn version_numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Returns the folder of the go.mod that a package belongs to.
pub(crate) fn module_root(package: &Path) -> Option<PathBuf> {
    above(package, "go.mod")
}

fn above(folder: &Path, name: &str) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(name).is_file()).map(Path::to_owned)
}

fn is_work_off() -> bool {
    std::env::var_os("GOWORK").is_some_and(|value| value == "off")
}

/// Parses a Go file by the Go command, run in a folder where nothing selects a toolchain.
fn edit<T: for<'a> Deserialize<'a>>(go: &Go, arguments: &[&OsStr], file: &Path) -> Result<T, BundleFailure> {
    let ran = go.run(Path::new("/"), arguments, &|| ())?;
    if !ran.succeeded {
        return Err(failure_of(&ran.errors, Path::new("/")));
    }
    serde_json::from_slice(&ran.output).map_err(|error| {
        BundleFailure::new(
            format!("the Go command returned invalid JSON for \"{}\": {error}", file.display()),
            None,
        )
    })
}

/// Returns the replacements, with folders as absolute paths.
fn replaced(replaces: Option<Vec<Replace>>, folder: &Path) -> BTreeMap<Replaced, String> {
    let texts = replaces.unwrap_or_default().into_iter().map(|Replace { old, new }| {
        let text = if new.version.is_empty() {
            // Two filters may refer to one folder by different relative paths.
            let path = folder.join(&new.path);
            quoted(&path.canonicalize().unwrap_or(path))
        } else {
            format!("{} {}", new.path, new.version)
        };
        (Replaced { path: old.path, version: old.version }, text)
    });
    texts.collect()
}

/// Quotes a path for go.mod.
pub(crate) fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.display().to_string()).to_string()
}

/// Go version that the SDKs require.
pub(super) const GO_MIN: &str = "1.24";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_number() {
        assert!(version_numbers("1.24") < version_numbers("1.24.1"));
        assert!(version_numbers("1.9") < version_numbers("1.24"));
    }
}

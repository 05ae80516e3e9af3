//! Sources of a bundle, and the key computed from them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::failure::BundleFailure;
use super::go::{Go, Toolchain, flag};
use super::hash::Hash;
use super::kits::{KITS_VERSION, Kits};
use super::workspace::Workspace;

/// Compiled package, as reported by `go list`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct GoPackage {
    import_path: String,
    dir: PathBuf,
    standard: bool,
    imports: Vec<String>,
    module: Option<ModuleOf>,
    go_files: Vec<String>,
    cgo_files: Vec<String>,
    #[serde(rename = "CFiles")]
    c_files: Vec<String>,
    #[serde(rename = "CXXFiles")]
    cxx_files: Vec<String>,
    #[serde(rename = "HFiles")]
    h_files: Vec<String>,
    #[serde(rename = "SFiles")]
    s_files: Vec<String>,
    syso_files: Vec<String>,
    embed_files: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ModuleOf {
    path: String,
    version: String,
    replace: Option<Box<Self>>,
}

/// Sources of a library.
pub(super) struct BundleSources {
    /// Key of the library: differs whenever the library would.
    pub(super) key: String,
    /// Imports of each package that is not part of Go, by import path.
    imports: BTreeMap<String, Vec<String>>,
}

impl BundleSources {
    /// Returns the import paths of a package and of all its direct and indirect imports.
    pub(super) fn transitive_imports(&self, package: &str) -> BTreeSet<String> {
        let mut linked = BTreeSet::from([package.to_owned()]);
        let mut open = vec![package];
        while let Some(next) = open.pop() {
            for import in self.imports.get(next).into_iter().flatten() {
                if linked.insert(import.clone()) {
                    open.push(import);
                }
            }
        }
        linked
    }
}

/// Determines the sources of a library.
///
/// # Errors
/// When packages cannot be found or read.
///
/// # Cost
/// Runs the Go command and reads every file of the compiled packages, except those of Go and of modules with a version.
pub(super) fn sources_of(
    workspace: &Workspace,
    go: &Go,
    toolchain: &Toolchain,
    kits: &Kits,
    notice: &dyn Fn(),
) -> Result<BundleSources, BundleFailure> {
    let overlay = flag("overlay", &workspace.overlay());
    let mut words: Vec<&OsStr> = vec!["list".as_ref(), "-mod=mod".as_ref()];
    if workspace.has_overlay {
        words.push(&overlay);
    }
    words.extend(["-deps", FIELDS, "."].map(OsStr::new));
    // Modules may have to be fetched.
    let ran = go.run(&workspace.folder, &words, notice)?;
    if !ran.succeeded {
        return Err(workspace.failure(&ran.errors));
    }
    let mut hash = Hash::new();
    hash.add(KITS_VERSION);
    hash.add(workspace.envoy_api.as_deref().unwrap_or_default());
    for (name, value) in &toolchain.settings {
        hash.add(name);
        hash.add(value);
    }
    let kits = kits.folder("");
    let mut imports = BTreeMap::new();
    for package in serde_json::Deserializer::from_slice(&ran.output).into_iter::<GoPackage>() {
        let package = package.map_err(|error| {
            BundleFailure::new(format!("the output of `go list` cannot be parsed: {error}"), None)
        })?;
        // The toolchain and the SDKs are covered by their versions.
        if !package.standard && !package.dir.starts_with(&kits) {
            package.add_to(&mut hash).map_err(|(file, error)| BundleFailure::of_io("read", &file, &error))?;
            imports.insert(package.import_path, package.imports);
        }
    }
    // Packages of Go and of the SDKs register no filter.
    let known: BTreeSet<String> = imports.keys().cloned().collect();
    imports.values_mut().for_each(|all: &mut Vec<String>| all.retain(|import| known.contains(import)));
    Ok(BundleSources { key: hash.finish(), imports })
}

impl GoPackage {
    fn add_to(&self, hash: &mut Hash) -> Result<(), (PathBuf, std::io::Error)> {
        hash.add(&self.import_path);
        let module = self.module.as_ref().map(|module| module.replace.as_deref().unwrap_or(module));
        if let Some(module) =
            module.filter(|module| !module.version.is_empty() && !Path::new(&module.path).is_absolute())
        {
            // The contents are verified by go.sum, so the version identifies them.
            hash.add(&module.path);
            hash.add(&module.version);
            return Ok(());
        }
        // The folder becomes part of the library, because panic messages contain it.
        hash.add(self.dir.as_os_str().as_encoded_bytes());
        for file in self.files() {
            let path = self.dir.join(file);
            hash.add(file);
            hash.add(fs::read(&path).map_err(|error| (path, error))?);
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = &String> {
        let kinds =
            [&self.go_files, &self.cgo_files, &self.c_files, &self.cxx_files, &self.h_files, &self.s_files];
        kinds.into_iter().chain([&self.syso_files, &self.embed_files]).flatten()
    }
}

const FIELDS: &str = "-json=ImportPath,Dir,Standard,Imports,Module,GoFiles,CgoFiles,CFiles,CXXFiles,HFiles,SFiles,SysoFiles,EmbedFiles";

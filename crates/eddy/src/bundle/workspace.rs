//! Generated main module that links packages into one library.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{Cache, keep_newest, touch};
use super::conflict::{advice, raised, requires_of};
use super::envoy::{self, BEFORE_1_26_FOLDER, ENVOY, ENVOY_BEFORE_1_26, VERSIONS_FILE};
use super::failure::BundleFailure;
use super::go::{Go, GoBuildTarget, arguments, flag};
use super::hash::hashed;
use super::kits::Kits;
use super::messages::{OVERLAY, failure_of};
use super::module::{GO_MIN, GoModule, Replaced, module_root, quoted, version_numbers};

/// Folder with a generated main module; locked until dropped.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) folder: PathBuf,
    /// Import paths of the packages.
    pub(super) imports: BTreeSet<String>,
    /// Folders and import paths of the packages.
    pub(super) packages: Vec<(PathBuf, String)>,
    /// Whether files are compiled from copies: packages with a different package clause, or declarations of Envoy's API.
    pub(super) has_overlay: bool,
    /// Declarations of Envoy's API for exactly the versions of the filters, if these are known.
    pub(super) envoy_api: Option<String>,
    /// Requirements of the filters' modules, by folder.
    requires: BTreeMap<PathBuf, BTreeMap<String, String>>,
    _lock: File,
}

impl Workspace {
    /// Writes the module for the packages in `folders`.
    ///
    /// # Errors
    /// When a folder belongs to no module, or when two modules are incompatible.
    pub(super) fn write(
        folders: &BTreeSet<PathBuf>,
        go: &Go,
        kits: &Kits,
        cache: &Cache,
    ) -> Result<Self, BundleFailure> {
        let mut modules: BTreeMap<PathBuf, GoModule> = BTreeMap::new();
        let mut packages = Vec::new();
        for folder in folders {
            let root = root_of(folder)?;
            if !modules.contains_key(&root) {
                modules.insert(root.clone(), GoModule::read(go, &root)?);
            }
            if let (Some(module), Ok(below)) = (modules.get(&root), folder.strip_prefix(&root)) {
                let below = below.to_string_lossy();
                let path =
                    if below.is_empty() { module.path.clone() } else { format!("{}/{below}", module.path) };
                packages.push((folder.clone(), path));
            }
        }
        let imports: BTreeSet<String> = packages.iter().map(|(_, path)| path.clone()).collect();
        let modules: Vec<GoModule> = modules.into_values().collect();
        let parent = cache.folder("work")?;
        let name = hashed(folders.iter().map(|folder| folder.as_os_str().as_encoded_bytes()));
        let folder = parent.join(name);
        let manifest = manifest(&modules, kits)?;
        let written = fill(&parent, &folder, &manifest, &imports, &modules, kits);
        let lock = written.map_err(|error| BundleFailure::of_io("write to", &folder, &error))?;
        let programs: Vec<&PathBuf> = folders.iter().filter(|folder| is_program(folder)).collect();
        let envoy_api = envoy::declarations(&modules);
        let workspace = Self {
            folder,
            imports,
            packages,
            has_overlay: !programs.is_empty() || envoy_api.is_some(),
            envoy_api,
            requires: requires_of(&modules),
            _lock: lock,
        };
        if let Some(text) = &workspace.envoy_api {
            let out = workspace.folder.join("overlay");
            envoy::write_overlay(&out, text, &kits.folder(VERSIONS_FILE))
                .map_err(|error| BundleFailure::of_io("write to", &out, &error))?;
        }
        if !programs.is_empty() {
            workspace.write_overlay(&programs, go, kits)?;
        }
        Ok(workspace)
    }

    /// Returns the failure that the Go command describes in `errors`.
    pub(super) fn failure(&self, errors: &str) -> BundleFailure {
        failure_of(errors, &self.folder).with_hint(advice(errors, &self.requires))
    }

    pub(super) fn overlay(&self) -> PathBuf {
        self.folder.join(OVERLAY)
    }

    /// Converts programs, which filters for Envoy are, to packages that can be imported.
    fn write_overlay(&self, programs: &[&PathBuf], go: &Go, kits: &Kits) -> Result<(), BundleFailure> {
        let out = self.folder.join("overlay");
        let out_flag = flag("out", &out);
        let mut words = arguments([&"run", &"-mod=mod", &"./cmd/importable", &out_flag]).to_vec();
        words.extend(programs.iter().map(|program| program.as_os_str()));
        let folder = kits.folder("go-envoy");
        // This program runs here, so it is built for this machine regardless of the target.
        let ran = go.clone().with_target(GoBuildTarget::Library).run(&folder, &words, &|| ())?;
        if ran.succeeded { Ok(()) } else { Err(failure_of(&ran.errors, &folder)) }
    }
}

fn root_of(folder: &Path) -> Result<PathBuf, BundleFailure> {
    module_root(folder).ok_or_else(|| {
        let message = format!("no go.mod in \"{}\" or its parent folders", folder.display());
        BundleFailure::new(
            message,
            Some("run `go mod init NAME` in the folder of the filter, then `go mod tidy`"),
        )
    })
}

/// Creates the folder and its contents, after waiting for other processes that use it.
fn fill(
    parent: &Path,
    folder: &Path,
    manifest: &str,
    imports: &BTreeSet<String>,
    modules: &[GoModule],
    kits: &Kits,
) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    touch(folder);
    keep_newest(parent, WORKSPACES_MAX)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    match fs::remove_dir_all(folder.join("overlay")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::write(folder.join("go.mod"), manifest)?;
    fs::write(folder.join("go.sum"), sums(modules, kits))?;
    let mut program = String::from("package main\n\nimport (\n");
    for import in imports.iter().map(String::as_str).chain([KIT_BUNDLE]) {
        // Writing to a string never fails.
        let _ = writeln!(program, "\t_ {import:?}");
    }
    program.push_str(")\n\nfunc main() {}\n");
    fs::write(folder.join("main.go"), program)?;
    Ok(lock)
}

/// Returns the go.mod. Go applies the replacements of the main module only, so those of the filters' modules are
/// repeated here.
fn manifest(modules: &[GoModule], kits: &Kits) -> Result<String, BundleFailure> {
    let mut replaces: BTreeMap<Replaced, String> = BTreeMap::new();
    for module in modules {
        for (old, new) in &module.replaces {
            let before = replaces.entry(old.clone()).or_insert_with(|| new.clone());
            if before != new && !OWN.contains(&old.path.as_str()) {
                let message =
                    format!("filters replace the module {} by different ones: {before} and {new}", old.path);
                return Err(BundleFailure::new(message, Some(ONE_RUNTIME)));
            }
        }
    }
    let mut folders: BTreeMap<&str, &Path> = BTreeMap::new();
    for (path, folder) in modules.iter().map(|module| (&module.path, &module.folder)) {
        if let Some(other) = folders.insert(path, folder) {
            let (one, other) = (folder.display(), other.display());
            let message = format!("two modules have the path {path}: in \"{one}\" and in \"{other}\"");
            return Err(BundleFailure::new(message, Some(ONE_RUNTIME)));
        }
    }
    for (path, folder) in modules.iter().flat_map(|module| &module.workspace_modules) {
        folders.entry(path).or_insert(folder);
    }
    let own = [
        (KIT, kits.folder("go")),
        (ENVOY, kits.folder("go-envoy")),
        (ENVOY_BEFORE_1_26, kits.folder(BEFORE_1_26_FOLDER)),
    ];
    for (path, folder) in &own {
        folders.insert(path, folder);
    }
    let newest = modules.iter().map(GoModule::go_at_least).max_by_key(|go| version_numbers(go));
    let mut out =
        format!("module eddy.invalid/bundle\n\ngo {}\n\nrequire {KIT} v0.0.0\n", newest.unwrap_or(GO_MIN));
    // Writing to a string never fails.
    for module in modules.iter().filter(|module| !OWN.contains(&module.path.as_str())) {
        let _ = writeln!(out, "\nrequire {} v0.0.0", module.path);
    }
    for (path, version) in raised(modules) {
        let _ = writeln!(out, "\nrequire {path} {version}");
    }
    for (path, folder) in &folders {
        replaces.retain(|old, _| old.path != *path);
        let _ = writeln!(out, "\nreplace {path} => {}", quoted(folder));
    }
    for (Replaced { path, version }, new) in &replaces {
        let _ = writeln!(out, "\nreplace {path} {version} => {new}");
    }
    Ok(out)
}

/// Returns the known checksums, so that Go need not fetch them.
pub(crate) fn sums(modules: &[GoModule], kits: &Kits) -> String {
    let own = kits.folder("go-envoy").join("go.sum");
    let files = modules.iter().flat_map(|module| &module.sums).chain([&own]);
    let texts: Vec<String> = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
    let lines: BTreeSet<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

/// Whether a package may be a program. This is only a guess: packages that are no programs are left unchanged.
fn is_program(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new("go"))).any(
        |path| {
            fs::read_to_string(path)
                .is_ok_and(|text| text.lines().any(|line| line.starts_with("package main")))
        },
    )
}

/// Module path of the Go SDK.
pub(crate) const KIT: &str = "github.com/eddy-gateway/eddy/sdk/go";
const OWN: [&str; 3] = [KIT, ENVOY, ENVOY_BEFORE_1_26];
const KIT_BUNDLE: &str = "github.com/eddy-gateway/eddy/sdk/go/bundle";
const ONE_RUNTIME: &str =
    "all Go filters of a configuration are linked into one library, with one version of each module";
const WORKSPACES_MAX: usize = 16;

//! Links packages into a library, or finds the library linked before.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{Cache, keep_newest, touch};
use super::failure::BundleFailure;
use super::go::{Go, GoBuildTarget, Toolchain, arguments, flag};
use super::kits::Kits;
use super::messages::shown;
use super::record::{BundleManifest, LinkedPackage, place_of};
use super::sources::{BundleSources, sources_of};
use super::workspace::Workspace;

/// Library with the filters of some packages.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    /// Library file in the cache.
    pub(crate) library: PathBuf,
    /// Manifest of the build.
    pub(crate) record: BundleManifest,
    /// Whether the library was linked just now.
    pub(crate) is_fresh: bool,
}

/// Returns the library with the filters of exactly the packages in these folders. `notice` is called when linking takes
/// long.
///
/// # Errors
/// When the packages cannot be linked.
///
/// # Cost
/// Runs the Go command: a tenth of a second when nothing has changed, otherwise the time of a compiler.
pub(crate) fn bundle(
    folders: &BTreeSet<&Path>,
    cache: &Cache,
    target: GoBuildTarget,
    notice: &dyn Fn(),
) -> Result<Bundle, BundleFailure> {
    let folders: BTreeSet<PathBuf> =
        folders.iter().map(|folder| canonical(folder)).collect::<Result<_, _>>()?;
    let go = Go::new(cache).with_target(target);
    let kits = Kits::unpack(cache)?;
    let parent = cache.folder("bundles")?;
    // Run in the folder of the SDK, whose go.mod requires the minimum Go version.
    go.toolchain(&kits.folder("go"))?;
    let workspace = Workspace::write(&folders, &go, &kits, cache)?;
    let toolchain = go.toolchain(&workspace.folder)?;
    for _ in 0..TRIES_MAX {
        let sources = sources_of(&workspace, &go, &toolchain, &kits, notice)?;
        let library = parent.join(target.file(&sources.key));
        if let Some(record) = BundleManifest::beside(&library).filter(|record| record.check(&library).is_ok())
        {
            // The manifest is touched, not the library: a changed modification time means a changed library to
            // processes that have it open.
            touch(&place_of(&library));
            return Ok(Bundle { library, record, is_fresh: false });
        }
        let linked = link(&workspace, &go, target, notice)?;
        // A source file saved during the build must be part of the library.
        if sources_of(&workspace, &go, &toolchain, &kits, notice)?.key == sources.key {
            let record = keep(&linked, &library, &sources, &workspace, &toolchain)
                .map_err(|error| BundleFailure::of_io("write", &library, &error))?;
            // Old libraries that cannot be removed do no harm.
            let _ = keep_newest(&parent, BUNDLES_MAX);
            return Ok(Bundle { library, record, is_fresh: true });
        }
    }
    Err(BundleFailure::new("the sources of the filters changed during compilation", None))
}

fn canonical(folder: &Path) -> Result<PathBuf, BundleFailure> {
    let failed = |what: &str| {
        let message = format!("the package \"{}\" {what}", folder.display());
        BundleFailure::new(
            message,
            Some("`package` is the folder with the filter's Go files, relative to the configuration file"),
        )
    };
    let path = folder.canonicalize().map_err(|error| failed(&format!("cannot be read: {error}")))?;
    let mut entries = fs::read_dir(&path).map_err(|_| failed("is not a folder"))?;
    let has_code = entries
        .any(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|kind| kind == "go")));
    if has_code { Ok(path) } else { Err(failed("has no Go files")) }
}

/// Runs the compiler and returns the library in the workspace.
fn link(
    workspace: &Workspace,
    go: &Go,
    target: GoBuildTarget,
    notice: &dyn Fn(),
) -> Result<PathBuf, BundleFailure> {
    let linked = workspace.folder.join("out").join(target.file("bundle"));
    let (output, overlay) = (flag("o", &linked), flag("overlay", &workspace.overlay()));
    let mut words =
        arguments([&"build", &"-mod=mod", &"-buildvcs=false", &"-buildmode=c-shared", &output]).to_vec();
    if workspace.has_overlay {
        words.push(&overlay);
    }
    words.extend(target.flags().map(OsStr::new));
    words.push(".".as_ref());
    let ran = go.run(&workspace.folder, &words, notice)?;
    if ran.succeeded { Ok(linked) } else { Err(workspace.failure(&ran.errors)) }
}

/// Moves a library into the cache. The manifest is written last, because it marks the library as complete.
fn keep(
    linked: &Path,
    library: &Path,
    sources: &BundleSources,
    workspace: &Workspace,
    toolchain: &Toolchain,
) -> io::Result<BundleManifest> {
    let bytes = fs::metadata(linked)?.len();
    fs::rename(linked, library)?;
    let linked = workspace.packages.iter().map(|(folder, path)| LinkedPackage {
        folder: folder.clone(),
        path: path.clone(),
        links: sources.transitive_imports(path),
    });
    let packages = workspace.imports.iter().cloned().collect();
    let record = BundleManifest::new(&sources.key, &toolchain.version, packages, linked.collect(), bytes);
    record.write(library)?;
    Ok(record)
}

impl Bundle {
    /// Copies the library to `path` atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), BundleFailure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let fresh = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let written = fs::copy(&self.library, &fresh).and_then(|_| {
            // A library must never be combined with the manifest of another one.
            BundleManifest::remove_beside(path)?;
            fs::rename(&fresh, path)?;
            // The package folders are of no use on other machines.
            BundleManifest { linked: Vec::new(), ..self.record.clone() }.write(path)
        });
        written.map_err(|error| {
            let _ = fs::remove_file(&fresh);
            BundleFailure::new(format!("cannot write \"{}\": {error}", shown(path)), None)
        })
    }
}

/// Maximum builds when the sources change during compilation.
const TRIES_MAX: usize = 3;
/// Number of libraries kept in the cache.
const BUNDLES_MAX: usize = 16;

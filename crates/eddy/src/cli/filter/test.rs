//! `eddy filter test`: runs a filter's own tests, with the SDK of this eddy.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow};

use super::output::show;
use super::specs;
use crate::bundle::{
    BEFORE_1_26_FOLDER, BundleFailure, Cache, ENVOY, ENVOY_BEFORE_1_26, Go, GoModule, KIT, Kits, hashed,
    module_root, quoted, sums,
};
use crate::cli::arguments::FilterTest;
use crate::cli::error::CommandError;
use crate::terminal::print;

/// Runs the tests and prints their output.
///
/// # Errors
/// When a test fails, or there is nothing to test.
pub(in crate::cli) fn run(arguments: &FilterTest) -> Result<(), CommandError> {
    let folder = &arguments.dir;
    let folder = folder.canonicalize().with_context(|| format!("cannot use \"{}\"", folder.display()))?;
    let specs = specs::in_folder(&folder).with_context(|| format!("cannot use \"{}\"", folder.display()))?;
    if !specs.is_empty() {
        print(&specs_taken(&folder, &specs))?;
        return specs::run(&specs, &arguments.rest);
    }
    // The project may refer to the SDKs in the cache, which may have been emptied.
    let cache = Cache::find(arguments.cache.cache_dir.as_deref()).map_err(|failure| show(&failure))?;
    let kits = Kits::unpack(&cache).map_err(|failure| show(&failure))?;
    let status = if folder.join("Cargo.toml").is_file() {
        let mut command = Command::new("cargo");
        command.current_dir(&folder).arg("test").args(&arguments.rest);
        command
            .status()
            .context("the command `cargo` cannot be started; install Rust from https://rustup.rs")?
    } else if let Some(root) = module_root(&folder) {
        let go = Go::new(&cache);
        let mut command = go.command(&folder);
        command.arg("test");
        if let Some(manifest) = manifest_of(&root, &go, &kits, &cache).map_err(|failure| show(&failure))? {
            let mut flag = OsString::from("-modfile=");
            flag.push(manifest);
            command.env("GOWORK", "off").arg("-mod=mod").arg(flag);
        }
        command.arg("./...").args(&arguments.rest);
        Go::show(command).map_err(|failure| show(&failure))?
    } else {
        return Err(anyhow!(
            "there is no go.mod, no Cargo.toml and no *_spec.lua in \"{}\"",
            arguments.dir.display()
        )
        .into());
    };
    if status.success() { Ok(()) } else { Err(CommandError::Reported) }
}

/// Returns the line that names the specs, and the tests that are not run because there are specs.
fn specs_taken(folder: &Path, specs: &[PathBuf]) -> String {
    let names = specs.iter().filter_map(|spec| Some(spec.file_name()?.to_string_lossy()));
    let names = names.collect::<Vec<_>>().join(", ");
    // A module may begin further up, where a script has nothing to do with it.
    let others = [("Cargo.toml", "cargo test"), ("go.mod", "go test ./...")];
    let other = others.into_iter().find(|(file, _)| folder.join(file).is_file());
    let other =
        other.map(|(_, command)| format!("; for the other tests, run `{command}`")).unwrap_or_default();
    format!("specs: {names}{other}\n")
}

/// Returns a copy of the module's go.mod that also refers to the SDKs, if its own go.mod does not.
fn manifest_of(root: &Path, go: &Go, kits: &Kits, cache: &Cache) -> Result<Option<PathBuf>, BundleFailure> {
    let module = GoModule::read(go, root)?;
    let needs = |kit: &str| module.requires.contains_key(kit) && !module.has_replaced(kit);
    let needs_envoy = needs(ENVOY) || needs(ENVOY_BEFORE_1_26);
    if !needs(KIT) && !needs_envoy {
        return Ok(None);
    }
    let mut lines = module.lines_of_work();
    for (path, folder, is_needed) in [
        (KIT, "go", !module.has_replaced(KIT)),
        (ENVOY, "go-envoy", needs_envoy && !module.has_replaced(ENVOY)),
        (ENVOY_BEFORE_1_26, BEFORE_1_26_FOLDER, needs(ENVOY_BEFORE_1_26)),
    ] {
        if is_needed {
            // Writing to a string never fails.
            let _ = writeln!(lines, "replace {path} => {}", quoted(&kits.folder(folder)));
        }
    }
    let name = hashed([root.as_os_str().as_encoded_bytes(), b"test"].into_iter());
    let folder = cache.folder("work")?.join(name);
    let written = write_manifest(&folder, module, kits, &lines);
    written.map(Some).map_err(|error| {
        BundleFailure::new(format!("cannot write to \"{}\": {error}", folder.display()), None)
    })
}

fn write_manifest(folder: &Path, module: GoModule, kits: &Kits, lines: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let own = fs::read_to_string(module.folder.join("go.mod"))?;
    let manifest = folder.join("go.mod");
    for (file, text) in
        [(folder.join("go.sum"), sums(&[module], kits)), (manifest.clone(), format!("{own}\n{lines}"))]
    {
        let fresh = folder.join(format!("fresh-{}", std::process::id()));
        fs::write(&fresh, text)?;
        // Renamed, because another test run of the same filter may be reading the file.
        fs::rename(fresh, file)?;
    }
    Ok(manifest)
}

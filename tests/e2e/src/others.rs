//! Filters that others wrote, as they published them: none of their sources are in this tree.
//!
//! What cannot be had is said on standard error. With `EDDY_REQUIRE_PEERS=1`, what comes from a package registry must be
//! there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::place::{tree, variable};

/// Longest that a gateway may take to build filters before it answers.
pub const BUILD_TIME_MAX: Duration = Duration::from_secs(900);

/// A filter for Envoy whose sources are here.
#[derive(Clone, Debug, Deserialize)]
pub struct EnvoyFilter {
    /// As in `tests/envoy-filters/filters.json`.
    pub id: String,
    /// The folder of its package.
    pub package: PathBuf,
    missing: String,
}

/// Where filters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A public repository, which need not be within reach.
    Repository,
    /// A package registry.
    Registry,
}

/// Puts the filters of `tests/envoy-filters/filters.json` with these ids into `folder`; gives those that can be had.
///
/// # Errors
/// When the Go command fails, or a filter that must be there cannot be had.
pub fn envoy_filters(folder: &Path, ids: &[&str], source: Source) -> Result<Vec<EnvoyFilter>> {
    if !has("go", source)? {
        return Ok(Vec::new());
    }
    let mut go = Command::new("go");
    go.current_dir(tree().join("tests/envoy-filters")).args(["run", "./fetch"]).arg(folder).args(ids);
    let output = go.output().context("cannot run go")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let filters: Vec<EnvoyFilter> =
        serde_json::from_slice(&output.stdout).context("what `fetch` says cannot be read")?;
    let mut had = Vec::new();
    for filter in filters {
        if filter.missing.is_empty() {
            had.push(filter);
        } else {
            absent(&format!("the filter {:?} cannot be had: {}", filter.id, filter.missing), source)?;
        }
    }
    Ok(had)
}

/// The folder of a Go module as the Go command fetches it; nothing where it cannot be had.
///
/// # Errors
/// When the Go command fails, or the module must be there and is not.
pub fn go_module(module: &str) -> Result<Option<PathBuf>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase", default)]
    #[derive(Default)]
    struct Told {
        dir: PathBuf,
        error: String,
    }
    if !has("go", Source::Registry)? {
        return Ok(None);
    }
    let output =
        Command::new("go").args(["mod", "download", "-json", module]).output().context("cannot run go")?;
    let told: Told =
        serde_json::from_slice(&output.stdout).context("what the Go command says cannot be read")?;
    if told.error.is_empty() {
        return Ok(Some(told.dir));
    }
    absent(&format!("the module {module} cannot be had: {}", told.error), Source::Registry)?;
    Ok(None)
}

/// The folder of a crate as Cargo fetches it, copied to `folder`; nothing where it cannot be had.
///
/// # Errors
/// When files cannot be written, or the crate must be there and is not.
pub fn published_crate(name: &str, version: &str, folder: &Path) -> Result<Option<PathBuf>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        manifest_path: PathBuf,
    }
    let asking = folder.join("asking");
    fs::create_dir_all(asking.join("src"))?;
    fs::write(asking.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"asking\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{name} = \"={version}\"\n"
    );
    fs::write(asking.join("Cargo.toml"), manifest)?;
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--manifest-path"])
        .arg(asking.join("Cargo.toml"))
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("the crate {name} {version} cannot be had: {why}"), Source::Registry)?;
        return Ok(None);
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let package = metadata.packages.into_iter().find(|package| package.name == name);
    let package = package.with_context(|| format!("Cargo knows of no {name}"))?;
    let from = package.manifest_path.parent().context("a manifest without a folder")?;
    let copy = folder.join(format!("{name}-{version}"));
    copy_folder(from, &copy)?;
    Ok(Some(copy))
}

/// Copies a folder with everything in it.
///
/// # Errors
/// When a file cannot be read or written.
pub fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // What a registry's client keeps cannot be written to; a copy can, and is written anew each time.
            fs::write(&target, fs::read(entry.path())?)
                .with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(())
}

/// Says that something is not there; an error where it has to be.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`, for what comes from a registry.
pub fn absent(what: &str, source: Source) -> Result<()> {
    if source == Source::Registry && variable("EDDY_REQUIRE_PEERS").is_some() {
        bail!("{what}");
    }
    writeln!(std::io::stderr(), "SKIPPED: {what}")?;
    Ok(())
}

fn has(command: &str, source: Source) -> Result<bool> {
    let has = Command::new(command).arg("version").output().is_ok();
    if !has {
        absent(&format!("there is no `{command}` here"), source)?;
    }
    Ok(has)
}

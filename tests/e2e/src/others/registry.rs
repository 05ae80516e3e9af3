//! What package registries have, through their own clients.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::place::variable;

/// Where filters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A public repository, which need not be within reach.
    Repository,
    /// A package registry.
    Registry,
}

/// The folder of a Go module as the Go command fetches it; nothing where it cannot be had.
pub(super) fn go_module(module: &str) -> Result<Option<PathBuf>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase", default)]
    #[derive(Default)]
    struct Told {
        dir: PathBuf,
        error: String,
    }
    if !has_go(Source::Registry)? {
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

/// The folder of a crate as Cargo fetches it, copied to `folder` as a workspace of its own; nothing where it cannot be
/// had.
pub(super) fn published_crate(name: &str, version: &str, folder: &Path) -> Result<Option<PathBuf>> {
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
    isolate(&copy.join("Cargo.toml"))?;
    Ok(Some(copy))
}

/// Makes the package of this manifest the root of a workspace, unless it is one.
///
/// Cargo looks for a root in every folder above a manifest: a crate unpacked below `target/` would be taken for a member
/// of eddy's own workspace, and refused.
fn isolate(manifest: &Path) -> Result<()> {
    let text = fs::read_to_string(manifest)?;
    if !text.lines().any(|line| line.trim() == "[workspace]") {
        fs::write(manifest, format!("{text}\n[workspace]\n"))?;
    }
    Ok(())
}

/// Copies a folder with everything in it.
pub(super) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
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

/// Whether there is a Go command.
pub(super) fn has_go(source: Source) -> Result<bool> {
    let has = Command::new("go").arg("version").output().is_ok();
    if !has {
        absent("there is no `go` here", source)?;
    }
    Ok(has)
}

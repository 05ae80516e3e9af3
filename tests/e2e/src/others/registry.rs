//! Packages from registries, fetched with the registries' own clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use test_peers::{FROM_REGISTRY, FROM_REPOSITORY, GO};

/// Origin of a filter's sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterSource {
    /// A public repository, of which `tests/envoy-filters/fetch` keeps files in a cache.
    Repository,
    /// A package registry.
    Registry,
}

/// Returns the folder of a Go module, fetched by the Go command, or `None` when it is not available.
pub(super) fn go_module(module: &str) -> Result<Option<PathBuf>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase", default)]
    #[derive(Default)]
    struct GoModuleDownload {
        dir: PathBuf,
        error: String,
    }
    if !has_go()? {
        return Ok(None);
    }
    let output =
        Command::new("go").args(["mod", "download", "-json", module]).output().context("cannot run go")?;
    let told: GoModuleDownload =
        serde_json::from_slice(&output.stdout).context("the output of the Go command cannot be parsed")?;
    if told.error.is_empty() {
        return Ok(Some(told.dir));
    }
    absent(&format!("the module {module} is not available: {}", told.error), FilterSource::Registry)?;
    Ok(None)
}

/// Returns the folder of a crate, fetched by Cargo and copied to `folder` as its own workspace, or `None` when it is
/// not available.
pub(super) fn published_crate(name: &str, version: &str, folder: &Path) -> Result<Option<PathBuf>> {
    #[derive(Deserialize)]
    struct CargoMetadata {
        packages: Vec<CargoPackage>,
    }
    #[derive(Deserialize)]
    struct CargoPackage {
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
        absent(&format!("the crate {name} {version} is not available: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    let metadata: CargoMetadata = serde_json::from_slice(&output.stdout)?;
    let package = metadata.packages.into_iter().find(|package| package.name == name);
    let package = package.with_context(|| format!("Cargo does not list {name}"))?;
    let from = package.manifest_path.parent().context("a manifest without a folder")?;
    let copy = folder.join(format!("{name}-{version}"));
    copy_folder(from, &copy)?;
    isolate(&copy.join("Cargo.toml"))?;
    Ok(Some(copy))
}

/// Makes the package of this manifest the root of a workspace, unless it is one.
///
/// Cargo searches every folder above a manifest for a workspace root: a crate unpacked below `target/` would be taken
/// for a member of eddy's own workspace, and refused.
fn isolate(manifest: &Path) -> Result<()> {
    let text = fs::read_to_string(manifest)?;
    if !text.lines().any(|line| line.trim() == "[workspace]") {
        fs::write(manifest, format!("{text}\n[workspace]\n"))?;
    }
    Ok(())
}

/// Copies a folder recursively.
pub(super) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // The files in a registry client's cache are read-only; the copy is writable and rewritten each time.
            fs::write(&target, fs::read(entry.path())?)
                .with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(())
}

/// Announces that a package could not be fetched, which skips the test.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`, for packages from a registry. Machines that reach registries through a mirror do not reach
/// repositories.
pub(super) fn absent(what: &str, source: FilterSource) -> Result<()> {
    match source {
        FilterSource::Registry => test_peers::skip(what, FROM_REGISTRY)?,
        FilterSource::Repository => test_peers::skip_optional(what, FROM_REPOSITORY),
    }
    Ok(())
}

/// Whether the Go command is present; its absence skips the test.
///
/// # Errors
/// With `EDDY_REQUIRE_PEERS`, when it is missing.
pub(super) fn has_go() -> Result<bool> {
    Ok(test_peers::all_present(&[GO])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{next_number, tree};

    #[test]
    fn a_crate_unpacked_inside_the_tree_is_not_a_workspace_member() {
        let name = format!("unpacked-{}-{}", std::process::id(), next_number());
        let folder = tree().join("target/tmp").join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/lib.rs"), "").unwrap();
        let manifest = folder.join("Cargo.toml");
        fs::write(&manifest, "[package]\nname = \"unpacked\"\nversion = \"1.0.0\"\nedition = \"2021\"\n")
            .unwrap();
        let is_read = || {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"]);
            cargo.arg(&manifest).output().unwrap().status.success()
        };
        assert!(!is_read(), "Cargo takes it for a member as it is");
        isolate(&manifest).unwrap();
        assert!(is_read());
        isolate(&manifest).unwrap();
        assert!(is_read(), "the table is added once");
        fs::remove_dir_all(folder).unwrap();
    }
}

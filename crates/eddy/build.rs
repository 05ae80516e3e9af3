//! Packs the filter SDKs into the program, so that filters can be built with nothing but the program.
#![forbid(unsafe_code)]

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let root = variable("CARGO_MANIFEST_DIR")?.join("../..");
    let mut files = Vec::new();
    for kit in KITS {
        println!("cargo::rerun-if-changed={}", root.join("sdk").join(kit).display());
        collect(&root.join("sdk"), Path::new(kit), &mut files)?;
    }
    for name in CRATES {
        let folder = Path::new("crates").join(name);
        println!("cargo::rerun-if-changed={}", root.join(&folder).display());
        collect(&root, &folder, &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    println!("cargo::rerun-if-changed=build.rs");
    // The dynamic loader resolves the callbacks of dynamic modules from the program (crates/eddy-guest).
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=envoy_dynamic_module_callback_*");
    files.sort();
    let mut archive = Vec::new();
    append(&mut archive, Path::new("Cargo.toml"), &workspace_manifest(&root)?)?;
    for file in files {
        let place = if file.starts_with("crates") { root.clone() } else { root.join("sdk") };
        let content = fs::read(place.join(&file))?;
        append(&mut archive, &file, &content)?;
    }
    let mut hash = String::new();
    for byte in Sha256::digest(&archive).iter().take(6) {
        // Writing to a string never fails.
        let _ = write!(hash, "{byte:02x}");
    }
    println!("cargo::rustc-env=EDDY_KITS_HASH={hash}");
    println!("cargo::rustc-env=EDDY_KITS_BYTES={}", archive.len());
    fs::write(variable("OUT_DIR")?.join("kits"), miniz_oxide::deflate::compress_to_vec(&archive, 9))
}

/// Collects the files below `folder` that are needed to build or test filters.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = folder.join(name);
        if entry.file_type()?.is_dir() {
            if !FOLDERS_LEFT_OUT.contains(&name) {
                collect(root, &path, files)?;
            }
        } else if is_wanted(name) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_wanted(name: &str) -> bool {
    !name.ends_with("_test.go")
        && !name.ends_with("tests.rs")
        && !name.ends_with(".md")
        && !name.contains("_mutant")
        && !name.starts_with('.')
}

/// Returns the root manifest without the other members; the Rust SDK takes its version and dependencies from it.
fn workspace_manifest(root: &Path) -> io::Result<Vec<u8>> {
    let text = fs::read_to_string(root.join("Cargo.toml"))?;
    let mut out = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"rust\", \"crates/*\"]\n");
    let mut is_kept = false;
    for line in text.lines() {
        if line.starts_with('[') {
            is_kept = line.starts_with("[workspace.");
        }
        // Other dependencies with a path are crates that are not packed.
        let is_packed = CRATES.iter().any(|name| line.contains(&format!("path = \"crates/{name}\"")));
        if is_kept && (is_packed || !line.contains("path = ")) {
            out.push_str(line);
            out.push('\n');
        }
    }
    Ok(out.into_bytes())
}

/// Appends path and content, each prefixed by its length.
fn append(archive: &mut Vec<u8>, path: &Path, content: &[u8]) -> io::Result<()> {
    let path = path.to_str().ok_or(io::ErrorKind::InvalidData)?;
    for part in [path.as_bytes(), content] {
        let length = u32::try_from(part.len()).map_err(io::Error::other)?;
        archive.extend_from_slice(&length.to_le_bytes());
        archive.extend_from_slice(part);
    }
    Ok(())
}

const KITS: [&str; 3] = ["go", "go-envoy", "rust"];
/// Crates that the test kit of the Rust SDK is built from.
const CRATES: [&str; 3] = ["eddy-filter", "eddy-http", "eddy-ids"];
const FOLDERS_LEFT_OUT: [&str; 7] =
    ["testdata", "testlib", "testmodule", "tests", "examples", "vector", "target"];

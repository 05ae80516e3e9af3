//! The libraries that have the filter of the vectors.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use eddy_guest::NativeLibrary;

use super::host::host;

/// The one in Rust.
pub(crate) fn rust() -> Arc<NativeLibrary> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .current_dir(workspace)
        .args(["build", "--quiet", "-p", "eddy-sdk", "--example", "vectors", "--message-format", "json"])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let library = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "vectors")
        .find_map(|message| message["filenames"][0].as_str().map(PathBuf::from))
        .expect("cargo says where the library lies");
    NativeLibrary::open(&library, &host()).expect("the library of the Rust kit can be opened")
}

/// The one in Go; nothing where there is no Go, which it says then.
pub(crate) fn go() -> Option<Arc<NativeLibrary>> {
    if Command::new("go").arg("version").output().is_err() {
        println!("SKIPPED: there is no Go here, so the vectors are not run by a library in Go");
        return None;
    }
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libvectors-go.so");
    let built = Command::new("go")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/go"))
        .args(["build", "-buildmode=c-shared", "-o"])
        .arg(&library)
        .arg("./internal/vector/library")
        .status()
        .expect("the Go command runs");
    assert!(built.success(), "the library in Go does not compile");
    Some(NativeLibrary::open(&library, &host()).expect("the library of the Go kit can be opened"))
}

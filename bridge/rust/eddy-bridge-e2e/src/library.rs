//! The Go library, built once per test program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use eddy_bridge::Go;

use crate::{Echo, Looking, serve_mirror};

/// Returns the library, with the services that Rust offers to it. It is built in `folder`.
///
/// # Panics
///
/// If there is no Go toolchain, or the library has errors.
pub fn library(folder: &Path) -> Go {
    static LIBRARY: OnceLock<Go> = OnceLock::new();
    *LIBRARY.get_or_init(|| open(&build(folder, &[], &[])))
}

/// Opens a library, and offers it the services that it calls.
///
/// # Panics
///
/// If it can't be opened.
pub fn open(path: &Path) -> Go {
    let go = Go::open(path).expect("a library that Go has just built can be opened");
    let echo = Echo::bind(&go).expect("the library has just been built from the same declaration");
    eddy_bridge::offer(serve_mirror(Looking::with(echo)));
    go
}

/// Builds the library with further flags and environment variables.
///
/// # Panics
///
/// If there is no Go toolchain, or the library has errors.
pub fn build(folder: &Path, flags: &[&str], variables: &[(&str, &str)]) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Test programs run at the same time, and so do the tests in them.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("everything-{}-{count}.so", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let output = Command::new("go")
        .args(["build", "-buildmode=c-shared"])
        .args(flags)
        .arg("-o")
        .arg(&path)
        .arg(".")
        .current_dir(source)
        .envs(variables.iter().copied())
        .output()
        .expect("the Go toolchain is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

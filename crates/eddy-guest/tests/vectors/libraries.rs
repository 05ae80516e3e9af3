//! Libraries with the filter of the test vectors.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use eddy_guest::{LinearLibrary, LinearLimits, LinearModule, NativeLibrary};

use super::build::{Into, build};
use super::host::host;

/// Returns the profile of this test, after which its folder is named.
fn profile() -> String {
    let own = std::env::current_exe().expect("this program has a path");
    let folder = own.ancestors().nth(2).and_then(Path::file_name).expect("it is in `deps`");
    let name = folder.to_str().expect("profiles have ASCII names");
    if name == "debug" { "dev".to_owned() } else { name.to_owned() }
}

/// Opens the Rust library.
pub(crate) fn rust() -> Arc<NativeLibrary> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // As `cargo test --workspace` has built it: in the profile of this test, and with the features of the workspace.
    let output = Command::new(env!("CARGO"))
        .current_dir(workspace)
        .args(["build", "--quiet", "--workspace", "--example", "vectors", "--message-format", "json"])
        .args(["--profile", &profile()])
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

/// Opens the Go library; `None` if Go is not installed.
pub(crate) fn go() -> Option<Arc<NativeLibrary>> {
    let library = build("sdk/go", "./internal/vector/library", Into::Library, "libvectors-go.so")?;
    Some(NativeLibrary::open(&library, &host()).expect("the library of the Go kit can be opened"))
}

/// Opens the Go library built as a Wasm module; `None` if Go is not installed.
pub(crate) fn module() -> Option<LinearLibrary> {
    let path = build("sdk/go", "./internal/linear/testmodule", Into::Module, "vectors-go.wasm")?;
    let bytes = std::fs::read(&path).expect("the module was built");
    let kept = path.with_file_name("modules");
    let module = LinearModule::compile("vectors-go.wasm", &bytes, LinearLimits::default(), Some(&kept))
        .expect("the module of the Go kit can be compiled");
    Some(LinearLibrary::open(&module, &host()).expect("the module of the Go kit can be started"))
}

//! Records the compiler version that builds the library, so that eddy can show it.
#![forbid(unsafe_code)]

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version =
        Command::new(rustc).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    // "rustc 1.95.0 (59807616e 2026-04-14)": the first two words.
    let words: Vec<&str> = version.split_whitespace().take(2).collect();
    println!("cargo::rustc-env=EDDY_SDK_TOOLCHAIN={}", words.join(" "));
    println!("cargo::rerun-if-changed=build.rs");
}

//! Builds LuaJIT such that compiled code can be interrupted.

use std::env;
use std::process::{Command, exit};

/// Runs itself a second time, with the flags for LuaJIT's makefile and the compiler in the environment: the crate that
/// has the sources offers no other way.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Tests load dynamic modules, as the program does: see `crates/eddy/build.rs`.
    println!("cargo::rustc-link-arg-tests=-Wl,--export-dynamic-symbol=envoy_dynamic_module_callback_*");
    for name in ["TARGET_CFLAGS", "HOST_CC", "STATIC_CC", "TARGET_LD", "TARGET_AR", "TARGET_STRIP"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if env::var_os(STAGE).is_some() {
        // One library for every profile: LuaJIT's own assertions would make it several times slower.
        luajit_src::Build::new().lua52compat(true).debug(false).build().print_cargo_metadata();
        return;
    }
    let mut flags = env::var_os("TARGET_CFLAGS").unwrap_or_default();
    flags.push(" -DLUAJIT_ENABLE_CHECKHOOK");
    let program = env::current_exe().expect("a program that runs has a path");
    let status = Command::new(program).env("TARGET_CFLAGS", flags).env(STAGE, "1").status();
    if !status.expect("what runs can be run again").success() {
        exit(1);
    }
}

const STAGE: &str = "EDDY_LUAJIT_WITH_FLAGS";

//! Example filters of the Go SDK, which the SDK published as part of its module up to version 0.16.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::registry::{copy_folder, go_module};

/// Builds these examples in `folder` and returns the folder of their modules, or `None` when they are not available.
///
/// The example sources stay unchanged. They were written for a compiler that runs `main` when a module starts, and for
/// the SDK under its former name. Therefore a file beside each calls its `main` from an `init`, and they are built with
/// the current SDK, whose sources are changed to the former name.
///
/// # Errors
/// When the build fails, or the examples are required and not available.
pub fn go_sdk_examples(folder: &Path, examples: &[&str]) -> Result<Option<PathBuf>> {
    let Some(published) = go_module(EXAMPLES)? else { return Ok(None) };
    let Some(sdk) = go_module(SDK)? else { return Ok(None) };
    let renamed = folder.join("sdk");
    copy_folder(&sdk, &renamed)?;
    rename(&renamed)?;
    let manifest = format!(
        "module examples.invalid\n\ngo 1.24\n\nrequire {FORMER} v0.16.0\n\nreplace {FORMER} => ./sdk\n"
    );
    fs::write(folder.join("go.mod"), manifest)?;
    for example in examples {
        let source = folder.join("examples").join(example);
        copy_folder(&published.join("examples").join(example), &source)?;
        fs::write(source.join("reactor.go"), "package main\n\nfunc init() { main() }\n")?;
        let output = Command::new("go")
            .current_dir(folder)
            .envs([("GOOS", "wasip1"), ("GOARCH", "wasm"), ("GOWORK", "off"), ("GOFLAGS", "-mod=mod")])
            .args(["build", "-buildmode=c-shared", "-ldflags=-s -w", "-o"])
            .arg(folder.join(format!("{}.wasm", example.replace('/', "_"))))
            .arg(format!("./examples/{example}"))
            .output()
            .context("cannot run go")?;
        ensure!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(Some(folder.into()))
}

/// Renames the SDK to the module path that the examples import.
fn rename(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            rename(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "go" || extension == "mod") {
            fs::write(&path, fs::read_to_string(&path)?.replace(TODAY, FORMER))?;
        }
    }
    Ok(())
}

const FORMER: &str = "github.com/tetratelabs/proxy-wasm-go-sdk";
const TODAY: &str = "github.com/proxy-wasm/proxy-wasm-go-sdk";
/// Last version that has the examples in its module.
const EXAMPLES: &str = "github.com/tetratelabs/proxy-wasm-go-sdk@v0.16.0";
/// First version that the standard Go compiler can build.
const SDK: &str = "github.com/proxy-wasm/proxy-wasm-go-sdk@v0.0.0-20250212164326-ab4161dcf924";

//! `eddy filter test`: a filter's own tests, with the kit of this eddy.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow};

use super::command::show;
use crate::bundle::{BundleFailure, Cache, ENVOY, Go, KIT, Kits, Module, hashed, module_root, quoted};
use crate::cli::arguments::FilterTest;
use crate::cli::start::Failure;

/// Runs the tests and shows what they say.
///
/// # Errors
/// When a test fails, or there is nothing to test.
pub(super) fn run(arguments: &FilterTest) -> Result<(), Failure> {
    let folder = &arguments.dir;
    let folder = folder.canonicalize().with_context(|| format!("cannot use \"{}\"", folder.display()))?;
    // The project may lead to the kits in the cache, whoever has emptied it.
    let cache = Cache::find(arguments.cache.cache_dir.as_deref()).map_err(|failure| show(&failure))?;
    let kits = Kits::unpack(&cache).map_err(|failure| show(&failure))?;
    let status = if folder.join("Cargo.toml").is_file() {
        let mut command = Command::new("cargo");
        command.current_dir(&folder).arg("test").args(&arguments.rest);
        command.status().context("the command `cargo` cannot be started; https://rustup.rs has it")?
    } else if let Some(root) = module_root(&folder) {
        let go = Go::new(&cache);
        let mut command = go.command(&folder);
        command.args(["test", "./..."]).args(&arguments.rest);
        if let Some(work) = workspace_of(&root, &go, &kits, &cache).map_err(|failure| show(&failure))? {
            command.env("GOWORK", work);
        }
        Go::show(command).map_err(|failure| show(&failure))?
    } else {
        return Err(anyhow!("there is no go.mod and no Cargo.toml in \"{}\"", arguments.dir.display()).into());
    };
    if status.success() { Ok(()) } else { Err(Failure::Shown) }
}

/// A workspace that leads a module to the kits, if it does not find them by itself.
fn workspace_of(root: &Path, go: &Go, kits: &Kits, cache: &Cache) -> Result<Option<PathBuf>, BundleFailure> {
    let module = Module::read(go, root)?;
    let needs =
        |kit: &str| module.requires.iter().any(|required| required == kit) && !module.has_replaced(kit);
    if !needs(KIT) && !needs(ENVOY) {
        return Ok(None);
    }
    let name = hashed([root.as_os_str().as_encoded_bytes(), b"test"].into_iter());
    let folder = cache.folder("work")?.join(name);
    let written = write_workspace(&folder, &module, kits, needs(ENVOY));
    written.map(Some).map_err(|error| {
        BundleFailure::new(format!("cannot write to \"{}\": {error}", folder.display()), None)
    })
}

fn write_workspace(folder: &Path, module: &Module, kits: &Kits, has_envoy: bool) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut text = format!("go {}\n\nuse {}\n", module.go_at_least(), quoted(&module.folder));
    // Writing to a string never fails.
    for neighbour in module.neighbours() {
        let _ = writeln!(text, "use {}", quoted(neighbour));
    }
    if !module.has_replaced(KIT) {
        let _ = writeln!(text, "\nreplace {KIT} => {}", quoted(&kits.folder("go")));
    }
    if has_envoy {
        let _ = writeln!(text, "\nreplace {ENVOY} => {}", quoted(&kits.folder("go-envoy")));
        fs::copy(kits.folder("go-envoy/go.sum"), folder.join("go.work.sum"))?;
    }
    let (fresh, file) = (folder.join(format!("fresh-{}", std::process::id())), folder.join("go.work"));
    fs::write(&fresh, text)?;
    // Another test of the same filter may be reading it.
    fs::rename(fresh, &file)?;
    Ok(file)
}

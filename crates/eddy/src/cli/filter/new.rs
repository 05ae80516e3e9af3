//! `eddy filter new`: creates a filter project.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::name::FilterName;
use super::output::show;
use super::template::{TemplateContext, files_of};
use crate::bundle::{Cache, Kits};
use crate::cli::arguments::{FilterNew, Language};
use crate::cli::error::CommandError;
use crate::terminal::print;

/// Writes the files of a project.
///
/// # Errors
/// When the name is invalid or the folder cannot be used.
pub(in crate::cli) fn run(arguments: &FilterNew) -> Result<(), CommandError> {
    let name = FilterName::parse(&arguments.name)?;
    let folder = arguments.dir.clone().unwrap_or_else(|| PathBuf::from(name.text()));
    let unpack = || {
        let cache = Cache::find(arguments.cache.cache_dir.as_deref());
        cache.and_then(|cache| Kits::unpack(&cache)).map_err(|failure| show(&failure))
    };
    let kit = match arguments.lang {
        Language::Go | Language::WasmGo => unpack()?.current("go"),
        Language::Rust => unpack()?.current("rust"),
        // These projects have all that they need, or fetch it.
        Language::C | Language::Lua | Language::WasmC | Language::WasmRust => PathBuf::new(),
    };
    check_free(&folder)?;
    for (path, text) in files_of(arguments.lang, &TemplateContext { name: &name, kit: &kit }) {
        write_new(&folder.join(path), &text)
            .with_context(|| format!("cannot write \"{}\"", folder.join(path).display()))?;
    }
    print(&next_steps(arguments.lang, &name, &folder))?;
    Ok(())
}

/// Checks that the folder is missing or empty, because existing files are never touched.
fn check_free(folder: &Path) -> anyhow::Result<()> {
    match fs::read_dir(folder).map(Iterator::count) {
        Ok(0) => Ok(()),
        Ok(_) => bail!("the folder \"{}\" is not empty; choose another with `--dir`", folder.display()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot use \"{}\"", folder.display())),
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create_new(path)?.write_all(text.as_bytes())
}

fn next_steps(lang: Language, name: &FilterName, folder: &Path) -> String {
    let shown = folder.display();
    let mut text = format!("created {shown}\n\n  cd {shown}\n");
    for command in commands_of(lang) {
        text.push_str(&format!("  {}\n", command.replace("LIBRARY", &name.library())));
    }
    text + "\nand in another terminal\n\n  curl -i http://127.0.0.1:8080/echo\n"
}

/// Returns the commands that build, test and run a project, with `LIBRARY` for the filter's name.
fn commands_of(lang: Language) -> &'static [&'static str] {
    match lang {
        Language::C | Language::WasmC => &["make", "eddy filter test", "eddy run eddy.yaml"],
        Language::Go => &["go test ./...", "eddy run eddy.yaml"],
        Language::Lua => &["eddy filter test", "eddy run eddy.yaml"],
        Language::Rust => &["cargo test", "cargo build", "eddy run eddy.yaml"],
        Language::WasmGo => &[
            "go test ./...",
            "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o LIBRARY.wasm ./module",
            "eddy run eddy.yaml",
        ],
        Language::WasmRust => &[
            "rustup target add wasm32-wasip1",
            "cargo build --release --target wasm32-wasip1",
            "eddy filter test",
            "eddy run eddy.yaml",
        ],
    }
}

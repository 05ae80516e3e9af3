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
        Language::Go => unpack()?.current("go"),
        Language::Rust => unpack()?.current("rust"),
        // Scripts need no SDK.
        Language::Lua => PathBuf::new(),
    };
    check_free(&folder)?;
    for (path, text) in files_of(arguments.lang, &TemplateContext { name: &name, kit: &kit }) {
        write_new(&folder.join(path), &text)
            .with_context(|| format!("cannot write \"{}\"", folder.join(path).display()))?;
    }
    print(&next_steps(arguments.lang, &folder))?;
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

fn next_steps(lang: Language, folder: &Path) -> String {
    let shown = folder.display();
    let (test, run) = match lang {
        Language::Go => ("go test ./...", "eddy run eddy.yaml"),
        Language::Lua => ("eddy filter test", "eddy run eddy.yaml"),
        Language::Rust => ("cargo test", "cargo build && eddy run eddy.yaml"),
    };
    format!(
        "created {shown}\n\n  cd {shown}\n  {test}\n  {run}\n\nand in another terminal\n\n  curl -i http://127.0.0.1:8080/echo\n"
    )
}

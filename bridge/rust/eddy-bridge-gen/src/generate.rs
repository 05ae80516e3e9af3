//! Generates a Go file from a Rust file.

use std::path::{Path, PathBuf};
use std::{error, fmt, fs, io};

use crate::declaration::Measures;
use crate::{go, parse};

/// Writes the Go side of a declaration: `FOLDER/NAME_bridge.go`, where `NAME` is that of the file. An unchanged file
/// is not written again. The package is named after the folder unless `package` is given.
///
/// # Errors
///
/// The declaration can't be read, a type in it can't cross the bridge, or the Go file can't be written.
pub fn generate(
    file: impl AsRef<Path>,
    folder: impl AsRef<Path>,
    package: Option<&str>,
) -> Result<PathBuf, GenerateError> {
    let (file, folder) = (file.as_ref(), folder.as_ref());
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| GenerateError::File { path, source }
    };
    let text = fs::read_to_string(file).map_err(failed(file))?;
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let package = match package {
        Some(package) => package.to_owned(),
        None => package_of(&folder.canonicalize().map_err(failed(folder))?),
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let made = go_text(&text, &name, &package).map_err(|error| GenerateError::of(file, error))?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let target = folder.join(format!("{stem}_bridge.go"));
    if fs::read_to_string(&target).is_ok_and(|there| there == made) {
        return Ok(target);
    }
    fs::write(&target, made).map_err(failed(&target))?;
    Ok(target)
}

/// Returns the Go side of a declaration as text.
///
/// # Errors
///
/// All types that can't cross the bridge, combined.
pub fn go_text(text: &str, name: &str, package: &str) -> syn::Result<String> {
    let declaration = parse::file(&syn::parse_file(text)?)?;
    let measures = Measures::of(&declaration)?;
    Ok(go::file(&declaration, &measures, name, package))
}

fn package_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { "declared".to_owned() }
}

/// Error of [`generate`].
#[derive(Debug)]
pub enum GenerateError {
    /// A file can't be read or written.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A type in the declaration can't cross the bridge.
    Declaration {
        /// Every problem with its position: `FILE:LINE:COLUMN: MESSAGE`.
        problems: Vec<String>,
    },
}

impl GenerateError {
    fn of(file: &Path, error: syn::Error) -> Self {
        let problems = error.into_iter().map(|error| {
            let start = error.span().start();
            format!("{}:{}:{}: {error}", file.display(), start.line, start.column + 1)
        });
        Self::Declaration { problems: problems.collect() }
    }
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Declaration { problems } => f.write_str(&problems.join("\n")),
        }
    }
}

impl error::Error for GenerateError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            Self::Declaration { .. } => None,
        }
    }
}

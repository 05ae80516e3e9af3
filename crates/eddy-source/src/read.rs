//! Reads one file, whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use eddy_spec::problem::{Problem, SourceText};

use crate::stamp::Stamp;

/// Reads the file at `path` and subtracts its size from `bytes_left`.
///
/// # Errors
/// When the file can't be opened, is not a regular file, is empty, too large, not UTF-8, or keeps changing.
pub(crate) fn read_file(path: &Path, bytes_left: &mut u64) -> Result<SourceText, Problem> {
    let name = path.to_string_lossy();
    let problem =
        |message: String, hint: Option<&str>| Problem::of_file(&name, message, hint.map(ToOwned::to_owned));
    for _attempt in 0..ATTEMPTS_MAX {
        let bytes = match read_once(path) {
            Ok(FileReadOutcome::Whole(bytes)) => bytes,
            Ok(FileReadOutcome::Changed) => continue,
            Ok(FileReadOutcome::NoFile) => {
                return Err(problem("this is neither a file nor a directory".to_owned(), None));
            }
            Ok(FileReadOutcome::TooLarge) => {
                let hint = Some("split the configuration into several files");
                return Err(problem(
                    format!("too large: at most {} MiB are read", FILE_BYTES_MAX >> 20),
                    hint,
                ));
            }
            Err(error) => return Err(problem(format!("can't read this file: {error}"), None)),
        };
        if bytes.is_empty() {
            return Err(problem("this file is empty".to_owned(), None));
        }
        *bytes_left = match bytes_left.checked_sub(bytes.len() as u64) {
            Some(left) => left,
            None => return Err(problem("with this file the configuration is too large".to_owned(), None)),
        };
        return into_text(&name, bytes);
    }
    let hint = Some("write to another file and rename it over this one");
    Err(problem("this file keeps changing while it is read".to_owned(), hint))
}

/// Outcome of one attempt to read a file.
enum FileReadOutcome {
    Whole(Vec<u8>),
    /// The file was written to or replaced meanwhile.
    Changed,
    /// A pipe, a device or the like.
    NoFile,
    TooLarge,
}

fn read_once(path: &Path) -> io::Result<FileReadOutcome> {
    // Checked before opening, because opening a pipe may block.
    let before = fs::metadata(path)?;
    if !before.is_file() {
        return Ok(FileReadOutcome::NoFile);
    }
    if before.len() > FILE_BYTES_MAX {
        return Ok(FileReadOutcome::TooLarge);
    }
    let file = File::open(path)?;
    let opened = Stamp::of(&file.metadata()?);
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let after = fs::metadata(path)?;
    let is_same = Stamp::of(&before) == opened && opened == Stamp::of(&after);
    if is_same && bytes.len() as u64 == after.len() {
        Ok(FileReadOutcome::Whole(bytes))
    } else {
        Ok(FileReadOutcome::Changed)
    }
}

fn into_text(name: &str, bytes: Vec<u8>) -> Result<SourceText, Problem> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(SourceText { path: name.into(), text: text.into(), is_included: false }),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before =
                String::from_utf8_lossy(error.as_bytes().get(..valid).unwrap_or_default()).into_owned();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let hint = Some("save the file as UTF-8".to_owned());
            Err(Problem {
                line: count(before.matches('\n').count() + 1),
                column: count(before[line_start..].chars().count() + 1),
                length: 1,
                ..Problem::of_file(name, "this is not UTF-8".to_owned(), hint)
            })
        }
    }
}

/// Maximum size of a file, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Maximum attempts to read a file that keeps changing.
const ATTEMPTS_MAX: usize = 3;

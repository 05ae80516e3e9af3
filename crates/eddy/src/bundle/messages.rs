//! Converts messages of the Go command and of compilers to problems in the user's files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use eddy_spec::problem::{Problem, Severity, SourceText};
use serde::Deserialize;

use super::failure::BundleFailure;

/// Parses messages with paths relative to `folder`, which also contains the generated files.
pub(super) fn failure_of(text: &str, folder: &Path) -> BundleFailure {
    let copies = copies_in(folder);
    let mut found =
        GoDiagnostics { folder, copies, problems: Vec::new(), sources: BTreeMap::new(), rest: Vec::new() };
    text.lines().for_each(|line| found.add(line));
    found.finish()
}

struct GoDiagnostics<'a> {
    folder: &'a Path,
    /// Copies that were compiled instead of the original files; both have the same lines.
    copies: BTreeMap<PathBuf, PathBuf>,
    problems: Vec<Problem>,
    sources: BTreeMap<PathBuf, SourceText>,
    /// Messages without a position.
    rest: Vec<&'a str>,
}

/// `PATH:LINE:COLUMN: MESSAGE`; compilers sometimes omit the column.
struct LocatedMessage<'a> {
    path: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
}

impl<'a> GoDiagnostics<'a> {
    fn add(&mut self, line: &'a str) {
        let is_more = line.starts_with('\t');
        if let Some(last) = self.problems.last_mut().filter(|_| is_more) {
            last.message = format!("{}; {}", last.message, line.trim());
            return;
        }
        // Headings with the package of the next lines, and notes that further messages were omitted.
        if line.trim().is_empty() || line.starts_with("# ") || line.ends_with("too many errors") {
            return;
        }
        match LocatedMessage::parse(line) {
            Some(placed) => self.add_located_message(&placed),
            None => self.rest.push(line.trim()),
        }
    }

    fn add_located_message(&mut self, placed: &LocatedMessage<'a>) {
        let path = normal(&self.folder.join(placed.path));
        let path = self.copies.get(&path).cloned().unwrap_or(path);
        let hint = hint_of(placed.message);
        let is_generated = path.parent() == Some(self.folder);
        if is_generated {
            // Users cannot fix generated files.
            self.rest.push(placed.message);
            return;
        }
        if self.problems.len() >= PROBLEMS_MAX {
            return;
        }
        let source = self.sources.entry(path).or_insert_with_key(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            SourceText::new(&shown(path), &text)
        });
        let written = source.text.lines().nth(placed.line.saturating_sub(1) as usize).unwrap_or_default();
        // Compilers count columns in bytes.
        let before = written.get(..placed.column.saturating_sub(1) as usize);
        let column = before.and_then(|before| u32::try_from(before.chars().count() + 1).ok());
        let problem = Problem {
            path: source.path.clone(),
            line: placed.line,
            column: column.unwrap_or(placed.column),
            length: 1,
            severity: Severity::Error,
            message: placed.message.to_owned(),
            hint,
            count: 1,
        };
        // The same message may come from the package and from its test.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn finish(self) -> BundleFailure {
        if self.problems.is_empty() {
            let text = self.rest.iter().take(LINES_MAX).copied().collect::<Vec<_>>().join("\n");
            let hint = hint_of(&text);
            let message =
                if text.is_empty() { "the Go command failed without a message".to_owned() } else { text };
            return BundleFailure::Other { message, hint };
        }
        BundleFailure::Code { problems: self.problems, sources: self.sources.into_values().collect() }
    }
}

impl<'a> LocatedMessage<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.strip_prefix("vet: ").unwrap_or(line);
        let (path, rest) = SUFFIXES.iter().find_map(|suffix| {
            let end = line.find(&format!("{suffix}:"))? + suffix.len();
            Some((line.get(..end)?, line.get(end + 1..)?))
        })?;
        let (number, rest) = rest.split_once(':')?;
        let number = number.parse().ok()?;
        if let Some((column, message)) = rest.split_once(':')
            && let Ok(column) = column.parse()
        {
            return Some(Self { path, line: number, column, message: message.trim() });
        }
        Some(Self { path, line: number, column: 1, message: rest.trim() })
    }
}

/// Returns the originals of copied files from the overlay of a workspace, if it has one.
fn copies_in(folder: &Path) -> BTreeMap<PathBuf, PathBuf> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Overlay {
        replace: BTreeMap<PathBuf, PathBuf>,
    }
    let text = fs::read(folder.join(OVERLAY)).unwrap_or_default();
    let overlay: Overlay = serde_json::from_slice(&text).unwrap_or_default();
    overlay.replace.into_iter().map(|(original, copy)| (copy, original)).collect()
}

/// Returns advice for messages that have none, or whose own advice does not fit.
fn hint_of(message: &str) -> Option<String> {
    let hint = if message.contains("C compiler") && message.contains("not found") {
        "Go libraries need a C compiler: install gcc, or set the variable CC to another compiler"
    } else if message.contains("no required module provides package")
        || message.contains("cannot find module providing package")
        || message.contains("missing go.sum entry")
    {
        "run `go mod tidy` in the folder of the filter's go.mod, with network access"
    } else if message.contains("use of internal package") {
        "generated code imports the packages of filters, so they cannot be in a folder `internal`"
    } else if message.contains("module lookup disabled") || message.contains("dial tcp") {
        "Go must fetch a module: run `go mod download` with network access, or set GOPROXY"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// Removes `..` components; the paths contain no symbolic links that were followed.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            out.pop();
        } else {
            out.push(component);
        }
    }
    out
}

/// Returns the path relative to the current folder, if it is below it.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    short.unwrap_or(path).display().to_string()
}

const SUFFIXES: [&str; 8] = [".go", ".c", ".h", ".s", ".S", ".cc", ".cpp", ".mod"];
const PROBLEMS_MAX: usize = 20;
const LINES_MAX: usize = 12;

/// Overlay file, which maps original files to the copies that Go compiles instead.
pub(super) const OVERLAY: &str = "overlay/overlay.json";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = match failure_of(text, Path::new("/work")) {
            BundleFailure::Code { problems, .. } => problems.iter().map(ToString::to_string).collect(),
            BundleFailure::Other { message, hint } => [Some(message), hint].into_iter().flatten().collect(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn compiler_messages_are_reported_with_their_positions() {
        check(
            "# example.com/a\n../a/x.go:3:5: undefined: y\n../a/x.go:9:1: cannot use f\n\thave g\n\twant h\n../a/x.go:9:1: too many errors\n",
            &["/a/x.go:3:5: error: undefined: y", "/a/x.go:9:1: error: cannot use f; have g; want h"],
        );
        check("# a\n/a/b.c:7: warning", &["/a/b.c:7:1: error: warning"]);
        check(
            "main.go:4:2: no required module provides package example.com/b; to add it:\n",
            &[
                "no required module provides package example.com/b; to add it:",
                "run `go mod tidy` in the folder of the filter's go.mod, with network access",
            ],
        );
        check("go: all is lost\n\n", &["go: all is lost"]);
        check("", &["the Go command failed without a message"]);
    }
}

//! Golden files: a configuration, a line of dashes, and the expected problems; `UPDATE=1` rewrites them.
//!
//! Several files of one configuration are separated by lines `=== NAME`.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use eddy_dialects::check;
use eddy_spec::problem::{Colour, SourceText, render};

const LINE: &str = "----------\n";

#[test]
fn problems_match_the_golden_files() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let wrong: Vec<String> = paths.iter().filter_map(|path| compare(path)).collect();
    assert!(paths.len() > 20, "the golden files are there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let (input, expected) = text.split_once(LINE).unwrap_or((&text, ""));
    let said = say(&sources(input));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, format!("{input}{LINE}{said}")).unwrap();
        return None;
    }
    (said != expected).then(|| format!("{}\nexpected:\n{expected}\nsaid:\n{said}", path.display()))
}

fn sources(input: &str) -> Vec<SourceText> {
    let mut sources = vec![("eddy.yaml".to_owned(), String::new())];
    for line in input.split_inclusive('\n') {
        match line.trim_end().strip_prefix("=== ") {
            Some(name) => sources.push((name.to_owned(), String::new())),
            None => sources.last_mut().unwrap().1.push_str(line),
        }
    }
    sources.retain(|(name, text)| name != "eddy.yaml" || !text.is_empty());
    sources.iter().map(|(name, text)| SourceText::new(name, text)).collect()
}

fn say(sources: &[SourceText]) -> String {
    match check(sources) {
        Ok(checked) => format!("accepted\n\n{}", render(&checked.warnings, sources, Colour::Never)),
        Err(problems) => render(&problems, sources, Colour::Never),
    }
}

//! Documents and comments use plain words; `STYLE.md` has the rules.

use std::collections::BTreeSet;

use super::Problem;
use super::documents::prose;
use super::source::RustSources;
use crate::tree::SourceTree;

/// Every phrase that readers stumbled over, every doc comment that begins with a question word, and every line of a
/// document that is too wide.
pub(super) fn check(tree: &SourceTree, sources: &RustSources<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.with_extension("md").filter(|(path, _)| !is_generated(path)) {
        let generated = generated_lines(text);
        for (line, prose) in prose(text).into_iter().filter(|(line, _)| !generated.contains(line)) {
            let wide = text.lines().nth(line - 1).filter(|line| is_too_wide(line));
            let wide = wide.map(|_| format!("wrap lines of documents at {COLUMNS_MAX} columns"));
            problems.extend(
                wide.into_iter().chain(judge(&prose)).map(|message| Problem::at(path, line, message)),
            );
        }
    }
    for source in sources.iter() {
        for (line, message) in comments(source.text) {
            problems.push(Problem::at(source.path, line, message));
        }
    }
    problems
}

/// What is wrong in the comments of a Rust file, with its lines.
fn comments(text: &str) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    let mut before = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let marker = DOC_MARKERS.into_iter().find(|marker| line.starts_with(marker));
        let doc = marker.and_then(|marker| line.strip_prefix(marker));
        if let Some(begin) = doc.filter(|_| marker != before).and_then(begin) {
            let message = format!(
                "a doc comment does not begin with `{begin}`: a noun phrase for data, a verb for a function"
            );
            problems.push((index + 1, message));
        }
        before = marker;
        if let Some(comment) = line.strip_prefix("//") {
            problems.extend(judge(comment).map(|message| (index + 1, message)));
        }
    }
    problems
}

/// The beginning that a doc comment may not have, if it has one.
fn begin(doc: &str) -> Option<&'static str> {
    let rest = |begin: &str| doc.trim_start().strip_prefix(begin);
    BEGINNINGS.into_iter().find(|begin| {
        rest(begin).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

fn judge(prose: &str) -> Option<String> {
    let lower = prose.to_lowercase();
    let (phrase, better) = PHRASES.into_iter().find(|(phrase, _)| has_words(&lower, phrase))?;
    Some(format!("`{phrase}` is private English: {better}"))
}

/// Whether `text` holds `phrase` as whole words.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(phrase).any(|(start, _)| {
        let (before, after) = (text.get(..start), text.get(start + phrase.len()..));
        is_edge(before.and_then(|text| text.chars().next_back()))
            && is_edge(after.and_then(|text| text.chars().next()))
    })
}

/// Whether a line of a document is wider than it may be and could be wrapped: it is no table, and has a space to wrap at.
fn is_too_wide(line: &str) -> bool {
    let line = line.trim_start();
    let first_columns = line.chars().take(COLUMNS_MAX + 1);
    line.chars().count() > COLUMNS_MAX && !line.starts_with('|') && first_columns.skip(2).any(|c| c == ' ')
}

/// The lines between `<!-- name:start -->` and `<!-- name:end -->`, which a program writes.
fn generated_lines(text: &str) -> BTreeSet<usize> {
    let mut is_generated = false;
    let mut lines = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            is_generated = name.ends_with(":start");
        } else if is_generated {
            lines.insert(index + 1);
        }
    }
    lines
}

/// Whether a page is written by a program.
fn is_generated(path: &str) -> bool {
    GENERATED.into_iter().any(|folder| path.starts_with(folder))
}

const COLUMNS_MAX: usize = 120;
const GENERATED: [&str; 2] = ["docs/reference/", "bench/results/"];
const DOC_MARKERS: [&str; 2] = ["///", "//!"];
const BEGINNINGS: [&str; 6] = ["What", "How", "Its", "Who", "The same", "And"];
/// Phrases, in lower case, and what to write instead.
const PHRASES: [(&str, &str); 18] = [
    ("whoever", "name the component"),
    ("unwell", "write `unhealthy`"),
    ("takes its leave", "write `sends GOAWAY` or `closes`"),
    ("taken its leave", "write `sent GOAWAY` or `closed`"),
    ("comes of it", "name the result"),
    ("becomes of", "name the result"),
    ("became of", "name the result"),
    ("came of", "name the result"),
    ("is told", "name who receives which message"),
    ("are told", "name who receives which message"),
    ("was told", "name who receives which message"),
    ("nobody", "write `no client`, `no task` or the like"),
    ("somebody", "write `a client`, `a task` or the like"),
    ("lies in", "write `is in`"),
    ("lies below", "write `is below`"),
    ("let be", "write `left unchanged` or `ignored`"),
    ("what there is", "name it"),
    ("the way of a request", "write `the request path`"),
];

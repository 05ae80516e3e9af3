//! Rule: links in documents have an existing target.

use super::Problem;
use crate::tree::{SourceTree, join};

/// Reports every link of a document to a file or heading that doesn't exist.
pub(super) fn check(tree: &SourceTree) -> Vec<Problem> {
    let mut problems = Vec::new();
    // A Markdown file in a crate's sources is part of a page that is published elsewhere, where its links are checked.
    for (path, text) in tree.with_extension("md").filter(|(path, _)| !path.contains("/src/")) {
        for (line, target) in links(text) {
            if let Some(message) = judge(tree, path, text, &target) {
                problems.push(Problem::at(path, line, message));
            }
        }
    }
    problems
}

fn judge(tree: &SourceTree, path: &str, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) =
        target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let found = if file.is_empty() { path.to_owned() } else { join(folder, file) };
    if !tree.has(&found) {
        return Some(format!("broken link `{target}`: `{found}` does not exist"));
    }
    let heading = heading?;
    let headings_text = if file.is_empty() { text } else { tree.text(&found)? };
    let is_there = !found.ends_with(".md") || headings(headings_text).iter().any(|known| known == heading);
    (!is_there).then(|| format!("broken link `{target}`: `{found}` has no such heading"))
}

/// Returns the targets of links and images outside code, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        for opening in ["](", "src=\"", "href=\""] {
            let closing = if opening == "](" { ')' } else { '"' };
            for rest in prose.split(opening).skip(1) {
                if let Some((target, _)) = rest.split_once(closing) {
                    let target = target.split_whitespace().next().unwrap_or_default();
                    found.push((line, target.to_owned()));
                }
            }
        }
    }
    found
}

/// Returns the lines outside fenced code, with inline code blanked.
pub(super) fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let outside = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
            lines.push((index + 1, outside));
        }
    }
    lines
}

/// Returns the link anchors of the headings of a document.
fn headings(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let title = line.trim_start_matches('#');
        if is_code || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let name: String = title.trim().to_lowercase().chars().filter_map(name_char).collect();
        let earlier = names.iter().filter(|known| **known == name).count();
        names.push(if earlier == 0 { name } else { format!("{name}-{earlier}") });
    }
    names
}

fn name_char(c: char) -> Option<char> {
    match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    }
}

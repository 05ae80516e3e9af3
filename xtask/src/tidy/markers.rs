//! Rule: each unfinished-work marker names an issue.

use super::Problem;
use crate::tree::SourceTree;

/// Reports every unfinished-work marker that doesn't name its issue.
pub(super) fn check(tree: &SourceTree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.iter() {
        if !EXTENSIONS.iter().any(|ext| path.ends_with(ext)) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if let Some(message) = judge(line) {
                problems.push(Problem::at(path, index + 1, message));
            }
        }
    }
    problems
}

fn judge(line: &str) -> Option<String> {
    let words = || line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    if let Some(word) = words().find(|word| FORBIDDEN.contains(word)) {
        return Some(format!("`{word}` is not used: finish it, or write `{MARK}(#123):` with its issue"));
    }
    if words().any(|word| word == MARK) && !has_issue(line) {
        return Some(format!("unfinished work must name its issue: `{MARK}(#123):`"));
    }
    None
}

/// Whether every marker in the line is followed by an issue number.
fn has_issue(line: &str) -> bool {
    line.split(MARK).skip(1).all(|rest| {
        rest.strip_prefix("(#")
            .and_then(|rest| rest.split_once("):"))
            .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

// Split in two, so that the rule does not match these lines.
const MARK: &str = concat!("TO", "DO");
const FORBIDDEN: [&str; 3] = [concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const EXTENSIONS: [&str; 8] = [".rs", ".toml", ".yaml", ".yml", ".sh", ".go", ".lua", ".py"];

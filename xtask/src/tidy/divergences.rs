//! Rule: the lists of deliberate differences to other proxies are short, and each difference has a test.

use std::collections::BTreeSet;

use super::Problem;
use super::source::RustSources;
use crate::tree::SourceTree;

/// Reports every list that is too long and every difference without an existing test.
pub(super) fn check(tree: &SourceTree, sources: &RustSources<'_>) -> Vec<Problem> {
    let Some(text) = tree.text(PAGE) else { return Vec::new() };
    let tests = tests(sources);
    let mut problems = Vec::new();
    // Number of table lines above this one; the first two are the header and the separator.
    let mut above = 0;
    for (index, line) in text.lines().enumerate() {
        if !line.starts_with('|') {
            above = 0;
            continue;
        }
        let last = last_cell(line);
        let found = match above {
            0 => (last != "test")
                .then(|| "the last column of a list must name the test of each row".to_owned()),
            1 => None,
            _ if above == ROWS_MAX + 2 => Some(format!(
                "a list has at most {ROWS_MAX} rows: adopt the original's behaviour, or merge rows"
            )),
            _ => judge(last, &tests),
        };
        problems.extend(found.map(|message| Problem::at(PAGE, index + 1, message)));
        above += 1;
    }
    problems
}

fn judge(cell: &str, tests: &BTreeSet<String>) -> Option<String> {
    let mut named = cell.split('`').skip(1).step_by(2).peekable();
    if named.peek().is_none() {
        return Some("this difference names no test".to_owned());
    }
    let missing = named.find(|name| !tests.contains(*name))?;
    Some(format!("test `{missing}` does not exist"))
}

/// Returns the last cell of a table row; a bar after a `\` is part of the cell.
fn last_cell(line: &str) -> &str {
    let row = line.trim_end().trim_end_matches('|');
    let mut bars = row.rmatch_indices('|').filter(|(at, _)| !row[..*at].ends_with('\\'));
    bars.next().map_or(row, |(at, _)| &row[at + 1..]).trim()
}

/// Returns the names of all tests.
fn tests(sources: &RustSources<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources.iter() {
        gather(&source.syntax.items, &mut names);
    }
    names
}

fn gather(items: &[syn::Item], names: &mut BTreeSet<String>) {
    for item in items {
        if let syn::Item::Fn(function) = item
            && function.attrs.iter().any(is_test)
        {
            names.insert(function.sig.ident.to_string());
        }
        if let syn::Item::Mod(module) = item {
            let inner = module.content.as_ref().map(|(_, items)| items.as_slice());
            gather(inner.unwrap_or_default(), names);
        }
    }
}

/// Whether an attribute is `test`, of any test framework.
fn is_test(attribute: &syn::Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "test")
}

const PAGE: &str = "docs/reference/divergences.md";

/// Maximum rows of a list; there is one list per dialect.
const ROWS_MAX: usize = 15;

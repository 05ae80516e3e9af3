//! Rule: every example is run by a test.

use std::collections::BTreeSet;

use super::Problem;
use super::source::RustSources;
use crate::tree::SourceTree;

/// Reports every example that no test mentions.
pub(super) fn check(tree: &SourceTree, sources: &RustSources<'_>) -> Vec<Problem> {
    let below = tree.iter().filter_map(|(path, _)| path.strip_prefix("examples/"));
    let examples: BTreeSet<&str> = below.filter_map(|path| path.split('/').next()).collect();
    let mentions = |example: &str| {
        let (path, name) = (format!("examples/{example}"), format!("\"{example}\""));
        sources
            .iter()
            .any(|source| source.is_test() && (source.text.contains(&path) || source.text.contains(&name)))
    };
    let unused = examples.into_iter().filter(|example| *example != "README.md" && !mentions(example));
    unused
        .map(|example| {
            let path = format!("examples/{example}");
            Problem::of(&path, format!("no test mentions `{path}`: examples without a test become outdated"))
        })
        .collect()
}

//! Runs all rules in order.

use super::source::RustSources;
use super::{
    Problem, cycles, divergences, documents, edges, examples, files, literals, markers, modules, names,
    purity, reference, references, sizes, unsafety, words,
};
use crate::docs::Page;
use crate::metadata::Workspace;
use crate::tree::SourceTree;

/// Returns every problem of the tree, sorted by path; `pages` are those generated from the code.
pub fn check(tree: &SourceTree, workspace: &Workspace, pages: &[Page]) -> Vec<Problem> {
    let (sources, mut problems) = RustSources::parse(tree);
    problems.extend(edges::check(workspace));
    problems.extend(cycles::check(&sources, workspace));
    problems.extend(purity::check(&sources, workspace));
    problems.extend(references::check(&sources, workspace));
    problems.extend(unsafety::check(&sources, workspace));
    problems.extend(sizes::check(&sources));
    problems.extend(modules::check(&sources));
    problems.extend(names::check(&sources));
    problems.extend(literals::check(&sources, workspace));
    problems.extend(words::check(tree, &sources));
    problems.extend(files::check(tree, &sources, workspace));
    problems.extend(markers::check(tree));
    problems.extend(documents::check(tree));
    problems.extend(divergences::check(tree, &sources));
    problems.extend(examples::check(tree, &sources));
    problems.extend(reference::check(tree, pages));
    problems.sort();
    problems.dedup();
    problems
}

//! Rule: every Rust file is part of a target.

use std::collections::BTreeSet;

use super::Problem;
use super::source::{RustSource, RustSources};
use crate::metadata::Workspace;
use crate::tree::{SourceTree, join};

/// Reports every Rust file that no `mod` reaches and every manifest that doesn't inherit the workspace's lints.
pub(super) fn check(tree: &SourceTree, sources: &RustSources<'_>, workspace: &Workspace) -> Vec<Problem> {
    let mut reached = BTreeSet::new();
    for root in workspace.packages.iter().flat_map(|package| &package.roots) {
        if let Some(source) = sources.get(&root.path) {
            let folder = root.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            reached.insert(root.path.clone());
            reach(sources, &source.syntax.items, root.path.as_str(), folder, &mut reached);
        }
    }
    let dead = sources.iter().filter(|source| !reached.contains(source.path));
    let dead = dead
        .map(|source| Problem::of(source.path, "no `mod` leads to this file: add one, or remove the file"));
    let unlinted = workspace.packages.iter().filter(|package| {
        package.manifest.starts_with("crates/")
            && !tree.text(&package.manifest).is_some_and(|text| text.contains("[lints]\nworkspace = true"))
    });
    let unlinted = unlinted
        .map(|package| Problem::of(&package.manifest, "a crate must have `[lints] workspace = true`"));
    dead.chain(unlinted).collect()
}

/// Follows the `mod` lines of the file at `path`, whose children are in `folder`.
fn reach(
    sources: &RustSources<'_>,
    items: &[syn::Item],
    path: &str,
    folder: &str,
    reached: &mut BTreeSet<String>,
) {
    for item in items {
        let syn::Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        if let Some((_, inner)) = &module.content {
            reach(sources, inner, path, &join(folder, &name), reached);
            continue;
        }
        let found = match path_attribute(&module.attrs) {
            Some(written) => sources.get(&join(path.rsplit_once('/').map_or("", |(own, _)| own), &written)),
            None => find(sources, folder, &name),
        };
        if let Some(source) = found
            && reached.insert(source.path.to_owned())
        {
            reach(sources, &source.syntax.items, source.path, &children_folder(source), reached);
        }
    }
}

fn find<'s, 't>(sources: &'s RustSources<'t>, folder: &str, name: &str) -> Option<&'s RustSource<'t>> {
    let beside = join(folder, &format!("{name}.rs"));
    sources.get(&beside).or_else(|| sources.get(&join(folder, &format!("{name}/mod.rs"))))
}

/// Returns the folder of a file's modules: that of `mod.rs`, else a folder named like the file.
fn children_folder(source: &RustSource<'_>) -> String {
    let path = source.path.trim_end_matches(".rs");
    path.strip_suffix("/mod").unwrap_or(path).to_owned()
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find(|attribute| attribute.path().is_ident("path")).and_then(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(literal) = &pair.value else { return None };
        let syn::Lit::Str(text) = &literal.lit else { return None };
        Some(text.value())
    })
}

//! Rule: module names are specific, each module starts with a summary, and `mod.rs` has no logic.

use super::Problem;
use super::source::{RustSource, RustSources, line};

/// Reports every module with a vague name, a `mod.rs` with logic, or no summary line.
pub(super) fn check(sources: &RustSources<'_>) -> Vec<Problem> {
    sources
        .iter()
        .flat_map(|source| [check_name(source), check_contents(source), check_first_line(source)].concat())
        .collect()
}

fn check_name(source: &RustSource<'_>) -> Vec<Problem> {
    let parts = source.path.trim_end_matches(".rs").split('/');
    let vague = parts
        .filter(|part| VAGUE.contains(part) || VAGUE.iter().any(|word| part.ends_with(&format!("-{word}"))));
    let mut problems: Vec<Problem> =
        vague.map(|part| Problem::of(source.path, vague_message(part))).collect();
    for item in &source.syntax.items {
        if let syn::Item::Mod(module) = item
            && module.content.is_some()
            && VAGUE.contains(&module.ident.to_string().as_str())
        {
            problems.push(Problem::at(source.path, line(item), vague_message(&module.ident.to_string())));
        }
    }
    problems
}

fn vague_message(name: &str) -> String {
    format!("`{name}` says nothing about what the module owns; name it after its subject")
}

fn check_contents(source: &RustSource<'_>) -> Vec<Problem> {
    // Below `tests/` a `mod.rs` lets targets share code without becoming a target.
    if source.is_test() || !source.path.ends_with("/mod.rs") {
        return Vec::new();
    }
    let logic = source.syntax.items.iter().filter(|item| !is_contents(item));
    logic.map(|item| Problem::at(source.path, line(item), "`mod.rs` may only have `mod` and `use`")).collect()
}

fn is_contents(item: &syn::Item) -> bool {
    let is_list = matches!(item, syn::Item::Mod(module) if module.content.is_none());
    is_list || matches!(item, syn::Item::Use(_))
}

fn check_first_line(source: &RustSource<'_>) -> Vec<Problem> {
    let is_said = source.syntax.attrs.iter().any(|attribute| {
        attribute.path().is_ident("doc") && matches!(attribute.style, syn::AttrStyle::Inner(_))
    });
    if is_said || source.is_test() {
        return Vec::new();
    }
    vec![Problem::at(source.path, 1, "a file must begin with `//!` and a sentence on its content")]
}

const VAGUE: [&str; 8] = ["util", "utils", "common", "core", "misc", "helper", "helpers", "manager"];

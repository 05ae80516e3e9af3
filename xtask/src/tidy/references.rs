//! Rule: configurations refer to their parts with `Shared`, whose clones tests count.

use syn::visit::{self, Visit};

use super::Problem;
use super::source::{RustSource, RustSources, is_for_tests, line};
use crate::metadata::Workspace;

/// Reports every plain `Arc` in the crates that configurations and rules consist of.
pub(super) fn check(sources: &RustSources<'_>, workspace: &Workspace) -> Vec<Problem> {
    let counted = workspace.packages.iter().filter(|package| COUNTED.contains(&package.name.as_str()));
    counted
        .flat_map(|package| {
            let folder = format!("{}src/", package.manifest.trim_end_matches("Cargo.toml"));
            let files = sources.iter().filter(move |source| source.path.starts_with(&folder));
            files.filter(|source| !source.is_test() && !is_excepted(source.path)).flat_map(check_source)
        })
        .collect()
}

fn is_excepted(path: &str) -> bool {
    EXCEPTED.iter().any(|(excepted, _)| *excepted == path)
}

fn check_source(source: &RustSource<'_>) -> Vec<Problem> {
    let mut finder = ArcVisitor { path: source.path, problems: Vec::new() };
    finder.visit_file(&source.syntax);
    finder.problems
}

struct ArcVisitor<'s> {
    path: &'s str,
    problems: Vec<Problem>,
}

impl<'ast> Visit<'ast> for ArcVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_ident(&mut self, name: &'ast proc_macro2::Ident) {
        if name == "Arc" {
            let message = "refer to parts of a configuration with `eddy_ids::Shared`: tests count its clones";
            self.problems.push(Problem::at(self.path, line(name), message.to_owned()));
        }
    }
}

const COUNTED: [&str; 7] =
    ["eddy-model", "eddy-config", "eddy-route", "eddy-spec", "eddy-check", "eddy-dialects", "eddy-convert"];
/// Files that may use plain references, with the reason.
const EXCEPTED: [(&str, &str); 3] = [
    ("crates/eddy-check/src/builtin.rs", "makes configurations of filters, which count for themselves"),
    ("crates/eddy-check/src/context.rs", "makes configurations of filters, which count for themselves"),
    ("crates/eddy-check/src/messages.rs", "makes configurations of filters, which count for themselves"),
];

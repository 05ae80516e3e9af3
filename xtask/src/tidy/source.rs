//! Rust files, parsed once for all rules.

use std::collections::BTreeMap;

use syn::spanned::Spanned;

use super::Problem;
use crate::tree::SourceTree;

/// The Rust files of the tree.
pub(super) struct RustSources<'t> {
    files: BTreeMap<&'t str, RustSource<'t>>,
}

/// One Rust file.
pub(super) struct RustSource<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
    pub(super) syntax: syn::File,
}

impl<'t> RustSources<'t> {
    /// Parses every Rust file; a file that is not valid Rust is a problem.
    pub(super) fn parse(tree: &'t SourceTree) -> (Self, Vec<Problem>) {
        let mut files = BTreeMap::new();
        let mut problems = Vec::new();
        for (path, text) in tree.with_extension("rs") {
            match syn::parse_file(text) {
                Ok(syntax) => {
                    files.insert(path, RustSource { path, text, syntax });
                }
                Err(error) => problems.push(Problem::at(path, error.span().start().line, error.to_string())),
            }
        }
        (Self { files }, problems)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &RustSource<'t>> {
        self.files.values()
    }

    pub(super) fn get(&self, path: &str) -> Option<&RustSource<'t>> {
        self.files.get(path)
    }
}

impl RustSource<'_> {
    /// Whether the file holds tests or benches, so that rules for product code don't apply.
    pub(super) fn is_test(&self) -> bool {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", self.path));
        folder.split('/').any(|part| TEST_FOLDERS.contains(&part))
            || name == "tests.rs"
            || name.ends_with("_tests.rs")
    }
}

/// Returns the line where a syntax node begins.
pub(super) fn line(of: &impl Spanned) -> usize {
    of.span().start().line
}

/// Whether attributes mark an item as test-only.
pub(super) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test"))
    })
}

const TEST_FOLDERS: [&str; 4] = ["tests", "benches", "fuzz", "examples"];

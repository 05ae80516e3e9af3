//! Rule: `unsafe` is only in the crates that are reviewed for it.

use syn::visit::{self, Visit};

use super::Problem;
use super::source::{RustSource, RustSources, line};
use crate::metadata::{RootKind, Workspace};

/// Reports every `unsafe` where it is not allowed, and every crate that doesn't forbid it.
pub(super) fn check(sources: &RustSources<'_>, workspace: &Workspace) -> Vec<Problem> {
    let outside = sources.iter().filter(|source| !may_be_unsafe(source.path));
    let mut problems: Vec<Problem> = outside.flat_map(check_source).collect();
    // The entry point of a fuzz target is a macro that uses `unsafe` inside.
    let packages = workspace.packages.iter().filter(|package| !package.manifest.starts_with("fuzz/"));
    let roots = packages.flat_map(|package| &package.roots);
    for root in roots.filter(|root| root.kind == RootKind::Product && !may_be_unsafe(&root.path)) {
        if let Some(source) = sources.get(&root.path)
            && !forbids_unsafe(&source.syntax.attrs)
        {
            problems.push(Problem::of(
                &root.path,
                "the first file of a crate must have \
                                                   `#![forbid(unsafe_code)]`",
            ));
        }
    }
    problems
}

fn may_be_unsafe(path: &str) -> bool {
    UNSAFE_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

fn forbids_unsafe(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("forbid")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|lint| lint == "unsafe_code")
    })
}

fn check_source(source: &RustSource<'_>) -> Vec<Problem> {
    let mut finder = UnsafetyVisitor { path: source.path, is_test: source.is_test(), problems: Vec::new() };
    finder.visit_file(&source.syntax);
    finder.problems
}

struct UnsafetyVisitor<'s> {
    path: &'s str,
    is_test: bool,
    problems: Vec<Problem>,
}

impl UnsafetyVisitor<'_> {
    fn found(&mut self, line: usize) {
        let message = format!("`unsafe` is only allowed below {}", UNSAFE_FOLDERS.join(", "));
        self.problems.push(Problem::at(self.path, line, message));
    }
}

impl<'ast> Visit<'ast> for UnsafetyVisitor<'_> {
    fn visit_expr_unsafe(&mut self, item: &'ast syn::ExprUnsafe) {
        self.found(line(item));
        visit::visit_expr_unsafe(self, item);
    }

    fn visit_signature(&mut self, item: &'ast syn::Signature) {
        if item.unsafety.is_some() {
            self.found(line(item));
        }
        visit::visit_signature(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if self.is_test && is_of_allocator(item) {
            return;
        }
        if item.unsafety.is_some() {
            self.found(line(item));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if item.unsafety.is_some() {
            self.found(line(item));
        }
        visit::visit_item_trait(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.found(line(item));
        visit::visit_item_foreign_mod(self, item);
    }

    fn visit_attribute(&mut self, item: &'ast syn::Attribute) {
        if item.path().is_ident("unsafe") {
            self.found(line(item));
        }
    }
}

/// Whether this implements a global allocator, as tests that count allocations do.
fn is_of_allocator(item: &syn::ItemImpl) -> bool {
    let of = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
    of.is_some_and(|segment| segment.ident == "GlobalAlloc")
}

const UNSAFE_FOLDERS: [&str; 7] = [
    "bench/bridge/host/",
    "bench/calls/host/",
    "crates/eddy-io/",
    "crates/eddy-guest/",
    "sdk/rust/",
    "bridge/rust/",
    "bridge/examples/words/",
];

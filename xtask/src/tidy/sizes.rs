//! Rule: files and functions are short.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Problem;
use super::source::{RustSource, RustSources, is_for_tests, line};

/// Reports every file and function that is too long; tests may be longer.
pub(super) fn check(sources: &RustSources<'_>) -> Vec<Problem> {
    sources.iter().filter(|source| !source.is_test()).flat_map(check_source).collect()
}

fn check_source(source: &RustSource<'_>) -> Vec<Problem> {
    let mut finder = SizeVisitor { path: source.path, test_lines: 0, problems: Vec::new() };
    finder.visit_file(&source.syntax);
    let lines = source.text.lines().count() - finder.test_lines;
    let allowed =
        RATCHET.iter().find(|(path, _)| *path == source.path).map_or(FILE_LINES_MAX, |(_, lines)| *lines);
    if lines > allowed {
        let message =
            format!("{lines} lines without tests, more than {allowed}: split it by the state it owns");
        finder.problems.push(Problem::of(source.path, message));
    }
    finder.problems
}

struct SizeVisitor<'s> {
    path: &'s str,
    test_lines: usize,
    problems: Vec<Problem>,
}

impl SizeVisitor<'_> {
    fn judge(&mut self, name: &syn::Ident, whole: &impl Spanned) {
        let lines = lines(whole);
        if lines > FUNCTION_LINES_MAX {
            let message = format!(
                "function `{name}` has {lines} lines, more than {FUNCTION_LINES_MAX}: decide in the parent, compute in leaves"
            );
            self.problems.push(Problem::at(self.path, line(name), message));
        }
    }
}

impl<'ast> Visit<'ast> for SizeVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_for_tests(&item.attrs) {
            self.test_lines += lines(item);
        } else {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.judge(&item.sig.ident, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.judge(&item.sig.ident, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.judge(&item.sig.ident, item);
        visit::visit_trait_item_fn(self, item);
    }
}

fn lines(of: &impl Spanned) -> usize {
    let span = of.span();
    span.end().line - span.start().line + 1
}

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 100;
/// Longer files from before the rule, with their length then; entries shrink and go, none is added.
const RATCHET: [(&str, usize); 0] = [];

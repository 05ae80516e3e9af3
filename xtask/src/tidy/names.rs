//! Rule: a type name has one meaning.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::Problem;
use super::source::{RustSources, line};

/// Reports every type whose name is defined more than [`DEFINITIONS_MAX`] times in the workspace.
pub(super) fn check(sources: &RustSources<'_>) -> Vec<Problem> {
    let mut finder = Finder { path: "", definitions: BTreeMap::new() };
    for source in sources.iter() {
        finder.path = source.path;
        finder.visit_file(&source.syntax);
    }
    let too_many = finder.definitions.iter().filter(|(_, places)| places.len() > DEFINITIONS_MAX);
    too_many.flat_map(|(name, places)| places.iter().map(|place| judge(name, *place, places.len()))).collect()
}

fn judge(name: &str, (path, line): (&str, usize), count: usize) -> Problem {
    let message = format!(
        "the type name `{name}` is defined {count} times, more than {DEFINITIONS_MAX}: name what this one holds"
    );
    Problem::at(path, line, message)
}

struct Finder<'s> {
    path: &'s str,
    /// Files and lines of the definitions, by name.
    definitions: BTreeMap<String, Vec<(&'s str, usize)>>,
}

impl Finder<'_> {
    fn add(&mut self, name: &syn::Ident) {
        self.definitions.entry(name.to_string()).or_default().push((self.path, line(name)));
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.add(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident);
        visit::visit_item_trait(self, item);
    }
}

const DEFINITIONS_MAX: usize = 2;

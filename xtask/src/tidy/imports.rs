//! Imports between the file modules of a crate, each resolved to the file that defines the imported item.
//!
//! A module is a file. Re-exports are followed, so an item that a `mod.rs` re-exports counts as imported from the file
//! that defines it, and a `mod.rs`, which has no logic, imports nothing. Tests do not count.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::source::{RustSource, RustSources, is_for_tests, line};

/// Modules of a crate and their imports.
pub(super) struct ModuleGraph<'s> {
    /// Modules by path; the path of the crate's root is empty.
    pub(super) modules: BTreeMap<Vec<String>, FileModule<'s>>,
}

/// File of a crate.
pub(super) struct FileModule<'s> {
    pub(super) source: &'s RustSource<'s>,
    /// Imported modules, with the first import of each.
    pub(super) imports: BTreeMap<Vec<String>, ModuleImport>,
}

/// Import of an item of another module.
#[derive(Clone)]
pub(super) struct ModuleImport {
    pub(super) line: usize,
    /// The path as written.
    pub(super) written: String,
}

impl<'s> ModuleGraph<'s> {
    /// Reads the modules below `folder`, which is a crate's `src/`.
    pub(super) fn read(sources: &'s RustSources<'s>, folder: &str) -> Self {
        let files = CrateFiles::read(sources, folder);
        let imports = files.scopes.keys().map(|path| (path.clone(), files.imports(path)));
        let modules = imports.map(|(path, imports)| {
            let source = files.scopes[&path].source;
            (path, FileModule { source, imports })
        });
        Self { modules: modules.collect() }
    }
}

/// Returns the name of a module as in code: `crate::exchange::run`.
pub(super) fn name(module: &[String]) -> String {
    let mut name = "crate".to_owned();
    module.iter().for_each(|part| {
        name.push_str("::");
        name.push_str(part);
    });
    name
}

/// Files of a crate with the names that each one defines.
struct CrateFiles<'s> {
    scopes: BTreeMap<Vec<String>, FileScope<'s>>,
}

/// Names of a file.
struct FileScope<'s> {
    source: &'s RustSource<'s>,
    /// Items that it defines.
    items: HashSet<String>,
    /// Names that it imports, with their paths as written.
    aliases: HashMap<String, Vec<String>>,
    /// Modules of which it imports every name.
    globs: Vec<Vec<String>>,
}

impl<'s> CrateFiles<'s> {
    fn read(sources: &'s RustSources<'s>, folder: &str) -> Self {
        let is_library = sources.get(&format!("{folder}lib.rs")).is_some();
        let in_crate = sources.iter().filter(|source| source.path.starts_with(folder) && !source.is_test());
        let mut scopes = BTreeMap::new();
        for source in in_crate {
            let path = source.path[folder.len()..].trim_end_matches(".rs");
            let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            let is_other_root = is_library && path == "main" || parts[0] == "bin";
            if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
                parts.pop();
            }
            if !is_other_root {
                scopes.insert(parts, FileScope::of(source));
            }
        }
        let for_tests: Vec<Vec<String>> = scopes
            .iter()
            .flat_map(|(path, scope)| {
                scope.test_modules().map(move |name| [path.clone(), vec![name]].concat()).collect::<Vec<_>>()
            })
            .collect();
        scopes.retain(|path, _| !for_tests.iter().any(|test| path.starts_with(test)));
        Self { scopes }
    }

    fn imports(&self, module: &[String]) -> BTreeMap<Vec<String>, ModuleImport> {
        let source = self.scopes[module].source;
        if source.path.ends_with("/mod.rs") {
            return BTreeMap::new();
        }
        let mut finder = ImportVisitor { files: self, module, inline: Vec::new(), found: BTreeMap::new() };
        finder.visit_file(&source.syntax);
        finder.found
    }

    /// Returns a path as written in a module as a path from the crate's root; `None` for a path into another crate.
    fn absolute(&self, module: &[String], written: &[String]) -> Option<Vec<String>> {
        let (first, rest) = written.split_first()?;
        let scope = self.scopes.get(module);
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (_, parent) = module.split_last()?;
                let is_further = rest.first().is_some_and(|next| next == "super");
                if is_further { self.absolute(parent, rest) } else { Some([parent, rest].concat()) }
            }
            name if self.scopes.contains_key(&[module, &[name.to_owned()]].concat()) => {
                Some([module, written].concat())
            }
            name => {
                // An alias of itself would be a path into a crate of that name.
                let alias = scope?.aliases.get(name).filter(|alias| alias.first() != Some(first))?;
                Some([self.absolute(module, alias)?, rest.to_vec()].concat())
            }
        }
    }

    /// Returns the file that defines the item of a path from the crate's root, following re-exports.
    fn resolve(&self, path: &[String], depth: usize) -> Vec<String> {
        let is_file = |length: &usize| self.scopes.contains_key(&path[..*length]);
        let length = (0..=path.len()).rev().find(is_file).unwrap_or(0);
        let (module, rest) = path.split_at(length);
        let (Some(name), Some(scope)) = (rest.first(), self.scopes.get(module)) else {
            return module.to_vec();
        };
        if scope.items.contains(name) || depth > REEXPORTS_MAX {
            return module.to_vec();
        }
        if let Some(target) = scope.aliases.get(name).and_then(|alias| self.absolute(module, alias)) {
            return self.resolve(&[&target, &rest[1..]].concat(), depth + 1);
        }
        let globs = scope.globs.iter().filter_map(|glob| self.absolute(module, glob));
        let mut found = globs
            .map(|glob| self.resolve(&[&glob[..], rest].concat(), depth + 1))
            .filter(|target| scope.globs.len() == 1 || self.defines(target, name));
        found.next().unwrap_or_else(|| module.to_vec())
    }

    fn defines(&self, module: &[String], name: &str) -> bool {
        self.scopes.get(module).is_some_and(|scope| scope.items.contains(name))
    }
}

impl<'s> FileScope<'s> {
    fn of(source: &'s RustSource<'s>) -> Self {
        let mut scope = Self { source, items: HashSet::new(), aliases: HashMap::new(), globs: Vec::new() };
        for item in &source.syntax.items {
            if let syn::Item::Use(item) = item
                && !is_for_tests(&item.attrs)
            {
                leaves(&item.tree, &mut Vec::new(), &mut |path, alias| match alias {
                    Some(alias) => {
                        scope.aliases.insert(alias, path.to_vec());
                    }
                    None => scope.globs.push(path.to_vec()),
                });
            }
            scope.items.extend(defined(item));
        }
        scope
    }

    /// Returns the names of the modules that it declares for tests only.
    fn test_modules(&self) -> impl Iterator<Item = String> {
        self.source.syntax.items.iter().filter_map(|item| {
            let syn::Item::Mod(module) = item else { return None };
            is_for_tests(&module.attrs).then(|| module.ident.to_string())
        })
    }
}

/// Visitor of a file; collects its imports.
struct ImportVisitor<'v, 's> {
    files: &'v CrateFiles<'s>,
    module: &'v [String],
    /// Names of the inline modules around the current item.
    inline: Vec<String>,
    found: BTreeMap<Vec<String>, ModuleImport>,
}

impl ImportVisitor<'_, '_> {
    fn import(&mut self, written: &[String], line: usize) {
        let here = [self.module, &self.inline].concat();
        let Some(path) = self.files.absolute(&here, written) else { return };
        let target = self.files.resolve(&path, 0);
        if target != *self.module {
            let import = ModuleImport { line, written: written.join("::") };
            self.found.entry(target).or_insert(import);
        }
    }

    /// Imports everything that a module defines or re-exports.
    fn import_all(&mut self, written: &[String], line: usize) {
        self.import(written, line);
        let here = [self.module, &self.inline].concat();
        let module = self.files.absolute(&here, written).map(|path| self.files.resolve(&path, 0));
        let names =
            module.and_then(|module| self.files.scopes.get(&module)).map(|scope| scope.aliases.keys());
        for name in names.into_iter().flatten() {
            self.import(&[written, std::slice::from_ref(name)].concat(), line);
        }
    }

    /// Imports of tokens that a macro takes: paths from the crate's root, from a parent, or through an imported module.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut colons, mut start) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 || path.is_empty() => {
                    if path.is_empty() {
                        start = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) => {
                    self.path(&path, start);
                    (path, colons, start) = (vec![name.to_string()], 0, name.span().start().line);
                    continue;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            self.path(&path, start);
            path.clear();
            colons = 0;
        }
        self.path(&path, start);
    }

    fn path(&mut self, path: &[String], line: usize) {
        if path.len() > 1 {
            self.import(path, line);
        }
    }
}

impl<'ast> Visit<'ast> for ImportVisitor<'_, '_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.inline.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inline.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // The root re-exports what is public; that imports nothing.
        if self.module.is_empty() && !matches!(item.vis, syn::Visibility::Inherited) {
            return;
        }
        let line = line(item);
        leaves(&item.tree, &mut Vec::new(), &mut |path, alias| match alias {
            Some(_) => self.import(path, line),
            None => self.import_all(path, line),
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&names, line(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.tokens(invocation.tokens.clone());
    }
}

/// Calls `take` with the path of each name of a `use` and its alias, which a glob lacks.
fn leaves(tree: &syn::UseTree, path: &mut Vec<String>, take: &mut dyn FnMut(&[String], Option<String>)) {
    match tree {
        syn::UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            leaves(&inner.tree, path, take);
            path.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, path, take)),
        syn::UseTree::Glob(_) => take(path, None),
        syn::UseTree::Name(name) => leaf(&name.ident, name.ident.to_string(), path, take),
        syn::UseTree::Rename(rename) => leaf(&rename.ident, rename.rename.to_string(), path, take),
    }
}

fn leaf(
    name: &syn::Ident,
    alias: String,
    path: &mut Vec<String>,
    take: &mut dyn FnMut(&[String], Option<String>),
) {
    if name == "self" {
        let alias = if alias == "self" { path.last().cloned().unwrap_or_default() } else { alias };
        return take(path, Some(alias));
    }
    path.push(name.to_string());
    take(path, Some(alias));
    path.pop();
}

/// Returns the names that an item defines in its module.
#[expect(clippy::wildcard_enum_match_arm, reason = "other items have none, and syn may add kinds")]
fn defined(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Mod(item) if item.content.is_some() => &item.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other items have none, and syn may add kinds")]
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Maximum number of re-exports that are followed for one name.
const REEXPORTS_MAX: usize = 16;

//! Rule: no caller writes `true` or `false` for a parameter; the call would not tell what is true.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::Problem;
use super::source::{RustSource, RustSources, is_for_tests, line};
use crate::metadata::Workspace;

/// Reports the calls of each crate that pass a literal for a `bool` parameter of a function of the tree.
pub(super) fn check(sources: &RustSources<'_>, workspace: &Workspace) -> Vec<Problem> {
    let manifests = workspace.packages.iter().map(|package| &*package.manifest);
    let folders = manifests
        .filter_map(|manifest| manifest.strip_suffix("Cargo.toml").filter(|it| it.starts_with("crates/")));
    let crates: Vec<Vec<&RustSource<'_>>> = folders
        .map(|folder| {
            let own = sources.iter().filter(|source| source.path.starts_with(folder) && !source.is_test());
            own.collect()
        })
        .collect();
    let definitions: Vec<Definitions> = crates.iter().map(|files| Definitions::of(files)).collect();
    let mut all = Definitions::default();
    definitions.iter().for_each(|own| all.add_associated(own));
    let crates = crates.iter().zip(&definitions);
    let problems = crates
        .map(|(files, own)| files.iter().flat_map(|source| LiteralVisitor::problems(source, own, &all)));
    problems.flatten().collect()
}

/// Functions by the way in which they are called, with the positions of their `bool` parameters.
#[derive(Default)]
struct Definitions {
    /// Free functions, and methods without their receiver.
    free: BTreeMap<Signature, BoolPositions>,
    methods: BTreeMap<Signature, BoolPositions>,
    /// Functions of types and traits, called as `Type::name`; a receiver counts as a parameter.
    associated: BTreeMap<(String, Signature), BoolPositions>,
}

/// Name and number of parameters.
type Signature = (String, usize);

/// Positions at which every function of a signature has a `bool`.
type BoolPositions = BTreeSet<usize>;

impl Definitions {
    fn of(files: &[&RustSource<'_>]) -> Self {
        let mut visitor = DefinitionVisitor { definitions: Self::default(), type_name: None };
        files.iter().for_each(|source| visitor.visit_file(&source.syntax));
        visitor.definitions
    }

    fn add_associated(&mut self, other: &Self) {
        for (key, positions) in &other.associated {
            merge(&mut self.associated, key.clone(), positions.clone());
        }
    }
}

/// Adds a function; of several with one signature, only positions count at which all have a `bool`.
fn merge<K: Ord>(map: &mut BTreeMap<K, BoolPositions>, key: K, positions: BoolPositions) {
    match map.get_mut(&key) {
        Some(known) => known.retain(|position| positions.contains(position)),
        None => {
            map.insert(key, positions);
        }
    }
}

struct DefinitionVisitor {
    definitions: Definitions,
    /// Type or trait whose items are visited.
    type_name: Option<String>,
}

impl DefinitionVisitor {
    fn add(&mut self, signature: &syn::Signature) {
        let name = signature.ident.to_string();
        let inputs: Vec<&syn::FnArg> = signature.inputs.iter().collect();
        let has_receiver = matches!(inputs.first(), Some(syn::FnArg::Receiver(_)));
        let positions: BoolPositions =
            inputs.iter().enumerate().filter(|(_, input)| is_bool(input)).map(|(index, _)| index).collect();
        let Some(type_name) = self.type_name.clone() else {
            merge(&mut self.definitions.free, (name, inputs.len()), positions);
            return;
        };
        if has_receiver {
            let behind = positions.iter().filter_map(|position| position.checked_sub(1)).collect();
            merge(&mut self.definitions.methods, (name.clone(), inputs.len() - 1), behind);
        }
        merge(&mut self.definitions.associated, (type_name, (name, inputs.len())), positions);
    }

    fn within(&mut self, type_name: Option<String>, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.type_name, type_name);
        visit(self);
        self.type_name = outer;
    }
}

impl<'ast> Visit<'ast> for DefinitionVisitor {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            self.within(None, |visitor| visitor.add(&item.sig));
            self.within(None, |visitor| visit::visit_item_fn(visitor, item));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(type_name(&item.self_ty), |visitor| visit::visit_item_impl(visitor, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(Some(item.ident.to_string()), |visitor| visit::visit_item_trait(visitor, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.add(&item.sig);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

/// Finds the calls with literals in a file.
struct LiteralVisitor<'s> {
    source: &'s RustSource<'s>,
    own: &'s Definitions,
    all: &'s Definitions,
    type_name: Option<String>,
    problems: Vec<Problem>,
}

impl<'s> LiteralVisitor<'s> {
    fn problems(source: &'s RustSource<'s>, own: &'s Definitions, all: &'s Definitions) -> Vec<Problem> {
        let mut visitor = Self { source, own, all, type_name: None, problems: Vec::new() };
        visitor.visit_file(&source.syntax);
        visitor.problems
    }

    fn judge<'a>(
        &mut self,
        name: &syn::Ident,
        positions: Option<&BoolPositions>,
        arguments: impl Iterator<Item = &'a syn::Expr>,
    ) {
        let Some(positions) = positions else { return };
        let mut literals =
            arguments.enumerate().filter(|(index, given)| positions.contains(index) && is_literal(given));
        if literals.next().is_some() {
            let message = format!(
                "a call of `{name}` passes a literal `bool`, which does not tell its meaning; take an enum with two \
                 variants, or write two functions"
            );
            self.problems.push(Problem::at(self.source.path, line(name), message));
        }
    }

    /// Returns the `bool` parameters of a function that is called by a path.
    fn positions(&self, path: &syn::Path, count: usize) -> Option<&'s BoolPositions> {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (name, before) = names.split_last()?;
        let signature = (name.clone(), count);
        match before.last().map(String::as_str) {
            Some("Self") => self.own.associated.get(&(self.type_name.clone()?, signature)),
            Some(of) if of.starts_with(char::is_uppercase) => {
                self.all.associated.get(&(of.to_owned(), signature))
            }
            _ => self.own.free.get(&signature),
        }
    }
}

impl<'ast> Visit<'ast> for LiteralVisitor<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(callee) = &*call.func
            && let Some(last) = callee.path.segments.last()
        {
            let positions = self.positions(&callee.path, call.args.len());
            self.judge(&last.ident, positions, call.args.iter());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let positions = self.own.methods.get(&(call.method.to_string(), call.args.len()));
        self.judge(&call.method, positions, call.args.iter());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.type_name, type_name(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.type_name = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

fn is_bool(input: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(input) = input else { return false };
    matches!(&*input.ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}

fn is_literal(expression: &syn::Expr) -> bool {
    matches!(expression, syn::Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Bool(_)))
}

fn type_name(of: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = of else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

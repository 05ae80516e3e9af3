//! Rule: crates that take bytes, time and seeds as arguments have no I/O, clock or thread of their own, and plain data
//! is built without crates that have.

use syn::visit::{self, Visit};

use super::Problem;
use super::source::{RustSource, RustSources, is_for_tests, line};
use crate::metadata::{Workspace, WorkspacePackage};

/// Reports every use of the operating system in a pure crate.
pub(super) fn check(sources: &RustSources<'_>, workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        problems.extend(check_forbidden_packages(package));
        if !NO_IO.contains(&package.name.as_str()) {
            continue;
        }
        for import in &package.imports {
            if !import.is_dev && IO_CRATES.contains(&import.name.as_str()) {
                let message =
                    format!("`{}` must not do I/O and can't import `{}`", package.name, import.name);
                problems.push(Problem::of(&package.manifest, message));
            }
        }
        let folder = package.manifest.trim_end_matches("Cargo.toml");
        let files = sources.iter().filter(|source| source.path.starts_with(folder) && !source.is_test());
        files.for_each(|source| problems.extend(check_source(source, &package.name)));
    }
    problems
}

/// Reports packages that a crate must be built without, with the path to each.
fn check_forbidden_packages(package: &WorkspacePackage) -> Vec<Problem> {
    let unreachable =
        UNREACHABLE.iter().filter(|(name, _)| *name == package.name).flat_map(|(_, others)| *others);
    let reached = unreachable.filter(|other| package.reached.contains_key(**other));
    reached
        .map(|other| {
            let mut path = vec![*other];
            while let Some(importer) = path.last().and_then(|last| package.reached.get(*last)) {
                path.push(importer);
            }
            path.reverse();
            let message = format!(
                "`{}` must be built without `{other}`, but is built with it: {}",
                package.name,
                path.join(" → ")
            );
            Problem::of(&package.manifest, message)
        })
        .collect()
}

fn check_source(source: &RustSource<'_>, package: &str) -> Vec<Problem> {
    let mut finder = PurityVisitor { source, package, problems: Vec::new() };
    finder.visit_file(&source.syntax);
    finder.problems
}

struct PurityVisitor<'s> {
    source: &'s RustSource<'s>,
    package: &'s str,
    problems: Vec<Problem>,
}

impl PurityVisitor<'_> {
    fn judge(&mut self, names: &[String], line: usize) {
        let [first, second, ..] = names else { return };
        let is_outer = first == "std" && OUTER.contains(&second.as_str());
        let is_opener = names.iter().any(|name| OPENERS.contains(&name.as_str()));
        if is_outer || is_opener {
            let what = names.join("::");
            let message = format!(
                "`{what}` in `{}`, which takes bytes, time and seeds as arguments instead",
                self.package
            );
            self.problems.push(Problem::at(self.source.path, line, message));
        }
    }

    fn judge_use(&mut self, tree: &syn::UseTree, before: &[String], line: usize) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.judge_use(&path.tree, &with(&path.ident), line),
            syn::UseTree::Name(name) => self.judge(&with(&name.ident), line),
            syn::UseTree::Rename(rename) => self.judge(&with(&rename.ident), line),
            syn::UseTree::Glob(_) => self.judge(&[before, &["*".to_owned()]].concat(), line),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.judge_use(item, before, line))
            }
        }
    }
}

impl<'ast> Visit<'ast> for PurityVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.judge_use(&item.tree, &[], line(item));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.judge(&names, line(path));
        visit::visit_path(self, path);
    }
}

const NO_IO: [&str; 13] = [
    "eddy-http",
    "eddy-route",
    "eddy-filter",
    "eddy-builtin",
    "eddy-protobuf",
    "eddy-tls",
    "eddy-model",
    "eddy-config",
    "eddy-spec",
    "eddy-check",
    "eddy-dialects",
    "eddy-convert",
    "eddy-ids",
];
const IO_CRATES: [&str; 7] = ["tokio", "rustix", "socket2", "mio", "nix", "hickory-resolver", "reqwest"];
/// Crates that are built without others, whether imported directly or through third crates.
const UNREACHABLE: [(&str, &[&str]); 4] = [
    ("eddy-model", &["tokio", "hickory-resolver", "eddy-io"]),
    ("eddy-config", &["tokio", "hickory-resolver", "eddy-io"]),
    ("eddy-dialects", &["tokio", "hickory-resolver", "eddy-io"]),
    ("eddy-proxy", &["eddy-check", "eddy-spec"]),
];
/// Modules of `std` that access the operating system.
const OUTER: [&str; 5] = ["fs", "process", "thread", "env", "os"];
/// Types that access the operating system, under any path.
const OPENERS: [&str; 6] =
    ["Instant", "SystemTime", "TcpListener", "TcpStream", "UdpSocket", "ToSocketAddrs"];

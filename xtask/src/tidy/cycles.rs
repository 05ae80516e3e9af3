//! Rule: the file modules of a crate import downwards only, without cycles and along the table of layers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Problem;
use super::imports::{ModuleGraph, ModuleImport, name};
use super::source::RustSources;
use crate::metadata::Workspace;

/// Path of a module from the root of its crate.
type ModulePath = Vec<String>;

/// Reports the cycles of modules of each crate, and every import that its table of layers does not allow.
pub(super) fn check(sources: &RustSources<'_>, workspace: &Workspace) -> Vec<Problem> {
    let crates = workspace.packages.iter().filter(|package| package.manifest.starts_with("crates/"));
    crates
        .flat_map(|package| {
            let folder = format!("{}src/", package.manifest.trim_end_matches("Cargo.toml"));
            let graph = ModuleGraph::read(sources, &folder);
            let layers = LAYERS.iter().find(|(krate, _)| *krate == package.name).map(|(_, layers)| *layers);
            let mut problems = cycles(&graph);
            problems.extend(layers.into_iter().flat_map(|layers| upward_imports(&graph, layers)));
            problems
        })
        .collect()
}

/// Reports the shortest cycle of each group of modules that import each other.
fn cycles(graph: &ModuleGraph<'_>) -> Vec<Problem> {
    let mut reported = BTreeSet::new();
    let mut problems = Vec::new();
    for module in graph.modules.keys() {
        if reported.contains(module) || shortest_cycle(graph, module).is_none() {
            continue;
        }
        let ahead = reachable(graph, module);
        let group: Vec<&ModulePath> =
            ahead.into_iter().filter(|other| reachable(graph, other).contains(module)).collect();
        let cycles = group.iter().filter_map(|member| shortest_cycle(graph, member));
        if let Some(cycle) = cycles.min_by_key(Vec::len) {
            problems.push(cycle_problem(graph, &cycle, group.len()));
        }
        reported.extend(group);
    }
    problems
}

fn cycle_problem(graph: &ModuleGraph<'_>, cycle: &[ModulePath], members: usize) -> Problem {
    let next = cycle.iter().skip(1).chain(cycle.first());
    let edges: Vec<(&ModulePath, &ModulePath, &ModuleImport)> = cycle
        .iter()
        .zip(next)
        .filter_map(|(from, to)| Some((from, to, graph.modules.get(from)?.imports.get(to)?)))
        .collect();
    let shown: Vec<String> = edges
        .iter()
        .map(|(from, to, import)| {
            let path = graph.modules.get(*from).map_or("", |module| module.source.path);
            format!("`{}` imports `{}` ({path}:{}: `{}`)", name(from), name(to), import.line, import.written)
        })
        .collect();
    let others = match members.saturating_sub(cycle.len()) {
        0 => String::new(),
        count => format!(" ({count} more modules are in cycles with them)"),
    };
    let message = format!(
        "modules import each other: {}{others}; move the shared item into a module below them, split a file by its \
         subjects, or pass a value instead of importing upwards",
        shown.join(", ")
    );
    let first = cycle.first().and_then(|module| graph.modules.get(module));
    let line = edges.first().map_or(0, |(_, _, import)| import.line);
    Problem::at(first.map_or("", |module| module.source.path), line, message)
}

/// Returns the shortest cycle through a module, beginning with it.
fn shortest_cycle(graph: &ModuleGraph<'_>, module: &ModulePath) -> Option<Vec<ModulePath>> {
    let mut before: BTreeMap<&ModulePath, &ModulePath> = BTreeMap::new();
    let mut queue = VecDeque::from([module]);
    while let Some(current) = queue.pop_front() {
        for next in graph.modules.get(current)?.imports.keys() {
            if next == module {
                let mut cycle = vec![current.clone()];
                while let Some(earlier) = cycle.last().and_then(|last| before.get(last)) {
                    cycle.push((*earlier).clone());
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !before.contains_key(next) {
                before.insert(next, current);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Returns the modules that a module imports, directly or through others.
fn reachable<'g>(graph: &'g ModuleGraph<'_>, module: &'g ModulePath) -> BTreeSet<&'g ModulePath> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&ModulePath> = vec![module];
    while let Some(current) = open.pop() {
        let imports = graph.modules.get(current).into_iter().flat_map(|module| module.imports.keys());
        open.extend(imports.filter(|next| found.insert(*next)));
    }
    found
}

/// Reports every import of a module in the same layer or a higher one, and modules that have no layer.
fn upward_imports(graph: &ModuleGraph<'_>, layers: &[&[&str]]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, module) in &graph.modules {
        let Some(own) = path.first() else { continue };
        let Some(row) = row_of(own, layers) else {
            if path.len() == 1 {
                let message = format!("the module `{own}` has no layer; add it to `LAYERS` in {TABLE}");
                problems.push(Problem::of(module.source.path, message));
            }
            continue;
        };
        for (target, import) in &module.imports {
            let Some(other) = target.first().filter(|other| *other != own) else { continue };
            if row_of(other, layers).is_some_and(|other| other <= row) {
                let message = format!(
                    "`{own}` imports `{other}` (`{}`), which is not below it in `LAYERS` of {TABLE}; move the shared \
                     item into a lower layer, or pass a value instead",
                    import.written
                );
                problems.push(Problem::at(module.source.path, import.line, message));
            }
        }
    }
    problems
}

fn row_of(module: &str, layers: &[&[&str]]) -> Option<usize> {
    layers.iter().position(|layer| layer.contains(&module))
}

/// This file, for messages.
const TABLE: &str = "xtask/src/tidy/cycles.rs";

/// Layers of the top-level modules of a crate, from the top down. A module imports modules of lower layers only. A crate
/// without a row has no cycles, but no layers either.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "eddy-proxy",
        &[
            &["gateway"],
            &["event_loop"],
            &["session"],
            &["exchange"],
            &["outbound"],
            &["worker"],
            &["access"],
            &["downstream"],
            &["host", "report"],
            &["resolved"],
            &["control", "upstream"],
            &["runtime"],
            &["stats"],
            &["plan", "message"],
            &["error", "fault", "h2"],
        ],
    ),
    (
        "eddy-dialects",
        &[
            &["entry"],
            &["eddy", "objects"],
            &["gateway_api", "ingress", "istio"],
            &["envoy"],
            &["nginx"],
            &["retry", "kubernetes"],
            &["format"],
        ],
    ),
    (
        "eddy-spec",
        &[
            &["reference"],
            &["spec"],
            &["value"],
            &["read"],
            &["yaml"],
            &["version"],
            &["problem"],
            &["leniency", "status"],
        ],
    ),
    (
        "eddy-config",
        &[
            &["config"],
            &["table"],
            &["action", "forward"],
            &["filter"],
            &["access_log", "acme", "address_block", "tls", "upgrade"],
        ],
    ),
    (
        "eddy-guest",
        &[
            &["stop"],
            &["dynamic_module", "linear"],
            &["lua", "native", "wasm"],
            &["message_view", "steps"],
            &["engine", "failure", "guest", "signature"],
            &["reclaim", "thread"],
            &["lock", "metric"],
        ],
    ),
];

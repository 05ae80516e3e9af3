//! Rule: crates import only the crates that the table allows, as drawn in ARCHITECTURE.md.

use super::Problem;
use crate::metadata::{Import, Workspace, WorkspacePackage};

/// Reports every import that the table does not allow.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    workspace.packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &WorkspacePackage) -> Vec<Problem> {
    if FREE.contains(&package.name.as_str()) || !package.manifest.starts_with("crates/") {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        let message = format!(
            "crate `{}` has no row in the table of import edges; add one to xtask/src/tidy/edges.rs and to ARCHITECTURE.md",
            package.name
        );
        return vec![Problem::of(&package.manifest, message)];
    };
    let is_for_tests = |import: &&Import| {
        let name = import.name.as_str();
        import.is_dev && (FOR_TESTS.contains(&name) || FOR_TESTS_OF.contains(&(package.name.as_str(), name)))
    };
    let local = package.imports.iter().filter(|import| import.is_local && !is_for_tests(import));
    let wrong = local.filter(|import| !allowed.contains(&import.name.as_str()));
    wrong
        .map(|import| Problem::of(&package.manifest, message(&package.name, &import.name, allowed)))
        .collect()
}

fn message(importer: &str, imported: &str, allowed: &[&str]) -> String {
    let importers: Vec<&str> =
        ALLOWED.iter().filter(|(_, allowed)| allowed.contains(&imported)).map(|(name, _)| *name).collect();
    format!(
        "`{importer}` imports `{imported}`, which the design doesn't allow: `{importer}` may import {}; \
         `{imported}` may be imported by {}",
        listed(allowed),
        listed(&importers)
    )
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "no crate of the workspace".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Crates that may import any other. Packages outside `crates/` may, too: they are not part of the product.
const FREE: [&str; 1] = ["eddy"];

/// Crates that tests of any crate may use: the end-to-end test kit, and notices of missing peers.
const FOR_TESTS: [&str; 2] = ["eddy-e2e", "test-peers"];

/// Imports of single crates for their tests only: where a request to a configured cluster goes, and configurations that
/// are read from texts.
const FOR_TESTS_OF: [(&str, &str); 5] = [
    ("eddy-dialects", "eddy-upstream"),
    ("eddy-convert", "eddy-dialects"),
    ("eddy-convert", "eddy-spec"),
    ("eddy-proxy", "eddy-dialects"),
    ("eddy-proxy", "eddy-spec"),
];

/// Allowed imports of each crate, from the highest row to the lowest; a crate imports lower rows only.
const ALLOWED: [(&str, &[&str]); 21] = [
    ("eddy-source", &["eddy-dialects", "eddy-spec", "eddy-config"]),
    (
        "eddy-proxy",
        &[
            "eddy-config",
            "eddy-route",
            "eddy-filter",
            "eddy-upstream",
            "eddy-model",
            "eddy-http",
            "eddy-protobuf",
            "eddy-tls",
            "eddy-io",
            "eddy-ids",
        ],
    ),
    ("eddy-convert", &["eddy-config", "eddy-route", "eddy-model", "eddy-http", "eddy-ids"]),
    (
        "eddy-dialects",
        &[
            "eddy-check",
            "eddy-spec",
            "eddy-config",
            "eddy-builtin",
            "eddy-route",
            "eddy-filter",
            "eddy-model",
            "eddy-tls",
            "eddy-http",
            "eddy-ids",
        ],
    ),
    (
        "eddy-check",
        &[
            "eddy-spec",
            "eddy-config",
            "eddy-builtin",
            "eddy-route",
            "eddy-filter",
            "eddy-model",
            "eddy-tls",
            "eddy-http",
            "eddy-ids",
        ],
    ),
    (
        "eddy-spec",
        &[
            "eddy-config",
            "eddy-builtin",
            "eddy-route",
            "eddy-filter",
            "eddy-model",
            "eddy-tls",
            "eddy-http",
            "eddy-ids",
        ],
    ),
    ("eddy-config", &["eddy-builtin", "eddy-route", "eddy-filter", "eddy-model", "eddy-http", "eddy-ids"]),
    ("eddy-builtin", &["eddy-filter", "eddy-http", "eddy-protobuf", "eddy-ids"]),
    ("eddy-upstream", &["eddy-model", "eddy-http", "eddy-tls", "eddy-io", "eddy-ids"]),
    ("eddy-guest", &["eddy-filter", "eddy-http", "eddy-ids", "proxy-wasm-host", "wasm-sandbox"]),
    ("eddy-acme", &["eddy-tls"]),
    ("eddy-tls", &["eddy-model"]),
    ("eddy-route", &["eddy-http", "eddy-ids"]),
    ("eddy-filter", &["eddy-http", "eddy-ids"]),
    ("eddy-model", &["eddy-ids"]),
    ("eddy-http", &["eddy-ids"]),
    ("eddy-protobuf", &[]),
    ("eddy-io", &["eddy-ids"]),
    ("eddy-ids", &[]),
    // The Wasm host works in any program, and so does its sandbox: they import no other crate of eddy.
    ("proxy-wasm-host", &["wasm-sandbox"]),
    ("wasm-sandbox", &[]),
];

//! Generated page of the conformance coverage.

use std::fmt::Write as _;

use proxy_wasm_host::abi::{AbiVersion, Callback, FUNCTIONS, Family};

use crate::case::ProxyWasmCase;

/// Returns the text of the page.
pub(crate) fn write(cases: &[ProxyWasmCase]) -> String {
    let mut page = String::from(HEAD);
    for (family, title) in FAMILIES {
        let names: Vec<&str> = FUNCTIONS
            .iter()
            .filter(|function| function.family == family)
            .map(|function| function.name)
            .collect();
        table(&mut page, title, &names, cases);
    }
    let callbacks: Vec<&str> = Callback::ALL.iter().map(|callback| callback.name()).collect();
    table(&mut page, "Callbacks", &callbacks, cases);
    table(&mut page, "Start and memory", &START, cases);
    page
}

fn table(page: &mut String, title: &str, names: &[&str], cases: &[ProxyWasmCase]) {
    let versions = AbiVersion::ALL.map(|version| version.to_string()).join(" | ");
    write!(page, "\n## {title}\n\n| function | {versions} | shown by |\n|---|---|---|---|---|---|\n")
        .unwrap();
    for name in names {
        let covering: Vec<&ProxyWasmCase> =
            cases.iter().filter(|case| case.covers.iter().any(|it| it == name)).collect();
        let marks = AbiVersion::ALL.map(|version| {
            let has = covering.iter().any(|case| case.versions.contains(&version));
            if has { "passes" } else { "" }
        });
        let shown: Vec<String> =
            covering.iter().map(|case| format!("`{}`: {}", case.name, case.what)).collect();
        writeln!(page, "| `{name}` | {} | {} |", marks.join(" | "), shown.join("<br>")).unwrap();
    }
}

/// Path of the page.
pub(crate) const PATH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/proxy-wasm-conformance.md");

const HEAD: &str = "\
# Conformance of the proxy-wasm host

What the cases of `crates/proxy-wasm-host/tests/conformance` show of `proxy-wasm-host`, in each version of the contract.
A case is a small module as text with the journal of what happened between it and its host; `cargo test -p proxy-wasm-host
--test conformance` runs all of them and fails if one comes out differently, and `UPDATE=1` writes this page.
";

const FAMILIES: [(Family, &str); 6] = [
    (Family::ProxyWasm, "Host functions"),
    (Family::Legacy, "Host functions of 0.1.0"),
    (Family::Higress, "Host functions of Higress' SDKs"),
    (Family::Unsupported, "Host functions of Higress' SDKs that answer `Unimplemented`"),
    (Family::Compiler, "What compilers import"),
    (Family::Wasi, "WASI"),
];

const START: [&str; 5] = ["_initialize", "main", "_start", "proxy_on_memory_allocate", "malloc"];

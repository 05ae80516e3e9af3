//! Conformance tests of every host function and callback, for each ABI version.
//!
//! Each file of `cases` is a small module without its beginning, `prelude.wat`, and without its imports, which are
//! added for the functions that it calls. Its first lines state its subject, the covered functions, the ABI versions
//! and the steps to perform; its last lines are the expected journal. `UPDATE=1` writes the journals and the page
//! `docs/reference/proxy-wasm-conformance.md`.

#![allow(clippy::unwrap_used, reason = "the functions that tests share may fail as the tests may")]
#![allow(clippy::panic, reason = "the functions that tests share may fail as the tests may")]

mod case;
mod page;
mod recorder;
mod steps;

use std::collections::BTreeSet;

use proxy_wasm_host::abi::{Callback, FUNCTIONS};
use proxy_wasm_host::{Allocation, Engine, EngineSettings};

use case::ProxyWasmCase;

fn engine() -> Engine {
    let mut settings = EngineSettings::default();
    settings.allocation = Allocation::OnDemand;
    Engine::new(settings).unwrap()
}

#[test]
fn every_case_matches_its_journal() {
    let engine = engine();
    let mut wrong = Vec::new();
    for case in ProxyWasmCase::all() {
        for version in &case.versions {
            let found = steps::run(&engine, &case, *version);
            if is_update() {
                case.write(&found);
            } else if found != case.journal {
                let (expected, found) = (case.journal.join("\n"), found.join("\n"));
                wrong.push(format!("{} for {version}:\n{found}\n--- instead of\n{expected}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_function_has_a_case() {
    let covered: BTreeSet<String> = ProxyWasmCase::all().into_iter().flat_map(|case| case.covers).collect();
    let functions = FUNCTIONS.iter().map(|function| function.name);
    let callbacks = Callback::ALL.iter().map(|callback| callback.name());
    let missing: Vec<&str> = functions.chain(callbacks).filter(|name| !covered.contains(*name)).collect();
    assert!(missing.is_empty(), "no case covers {missing:?}");
}

#[test]
fn the_generated_page_lists_the_coverage() {
    let page = page::write(&ProxyWasmCase::all());
    if is_update() {
        std::fs::write(page::PATH, &page).unwrap();
    }
    let published = std::fs::read_to_string(page::PATH).unwrap();
    assert!(published == page, "{} is not current: UPDATE=1 writes it", page::PATH);
}

/// Whether journals and page are to be written instead of compared.
fn is_update() -> bool {
    std::env::vars().any(|(name, _)| name == "UPDATE")
}

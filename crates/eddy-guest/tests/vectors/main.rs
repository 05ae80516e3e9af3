//! Cases of `abi/vectors`, run through eddy's own guest engines: the libraries built with the SDKs must behave as the
//! SDKs do in their own tests.
#![cfg(test)]

#[path = "../golang/build.rs"]
mod build;
#[allow(dead_code, reason = "this runner knows no scheme but the host's, and has none of its checks")]
#[path = "../../../../sdk/rust/tests/vectors/format.rs"]
mod format;
mod host;
mod libraries;
mod run;
mod script;

use std::path::Path;

use eddy_guest::Guest;

use format::{File, VectorCase};

/// Runs every case with a guest that has the filter `vector`, and expects no difference.
fn run_all(guest: &dyn Guest) {
    run_selected_cases(guest, 120, |_| true);
}

/// Runs the cases that `can` selects, at least `count_min`, and expects no difference.
fn run_selected_cases(guest: &dyn Guest, count_min: usize, can: impl Fn(&VectorCase) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/vectors");
    let mut count = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("there are vectors") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file of vectors");
        let file: File =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in file.cases.into_iter().filter(&can) {
            let place = format!("{}: {}", path.display(), case.name);
            if let Some(lacks) = case.needs.iter().find(|need| LACKING.contains(&need.as_str())) {
                println!("{place} needs {lacks}, which eddy does not have");
                continue;
            }
            count += 1;
            wrong.extend(run::case(guest, &case).into_iter().map(|what| format!("{place}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= count_min, "there are only {count} cases");
    println!("{count} cases by {}", guest.name());
}

/// Features that cases may need and that this runner does not support.
const LACKING: [&str; 1] = ["http2"];

#[test]
fn a_rust_library_passes_the_abi_vectors() {
    run_all(&*libraries::rust());
}

#[test]
fn a_go_library_passes_the_abi_vectors() {
    if let Some(library) = libraries::go() {
        run_all(&*library);
    }
}

#[test]
fn a_go_wasm_module_passes_the_abi_vectors() {
    if let Some(module) = libraries::module() {
        run_all(&module);
    }
}

#[test]
fn a_lua_script_passes_the_abi_vectors() {
    run_selected_cases(&*script::lua(), 45, script::can);
}

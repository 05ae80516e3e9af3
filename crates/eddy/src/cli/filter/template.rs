//! Template files of a new project.

use std::path::Path;

use super::name::FilterName;
use crate::bundle::{KIT, quoted};
use crate::cli::arguments::Language;

/// Values inserted into the templates.
pub(super) struct TemplateContext<'a> {
    pub(super) name: &'a FilterName,
    /// Folder of the SDK, for a language that has one.
    pub(super) kit: &'a Path,
}

/// Path below the project folder, and contents.
pub(super) type ProjectFile = (&'static str, String);

/// Returns the files of a project in a language.
pub(super) fn files_of(lang: Language, place: &TemplateContext<'_>) -> Vec<ProjectFile> {
    let texts: &[(&str, &str)] = match lang {
        Language::C => &C,
        Language::Go => &GO,
        Language::Lua => &LUA,
        Language::Rust => &RUST,
        Language::WasmC => &WASM_C,
        Language::WasmGo => &WASM_GO,
        Language::WasmRust => &WASM_RUST,
    };
    texts.iter().map(|(path, text)| (*path, filled(text, place))).collect()
}

fn filled(text: &str, place: &TemplateContext<'_>) -> String {
    let kit_version = env!("CARGO_PKG_VERSION");
    text.replace("@NAME@", place.name.text())
        .replace("@PACKAGE@", &place.name.package())
        .replace("@LIBRARY@", &place.name.library())
        .replace("@KIT@", KIT)
        .replace("@KIT_VERSION@", kit_version)
        .replace("@KIT_FOLDER@", &quoted(place.kit))
}

const C: [(&str, &str); 10] = [
    ("filter.c", include_str!("c/filter.c.txt")),
    ("guest.h", include_str!("../../../../../examples/filters/c/guest.h")),
    ("json.h", include_str!("../../../../../examples/filters/c/json.h")),
    ("json.c", include_str!("../../../../../examples/filters/c/json.c")),
    ("eddy_filter.h", include_str!("../../../../../abi/eddy_filter.h")),
    ("Makefile", include_str!("c/makefile.txt")),
    ("filter_spec.lua", include_str!("c/spec.lua.txt")),
    ("eddy.yaml", include_str!("c/eddy.yaml.txt")),
    ("README.md", include_str!("c/readme.txt")),
    (".gitignore", include_str!("c/gitignore.txt")),
];

const GO: [(&str, &str); 7] = [
    ("go.mod", include_str!("go/go.mod.txt")),
    ("go.work", include_str!("go/go.work.txt")),
    ("filter.go", include_str!("go/filter.go.txt")),
    ("filter_test.go", include_str!("go/filter_test.go.txt")),
    ("eddy.yaml", include_str!("go/eddy.yaml.txt")),
    ("README.md", include_str!("go/readme.txt")),
    (".gitignore", include_str!("go/gitignore.txt")),
];

const LUA: [(&str, &str); 4] = [
    ("filter.lua", include_str!("lua/filter.lua.txt")),
    ("filter_spec.lua", include_str!("lua/spec.lua.txt")),
    ("eddy.yaml", include_str!("lua/eddy.yaml.txt")),
    ("README.md", include_str!("lua/readme.txt")),
];

const WASM_C: [(&str, &str); 8] = [
    ("filter.c", include_str!("wasm_c/filter.c.txt")),
    ("proxy_wasm.h", include_str!("../../../../../examples/filters/wasm-c/proxy_wasm.h")),
    ("proxy_wasm.c", include_str!("../../../../../examples/filters/wasm-c/proxy_wasm.c")),
    ("Makefile", include_str!("wasm_c/makefile.txt")),
    ("filter_spec.lua", include_str!("wasm_c/spec.lua.txt")),
    ("eddy.yaml", include_str!("wasm_c/eddy.yaml.txt")),
    ("README.md", include_str!("wasm_c/readme.txt")),
    (".gitignore", include_str!("c/gitignore.txt")),
];

const WASM_GO: [(&str, &str); 8] = [
    ("go.mod", include_str!("go/go.mod.txt")),
    ("go.work", include_str!("go/go.work.txt")),
    ("filter.go", include_str!("go/filter.go.txt")),
    ("filter_test.go", include_str!("go/filter_test.go.txt")),
    ("module/main.go", include_str!("wasm_go/main.go.txt")),
    ("eddy.yaml", include_str!("wasm_go/eddy.yaml.txt")),
    ("README.md", include_str!("wasm_go/readme.txt")),
    (".gitignore", include_str!("wasm_go/gitignore.txt")),
];

const WASM_RUST: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("wasm_rust/cargo.toml.txt")),
    ("src/lib.rs", include_str!("wasm_rust/lib.rs.txt")),
    ("filter_spec.lua", include_str!("wasm_rust/spec.lua.txt")),
    ("eddy.yaml", include_str!("wasm_rust/eddy.yaml.txt")),
    ("README.md", include_str!("wasm_rust/readme.txt")),
    (".gitignore", include_str!("rust/gitignore.txt")),
];

const RUST: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("rust/cargo.toml.txt")),
    ("src/lib.rs", include_str!("rust/lib.rs.txt")),
    ("eddy.yaml", include_str!("rust/eddy.yaml.txt")),
    ("README.md", include_str!("rust/readme.txt")),
    (".gitignore", include_str!("rust/gitignore.txt")),
];

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn no_placeholder_is_left_unfilled() {
        let name = FilterName::parse("basic-auth").unwrap();
        for lang in Language::value_variants().iter().copied() {
            for (path, text) in files_of(lang, &TemplateContext { name: &name, kit: Path::new("/cache/a b") })
            {
                assert!(!text.contains('@'), "{path}: {text}");
                assert!(text.ends_with('\n'), "{path}");
            }
        }
    }
}

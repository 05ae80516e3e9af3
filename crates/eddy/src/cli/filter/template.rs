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
        Language::Go => &GO,
        Language::Lua => &LUA,
        Language::Rust => &RUST,
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

const RUST: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("rust/cargo.toml.txt")),
    ("src/lib.rs", include_str!("rust/lib.rs.txt")),
    ("eddy.yaml", include_str!("rust/eddy.yaml.txt")),
    ("README.md", include_str!("rust/readme.txt")),
    (".gitignore", include_str!("rust/gitignore.txt")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_placeholder_is_left_unfilled() {
        let name = FilterName::parse("basic-auth").unwrap();
        for lang in [Language::Go, Language::Lua, Language::Rust] {
            for (path, text) in files_of(lang, &TemplateContext { name: &name, kit: Path::new("/cache/a b") })
            {
                assert!(!text.contains('@'), "{path}: {text}");
                assert!(text.ends_with('\n'), "{path}");
            }
        }
    }
}

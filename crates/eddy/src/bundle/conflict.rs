//! Modules of several filters that do not build together, although each filter builds alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::module::{GoModule, version_numbers};

/// Module whose versions before `fixed` do not build together with others.
struct Conflict {
    module: &'static str,
    /// First version that does.
    fixed: &'static str,
    /// Whether a module that is required with this version is one of the others.
    is_other: fn(path: &str, version: &str) -> bool,
}

/// Returns the requirements that let the filters of these modules build together.
pub(super) fn raised(modules: &[GoModule]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let requires = || modules.iter().flat_map(|module| &module.requires);
    let conflicts = CONFLICTS.iter().filter(move |conflict| {
        let is_old = |(path, version): (&String, &String)| {
            path == conflict.module && version_order(version) < version_order(conflict.fixed)
        };
        requires().any(is_old) && requires().any(|(path, version)| (conflict.is_other)(path, version))
    });
    conflicts.map(|conflict| (conflict.module, conflict.fixed))
}

/// Returns advice for a package that two modules have: which filter requires the older module, and what to do there.
pub(super) fn advice(errors: &str, requires: &BTreeMap<PathBuf, BTreeMap<String, String>>) -> Option<String> {
    let (_, after) = errors.split_once(AMBIGUOUS)?;
    // The Go command lists the modules, each on a line: path, version and folder.
    let listed = after.lines().skip(1).take_while(|line| line.starts_with('\t'));
    let modules = listed.filter_map(|line| line.split_whitespace().next());
    // The package has moved out of the module with the shorter path.
    let older = modules.min_by_key(|path| path.len())?;
    let filters: Vec<String> = requires
        .iter()
        .filter(|(_, required)| required.contains_key(older))
        .map(|(folder, _)| format!("\"{}\"", folder.display()))
        .collect();
    let which = match filters.as_slice() {
        [] => "a filter whose dependencies require it".to_owned(),
        _ => filters.join(" and "),
    };
    Some(format!(
        "the package has moved out of {older}, which {which} requires in an older version: run `go get {older}@latest` there, then `go mod tidy`"
    ))
}

/// Orders versions of one module: by their numbers, then commits between releases by their time.
fn version_order(version: &str) -> (Vec<u32>, &str) {
    let (release, rest) = version.split_once('-').unwrap_or((version, ""));
    let time =
        rest.split(['.', '-']).find(|part| part.len() == 14 && part.bytes().all(|c| c.is_ascii_digit()));
    (version_numbers(release), time.unwrap_or_default())
}

/// Folders of modules whose requirements are known, and their requirements.
pub(super) fn requires_of(modules: &[GoModule]) -> BTreeMap<PathBuf, BTreeMap<String, String>> {
    let of = |module: &GoModule| (Path::to_owned(&module.folder), module.requires.clone());
    modules.iter().map(of).collect()
}

const AMBIGUOUS: &str = "ambiguous import: found package ";

const CONFLICTS: [Conflict; 3] = [
    // Uses constants that google.golang.org/protobuf has removed.
    Conflict {
        module: "github.com/golang/protobuf",
        fixed: "v1.5.4",
        is_other: |path, version| {
            path == "google.golang.org/protobuf" && version_order(version) >= version_order("v1.33.0")
        },
    },
    // Was split into several modules.
    Conflict {
        module: "google.golang.org/genproto",
        fixed: "v0.0.0-20230530153820-e85fd2cbaebc",
        is_other: |path, _| path.starts_with("google.golang.org/genproto/"),
    },
    Conflict {
        module: "github.com/envoyproxy/go-control-plane",
        fixed: "v0.13.4",
        is_other: |path, _| path.starts_with("github.com/envoyproxy/go-control-plane/"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(requires: &[(&str, &str)]) -> Vec<GoModule> {
        let one = |(path, version): &(&str, &str)| {
            let mut module = GoModule::named(&format!("example.com/{path}"));
            module.requires.insert((*path).to_owned(), (*version).to_owned());
            module
        };
        requires.iter().map(one).collect()
    }

    #[test]
    fn versions_before_a_split_are_raised() {
        let check = |requires: &[(&str, &str)], expected: &[&str]| {
            let raised: Vec<&str> = raised(&modules(requires)).map(|(module, _)| module).collect();
            assert_eq!(raised, expected, "{requires:?}");
        };
        let old = ("google.golang.org/genproto", "v0.0.0-20220617124728-180714bec0ad");
        let part = ("google.golang.org/genproto/googleapis/rpc", "v0.0.0-20240227224415-6ceb2ff114de");
        check(&[old, part], &["google.golang.org/genproto"]);
        check(&[old], &[]);
        check(&[("google.golang.org/genproto", "v0.0.0-20240227224415-6ceb2ff114de"), part], &[]);
        let control = ("github.com/envoyproxy/go-control-plane", "v0.12.1-0.20240117015050-472addddff92");
        let envoy = ("github.com/envoyproxy/go-control-plane/envoy", "v1.36.0");
        check(&[control, envoy], &["github.com/envoyproxy/go-control-plane"]);
        let protobuf =
            |version| [("github.com/golang/protobuf", "v1.5.3"), ("google.golang.org/protobuf", version)];
        check(&protobuf("v1.31.0"), &[]);
        check(&protobuf("v1.36.6"), &["github.com/golang/protobuf"]);
    }

    #[test]
    fn an_ambiguous_import_names_the_filter_and_the_remedy() {
        let errors = "a.go:3:8: ambiguous import: found package example.com/a/b in multiple modules:\n\texample.com/a v1.0.0 (/m/a)\n\texample.com/a/b v1.0.0 (/m/b)\n";
        let mut requires = BTreeMap::new();
        let required = BTreeMap::from([("example.com/a".to_owned(), "v1.0.0".to_owned())]);
        requires.insert(PathBuf::from("/filters/one"), required);
        requires.insert(PathBuf::from("/filters/two"), BTreeMap::new());
        let advice = advice(errors, &requires).unwrap();
        assert!(advice.contains("\"/filters/one\"") && !advice.contains("two"), "{advice}");
        assert!(advice.contains("go get example.com/a@latest"), "{advice}");
        assert_eq!(super::advice("undefined: x", &requires), None);
    }
}

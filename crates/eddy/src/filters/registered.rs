//! Which registration of a Go library is meant: the one of the package that the configuration names.

use std::collections::BTreeSet;

use crate::bundle::LinkedPackage;

/// The name by which a library of many packages knows a filter of one of them.
///
/// A package means what it registers itself, or else what the packages register that it brings along.
///
/// # Errors
/// The package registers no such filter, or several that it brings along do.
pub(super) fn registered_name(
    name: &str,
    package: &LinkedPackage,
    known: &[String],
) -> Result<String, String> {
    if name.contains(':') && known.iter().any(|known| known == name) {
        // It says itself whose.
        return Ok(name.to_owned());
    }
    let own = format!("{}:{name}", package.path);
    if known.contains(&own) {
        return Ok(own);
    }
    let by: BTreeSet<&str> = known.iter().filter_map(|known| registered_by(known, name)).collect();
    let brought: Vec<&str> = by.iter().copied().filter(|by| package.links.contains(*by)).collect();
    let path = &package.path;
    match (&brought[..], by.is_empty()) {
        ([one], _) => Ok(format!("{one}:{name}")),
        ([], true) if known.iter().any(|known| known == name) => Ok(name.to_owned()),
        ([], true) => {
            let mut names: Vec<_> = known.iter().filter_map(|known| name_of(known, package)).collect();
            names.sort_unstable();
            names.dedup();
            let names = if names.is_empty() { "none".to_owned() } else { quoted(names.into_iter()) };
            Err(format!("the package {path:?} registers no filter {name:?}; it registers {names}"))
        }
        ([], false) => {
            let others = quoted(by.into_iter());
            Err(format!("the package {path:?} registers no filter {name:?}; one of that name is of {others}"))
        }
        (several, _) => {
            let full = several.iter().map(|by| format!("{by}:{name}")).collect::<Vec<_>>();
            let full = quoted(full.iter().map(String::as_str));
            Err(format!(
                "several packages that {path:?} imports register a filter {name:?}: say one of {full}"
            ))
        }
    }
}

/// The package that registers a filter of this name, if that is what a library's name says.
fn registered_by<'a>(known: &'a str, name: &str) -> Option<&'a str> {
    known.strip_suffix(name)?.strip_suffix(':')
}

/// The name of a filter that a package has or brings along.
fn name_of<'a>(known: &'a str, package: &LinkedPackage) -> Option<&'a str> {
    let (by, name) = known.rsplit_once(':')?;
    package.links.contains(by).then_some(name)
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn check(name: &str, known: &[&str], expected: Result<&str, &str>) {
        let links = ["a.test/one", "f.test/frame", "a.test/one/inner"].map(str::to_owned).into();
        let package = LinkedPackage { folder: PathBuf::from("/one"), path: "a.test/one".to_owned(), links };
        let known: Vec<String> = known.iter().map(|known| (*known).to_owned()).collect();
        match (registered_name(name, &package, &known), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
            (Err(why), Err(part)) => assert!(why.contains(part), "{name}: {why}"),
            (found, expected) => panic!("{name}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn a_package_means_its_own_registration() {
        let two = ["x", "a.test/one:x", "a.test/two:x", "y", "a.test/two:y"];
        check("x", &two, Ok("a.test/one:x"));
        check("a.test/two:x", &two, Ok("a.test/two:x"));
        check("y", &two, Err("one of that name is of \"a.test/two\""));
        check("z", &two, Err("\"a.test/one\" registers no filter \"z\"; it registers \"x\""));
        check("z", &["y", "a.test/two:y"], Err("it registers none"));
    }

    #[test]
    fn else_what_it_brings_along() {
        let inner = ["x", "a.test/one/inner:x", "a.test/two:x", "f.test/frame:x"];
        check("x", &inner[..3], Ok("a.test/one/inner:x"));
        check("x", &inner, Err("say one of \"a.test/one/inner:x\", \"f.test/frame:x\""));
        // A kit of before, which does not say whose they are.
        check("x", &["x"], Ok("x"));
    }
}

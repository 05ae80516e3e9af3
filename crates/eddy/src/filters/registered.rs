//! Selects the registration of a Go library that belongs to the configured package.

use std::collections::BTreeSet;

use crate::bundle::LinkedPackage;

/// Returns the name under which a library of several packages registers a filter of one of them.
///
/// A filter registered by the package itself takes precedence over those registered by its dependencies.
///
/// # Errors
/// When neither the package nor its dependencies register such a filter, or several dependencies do.
pub(super) fn registered_name(
    name: &str,
    package: &LinkedPackage,
    known: &[String],
) -> Result<String, String> {
    if name.contains(':') && known.iter().any(|known| known == name) {
        // The name includes its package.
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
            Err(format!("the package {path:?} registers no filter {name:?}; one of that name is in {others}"))
        }
        (several, _) => {
            let full = several.iter().map(|by| format!("{by}:{name}")).collect::<Vec<_>>();
            let full = quoted(full.iter().map(String::as_str));
            Err(format!(
                "several packages that {path:?} imports register a filter {name:?}: use one of {full}"
            ))
        }
    }
}

/// Returns the package part of a registered name, if its filter part is `name`.
fn registered_by<'a>(known: &'a str, name: &str) -> Option<&'a str> {
    known.strip_suffix(name)?.strip_suffix(':')
}

/// Returns the name of a filter registered by a package or its dependencies.
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
    fn a_package_prefers_its_own_registration() {
        let two = ["x", "a.test/one:x", "a.test/two:x", "y", "a.test/two:y"];
        check("x", &two, Ok("a.test/one:x"));
        check("a.test/two:x", &two, Ok("a.test/two:x"));
        check("y", &two, Err("one of that name is in \"a.test/two\""));
        check("z", &two, Err("\"a.test/one\" registers no filter \"z\"; it registers \"x\""));
        check("z", &["y", "a.test/two:y"], Err("it registers none"));
    }

    #[test]
    fn otherwise_a_package_uses_registrations_of_its_dependencies() {
        let inner = ["x", "a.test/one/inner:x", "a.test/two:x", "f.test/frame:x"];
        check("x", &inner[..3], Ok("a.test/one/inner:x"));
        check("x", &inner, Err("use one of \"a.test/one/inner:x\", \"f.test/frame:x\""));
        // An older SDK registers names without their packages.
        check("x", &["x"], Ok("x"));
    }
}

//! Envoy versions that filters are written for, and the declarations of Envoy's Go API that differ between them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use super::module::{GoModule, Replaced, version_numbers};

/// Returns the file that replaces [`VERSIONS_FILE`] for filters of these modules: the declarations of exactly the Envoy
/// versions that they are written for. `None` if the version of any of them is unknown, or no filter is for Envoy.
///
/// The file of the SDK fits most filters of each version. It does not fit a type that embeds an interface of the API
/// beside a type of its own with a method that only other versions of the interface have.
///
/// # Source
/// `contrib/golang/common/go/api/filter.go` of Envoy 1.26.1 to 1.39.0.
pub(super) fn declarations(modules: &[GoModule]) -> Option<String> {
    let versions: Vec<Option<u32>> =
        modules.iter().filter(|module| is_for_envoy(module)).map(minor).collect();
    let minors: Vec<u32> = versions.into_iter().collect::<Option<_>>()?;
    let (oldest, newest) = (*minors.iter().min()?, *minors.iter().max()?);
    let factory = match (oldest, newest) {
        (31.., _) => {
            "StreamFilterFactory func(config interface{}, callbacks FilterCallbackHandler) StreamFilter"
        }
        (_, ..=30) => "StreamFilterFactory func(callbacks FilterCallbackHandler) StreamFilter",
        _ => "StreamFilterFactory = interface{}",
    };
    let headers = match (oldest, newest) {
        (_, ..=28) => "map[string]string",
        (29.., _) => "map[string][]string",
        _ => "interface{}",
    };
    let handler = "Continue(StatusType)\n\tSendLocalReply(responseCode int, bodyText string, headers ReplyHeaders, grpcStatus int64, details string)\n\tRecoverPanic()";
    let callbacks = [
        ("handlerCallbacks", handler, oldest <= 30),
        ("addDataCallbacks", "AddData(data []byte, isStreaming bool)", newest >= 33),
        ("injectDataCallbacks", "InjectData(data []byte)", newest >= 34),
        ("endpointCallbacks", "SetUpstreamOverrideHost(host string, strict bool) error", newest >= 34),
    ];
    let mut text = format!("package api\n\ntype {factory}\n\ntype ReplyHeaders = {headers}\n");
    for (name, methods, is_present) in callbacks {
        let methods = if is_present { format!("\n\t{methods}\n") } else { String::new() };
        // Writing to a string never fails.
        let _ = write!(text, "\ntype {name} interface {{{methods}}}\n");
    }
    Some(text)
}

/// Writes the declarations to the folder of an overlay, and the overlay file of the Go command, which other replacements
/// are added to.
pub(super) fn write_overlay(out: &Path, declarations: &str, replaced: &Path) -> io::Result<()> {
    fs::create_dir_all(out)?;
    let file = out.join("versions.go");
    fs::write(&file, declarations)?;
    let overlay = BTreeMap::from([("Replace", BTreeMap::from([(replaced, &file)]))]);
    fs::write(out.join("overlay.json"), serde_json::to_vec(&overlay)?)
}

fn is_for_envoy(module: &GoModule) -> bool {
    [ENVOY, ENVOY_BEFORE_1_26].iter().any(|path| module.requires.contains_key(*path))
}

/// Returns 31 for a module that requires Envoy 1.31.
fn minor(module: &GoModule) -> Option<u32> {
    let Some(required) = module.requires.get(ENVOY) else { return Some(25) };
    let is_replaced = |(old, _): &(&Replaced, &String)| {
        old.path == ENVOY && (old.version.is_empty() || old.version == *required)
    };
    let version = match module.replaces.iter().find(is_replaced) {
        // A folder may have any version.
        Some((_, new)) => new.strip_prefix(ENVOY)?.trim_start(),
        None => required,
    };
    // A commit between releases may have the API of either.
    let is_release = !version.contains('-');
    let numbers = version_numbers(version);
    numbers.get(1).copied().filter(|minor| is_release && numbers.first() == Some(&1) && *minor >= 26)
}

/// Module replaced by the SDK for filters written for Envoy.
pub(crate) const ENVOY: &str = "github.com/envoyproxy/envoy";
/// Module of Envoy's Go API in snapshots before Envoy 1.26, whose packages are in [`ENVOY`] today.
pub(crate) const ENVOY_BEFORE_1_26: &str =
    "github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go";
/// Folder of the module that takes the place of [`ENVOY_BEFORE_1_26`].
pub(crate) const BEFORE_1_26_FOLDER: &str = "go-envoy/before-1.26";
/// File of the SDK with the declarations that differ between versions.
pub(super) const VERSIONS_FILE: &str = "go-envoy/contrib/golang/common/go/api/versions.go";

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str, version: &str, replaced: Option<&str>) -> GoModule {
        let mut module = GoModule::named("example.com/filter");
        module.requires.insert(path.to_owned(), version.to_owned());
        if let Some(new) = replaced {
            let old = Replaced { path: ENVOY.to_owned(), version: String::new() };
            module.replaces.insert(old, new.to_owned());
        }
        module
    }

    #[test]
    fn the_version_of_envoy_is_read_from_go_mod() {
        let check = |version: &str, replaced: Option<&str>, expected: Option<u32>| {
            assert_eq!(minor(&module(ENVOY, version, replaced)), expected, "{version} {replaced:?}");
        };
        check("v1.31.0", None, Some(31));
        check("v1.31.0", Some("github.com/envoyproxy/envoy v1.29.5"), Some(29));
        check("v1.31.0", Some("\"/home/me/envoy\""), None);
        check("v1.31.0", Some("github.com/me/envoy v1.31.0"), None);
        check("v1.30.1-0.20240618211207-87bc8a9bc8b3", None, None);
        check("v1.24.0", None, None);
        assert_eq!(minor(&module(ENVOY_BEFORE_1_26, "v0.0.0-20230218013313-14111e3c62d3", None)), Some(25));
    }

    #[test]
    fn the_declarations_are_those_of_the_versions() {
        let declared = |versions: &[&str]| {
            let modules: Vec<_> = versions.iter().map(|version| module(ENVOY, version, None)).collect();
            declarations(&modules)
        };
        let check = |versions: &[&str], has: &[&str], has_not: &[&str]| {
            let text = declared(versions).unwrap();
            assert!(has.iter().all(|part| text.contains(part)), "{text}");
            assert!(!has_not.iter().any(|part| text.contains(part)), "{text}");
        };
        let handler = "\tContinue(StatusType)\n";
        check(
            &["v1.27.0"],
            &[handler, "map[string]string"],
            &["AddData(", "InjectData(", "config interface{}"],
        );
        check(&["v1.29.0"], &[handler, "map[string][]string"], &["AddData(", "StreamFilterFactory ="]);
        check(&["v1.31.0", "v1.32.4"], &["config interface{}"], &["AddData(", "Continue("]);
        check(&["v1.33.0"], &["AddData("], &["InjectData(", "SetUpstreamOverrideHost", "Continue("]);
        check(&["v1.36.2"], &["AddData(", "InjectData(", "SetUpstreamOverrideHost("], &["Continue("]);
        check(&["v1.27.0", "v1.36.2"], &[handler, "InjectData(", "ReplyHeaders = interface{}"], &[]);
        assert_eq!(declared(&["v1.31.0", "v1.24.0"]), None);
        assert_eq!(declared(&[]), None);
    }
}

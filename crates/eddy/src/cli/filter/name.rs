//! Valid filter names, which fit into every file of a project.

use anyhow::bail;

/// Name of lower-case letters, digits and hyphens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilterName(String);

impl FilterName {
    /// Checks a name.
    ///
    /// # Errors
    /// Why the name is invalid.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !text.starts_with(|c: char| c.is_ascii_lowercase())
            || !text.chars().all(is_part)
            || text.ends_with('-')
        {
            bail!(
                "\"{text}\" is not a valid filter name: use lower-case letters, digits and hyphens, as in basic-auth"
            );
        }
        if text.len() > NAME_CHARS_MAX {
            bail!("\"{text}\" is not a valid filter name: it has more than {NAME_CHARS_MAX} characters");
        }
        if is_taken(text) {
            bail!("\"{text}\" is not a valid filter name: it is reserved; try \"my-{text}\"");
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name as given.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the name without hyphens, as a Go package name.
    pub(super) fn package(&self) -> String {
        let joined = self.0.replace('-', "");
        // A name may become a keyword only when its hyphens are removed.
        if is_taken(&joined) { format!("{joined}filter") } else { joined }
    }

    /// Returns the name with underscores, as a Rust library name.
    pub(super) fn library(&self) -> String {
        self.0.replace('-', "_")
    }
}

fn is_taken(name: &str) -> bool {
    TAKEN.split(' ').any(|taken| taken == name)
}

const NAME_CHARS_MAX: usize = 50;
/// Keywords of Go, Rust and YAML, packages that the Go template imports, and folders and crates with a special meaning.
const TAKEN: &str = "\
    abstract alloc as async await become bool box break case chan const continue core crate default \
    defer do dyn eddy eddy-sdk eddytest else enum extern fallthrough false final fn for func gen go goto \
    if impl import in interface internal let loop macro main map match mod move mut no null off on \
    override package priv pub range ref return select self serde static std struct super switch test \
    testdata testing trait true try type typeof union unsafe unsized use var vendor virtual yes";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_names_are_valid_in_all_languages() {
        for good in ["a", "basic-auth", "x2", "a-b-c"] {
            assert!(FilterName::parse(good).is_ok(), "{good}");
        }
        let long = "a".repeat(51);
        for bad in ["", "A", "2x", "-a", "a-", "a_b", "a/b", "..", "a b", "go", "test", "å", &long] {
            assert!(FilterName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_become_packages_and_libraries() {
        let name = FilterName::parse("basic-auth").unwrap();
        assert_eq!((name.package(), name.library()), ("basicauth".to_owned(), "basic_auth".to_owned()));
        assert_eq!(FilterName::parse("go-to").unwrap().package(), "gotofilter");
    }
}

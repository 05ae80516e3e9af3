//! Cases where eddy's strictness deliberately differs from the expectation of their source, each with the RFC section.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::corpus::{Expect, FramingCase};

/// The exceptions file. A line is `accept|reject|any source/id-pattern RFC section: reason`; `*` matches any text.
#[derive(Clone, Debug, Default)]
pub struct Exceptions {
    lines: Vec<ExceptionRule>,
}

#[derive(Clone, Debug)]
struct ExceptionRule {
    expect: Expect,
    pattern: String,
}

impl Exceptions {
    /// Reads the file.
    ///
    /// # Errors
    /// When the file cannot be read or a line lacks a part, in particular the RFC section.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut exceptions = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let at = || format!("{}:{number}", path.display());
            let parts: Vec<&str> = line.splitn(3, '\t').collect();
            let [expect, pattern, reason] = parts[..] else {
                anyhow::bail!(
                    "{}: expected three parts separated by tabs: expectation, pattern, reason",
                    at()
                );
            };
            ensure!(
                reason.contains("RFC") && reason.contains('§'),
                "{}: the reason names no RFC section",
                at()
            );
            let expect = match expect {
                "accept" => Expect::Accept,
                "reject" => Expect::Reject,
                "any" => Expect::Any,
                other => anyhow::bail!("{}: {other:?} is not an expectation", at()),
            };
            exceptions.lines.push(ExceptionRule { expect, pattern: pattern.trim().into() });
        }
        Ok(exceptions)
    }

    /// Replaces the expectation of each case that matches an exception; a later line wins.
    pub fn apply(&self, cases: &mut [FramingCase]) {
        for line in &self.lines {
            for case in cases.iter_mut().filter(|case| matches(&line.pattern, &case.name())) {
                case.expect = line.expect;
            }
        }
    }
}

/// Whether `name` matches `pattern`, in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        Some(part) => part.is_empty() || rest.is_empty() || name.ends_with(part),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_matches_any_text() {
        assert!(matches("a/*", "a/b"));
        assert!(matches("a/*#1", "a/b#2 #1"));
        assert!(matches("a/b", "a/b"));
        assert!(!matches("a/b", "a/bc"));
        assert!(!matches("a/*c", "a/b"));
        assert!(matches("*x*", "axb"));
    }
}

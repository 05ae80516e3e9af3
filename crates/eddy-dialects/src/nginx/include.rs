//! `include`: the files that a configuration includes, and insertion of their directives.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use eddy_spec::problem::{ProblemReport, SourceText, shown};

use super::tree::{Directive, parse};

/// Whether a file is an NGINX configuration, by its name.
pub(crate) fn is_nginx(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "conf")
}

/// Returns the patterns of all `include` directives in a source and in those that it includes, as paths from the
/// working directory of eddy.
///
/// Patterns are relative to the directory of that source.
pub(crate) fn includes(sources: &[SourceText], root: usize) -> Vec<String> {
    let Some(path) = sources.get(root).map(|root| &root.path) else { return Vec::new() };
    let mut found = Vec::new();
    let mut report = ProblemReport::new();
    let mut pending = vec![root];
    let mut seen = vec![false; sources.len()];
    while let Some(number) = pending.pop() {
        if std::mem::replace(&mut seen[number], true) {
            continue;
        }
        let mut own = Vec::new();
        gather(&parse(&sources[number].text, 0, &mut report), path, &mut own);
        let asked = |source: &SourceText| own.iter().any(|pattern| matches_pattern(pattern, &source.path));
        pending
            .extend(sources.iter().enumerate().filter(|(_, source)| asked(source)).map(|(number, _)| number));
        found.extend(own);
    }
    found.sort();
    found.dedup();
    found
}

fn gather(directives: &[Directive], root: &str, found: &mut Vec<String>) {
    for directive in directives {
        if let ("include", [pattern]) = (directive.name.text.as_str(), directive.arguments.as_slice()) {
            found.push(resolved(&pattern.text, root));
        }
        gather(directive.block.as_deref().unwrap_or_default(), root, found);
    }
}

/// Returns the directives of a source, with files inserted in place of their `include`.
pub(super) fn united(sources: &[SourceText], root: usize, report: &mut ProblemReport) -> Vec<Directive> {
    let mut uniter = Uniter {
        sources,
        root: sources.get(root).map_or("", |source| &source.path),
        trees: HashMap::new(),
        left: DIRECTIVES_MAX,
    };
    let first = uniter.tree(root, report);
    uniter.unite(&first, 0, report)
}

struct Uniter<'t> {
    sources: &'t [SourceText],
    /// Path of the first source.
    root: &'t str,
    /// Parsed sources, by index.
    trees: HashMap<usize, Rc<[Directive]>>,
    /// Number of directives that may still be added: files that include each other multiply.
    left: usize,
}

impl Uniter<'_> {
    fn tree(&mut self, source: usize, report: &mut ProblemReport) -> Rc<[Directive]> {
        let read = self.trees.entry(source).or_insert_with(|| {
            let text = self.sources.get(source).map_or("", |source| &source.text);
            parse(text, u32::try_from(source).unwrap_or(u32::MAX), report).into()
        });
        Rc::clone(read)
    }

    fn unite(
        &mut self,
        directives: &[Directive],
        depth: usize,
        report: &mut ProblemReport,
    ) -> Vec<Directive> {
        let mut united = Vec::with_capacity(directives.len());
        for directive in directives {
            let Some(left) = self.left.checked_sub(1) else { return united };
            self.left = left;
            if left == 0 {
                let message = format!("there are more than {DIRECTIVES_MAX} directives");
                report.error(directive.name.place, message);
            }
            if directive.name.text == "include" && directive.block.is_none() {
                self.include(directive, depth, &mut united, report);
                continue;
            }
            let block = directive.block.as_ref().map(|block| self.unite(block, depth, report));
            let Directive { name, arguments, .. } = directive;
            united.push(Directive { name: name.clone(), arguments: arguments.clone(), block });
        }
        united
    }

    fn include(
        &mut self,
        directive: &Directive,
        depth: usize,
        united: &mut Vec<Directive>,
        report: &mut ProblemReport,
    ) {
        let [pattern] = directive.arguments.as_slice() else {
            report.error(directive.name.place, "`include` takes one file or pattern");
            return;
        };
        if depth >= DEPTH_MAX {
            report
                .error(pattern.place, format!("files are included more than {DEPTH_MAX} deep"))
                .hint("does a file include itself?");
            return;
        }
        let path = resolved(&pattern.text, self.root);
        let sources = self.sources;
        let mut matching: Vec<(&str, usize)> = sources
            .iter()
            .enumerate()
            .filter(|(_, source)| matches_pattern(&path, &source.path))
            .map(|(number, source)| (&*source.path, number))
            .collect();
        matching.sort_unstable();
        if matching.is_empty() && !is_pattern(&path) {
            report
                .error(pattern.place, format!("there is no file `{}`", shown(&path)))
                .hint("relative paths are resolved against the folder of the first file");
        }
        for (_, number) in matching {
            let tree = self.tree(number, report);
            let own = self.unite(&tree, depth + 1, report);
            united.extend(own);
        }
    }
}

/// Returns a pattern as a path from the working directory of eddy.
fn resolved(pattern: &str, root: &str) -> String {
    let folder = Path::new(root).parent().unwrap_or_else(|| Path::new(""));
    folder.join(pattern).to_string_lossy().into_owned()
}

/// Whether a name contains `*`, `?` or `[`, so that it matches any number of files.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether a pattern matches a path: `*` and `?` match anything but `/`, `[…]` one of several characters.
pub fn matches_pattern(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len()
        && pattern.iter().zip(&path).all(|(pattern, part)| {
            let is_hidden = part.starts_with('.') && !pattern.starts_with('.');
            !is_hidden && part_matches(pattern.as_bytes(), part.as_bytes())
        })
}

fn part_matches(pattern: &[u8], part: &[u8]) -> bool {
    // Position to resume at when the part after the last `*` did not match: the `*` then takes one more character.
    let (mut at, mut next, mut star) = (0, 0, None);
    while next < part.len() {
        let step = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, next));
                at += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => class_len(&pattern[at..], part[next]),
            Some(letter) if *letter == part[next] => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(len), _) => {
                at += len;
                next += 1;
            }
            (None, Some((after, from))) => {
                at = after;
                next = from + 1;
                star = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

/// Returns the length of a `[…]` that contains the letter.
fn class_len(pattern: &[u8], letter: u8) -> Option<usize> {
    let end = pattern.iter().skip(2).position(|byte| *byte == b']')? + 2;
    let (is_negated, class) = match pattern.get(1) {
        Some(b'!' | b'^') => (true, &pattern[2..end]),
        _ => (false, &pattern[1..end]),
    };
    let mut rest = class;
    let mut has = false;
    while let Some((first, after)) = rest.split_first() {
        match after {
            [b'-', last, after @ ..] => {
                has |= (*first..=*last).contains(&letter);
                rest = after;
            }
            _ => {
                has |= *first == letter;
                rest = after;
            }
        }
    }
    (has != is_negated).then_some(end + 1)
}

/// Maximum nesting of included files.
const DEPTH_MAX: usize = 16;

/// Maximum number of directives in a configuration; a file counts as often as it is included.
const DIRECTIVES_MAX: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use eddy_spec::problem::SourceText;

    use super::{includes, matches_pattern};

    #[test]
    fn glob_patterns_match_paths() {
        for (pattern, path, expected) in [
            ("a/*.conf", "a/b.conf", true),
            ("a/*.conf", "a/.b.conf", false),
            ("a/*.conf", "a/b/c.conf", false),
            ("a/*/x", "a/b/x", true),
            ("a?c", "abc", true),
            ("a[b-d]e", "ace", true),
            ("a[!b-d]e", "ace", false),
            ("*a*b", "xaaybb", true),
            ("*a*b", "xbya", false),
            ("a.conf", "a.conf", true),
            ("a.conf", "axconf", false),
        ] {
            assert_eq!(matches_pattern(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn includes_are_relative_to_the_first_file() {
        let sources = [
            SourceText::new("etc/nginx.conf", "http { include sites/*; }"),
            SourceText::new("etc/sites/a", "server { include /x/y; }"),
        ];
        assert_eq!(includes(&sources, 0), ["/x/y", "etc/sites/*"]);
    }
}

//! Server selection by host: exact names, then wildcards, then expressions in file order.

use std::collections::HashSet;

use thiserror::Error;

use super::pattern::{LetterCase, SearchPattern};
use crate::error::RouteProblem;
use crate::index::ByValue;

/// A server name.
#[derive(Debug)]
pub struct ServerName {
    /// Name as written.
    pub text: Box<str>,
    /// Meaning of the name.
    pub form: NameForm,
}

/// Meaning of a server name.
#[expect(clippy::large_enum_variant, reason = "read in place; there are few of them")]
#[derive(Debug)]
pub enum NameForm {
    /// This host; the empty name matches requests without a host.
    Exact(Box<str>),
    /// `*.example.com`: every host that ends with `.example.com`.
    Leading(Box<str>),
    /// `.example.com`: the host itself and all its subdomains. Stored without the dot.
    Domain(Box<str>),
    /// `www.example.*`: every host that begins with `www.example.`.
    Trailing(Box<str>),
    /// `~…`: every host in which the expression matches.
    Pattern(SearchPattern),
}

/// Reason why a server name is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NameFault {
    /// A `*` that is not a label of its own at the beginning or end, or an empty label.
    #[error("\"{name}\" is not a server name: a `*` must be the whole first or last label")]
    Wildcard {
        /// The name as written.
        name: String,
    },
    /// The expression cannot be compiled.
    #[error(transparent)]
    Pattern(#[from] RouteProblem),
}

impl ServerName {
    /// Parses a name. An expression with an upper-case letter ignores letter case, because hosts are compared in lower
    /// case.
    ///
    /// # Errors
    /// Any [`NameFault`].
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        Ok(Self { text: text.into(), form: form_of(text)? })
    }

    /// Writes the name as `$server_name` shows it: in lower case, without the dot of `.example.com`; an expression as
    /// written.
    pub(crate) fn write_display_name(&self, out: &mut Vec<u8>) {
        match &self.form {
            NameForm::Pattern(_) => out.extend_from_slice(self.text.as_bytes()),
            NameForm::Exact(_) | NameForm::Leading(_) | NameForm::Domain(_) | NameForm::Trailing(_) => {
                let text = self.text.strip_prefix('.').unwrap_or(&self.text);
                out.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
            }
        }
    }

    /// Whether the name matches a host in lower case.
    pub(crate) fn matches(&self, host: &[u8], scratch: &mut crate::compile::PatternScratch) -> bool {
        match &self.form {
            NameForm::Exact(name) => host == name.as_bytes(),
            NameForm::Leading(end) => host.len() > end.len() && host.ends_with(end.as_bytes()),
            NameForm::Domain(name) => {
                host.strip_suffix(name.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.ends_with(b"."))
            }
            NameForm::Trailing(start) => host.len() > start.len() && host.starts_with(start.as_bytes()),
            NameForm::Pattern(pattern) => pattern.is_in(host, scratch),
        }
    }
}

fn form_of(text: &str) -> Result<NameForm, NameFault> {
    if let Some(pattern) = text.strip_prefix('~') {
        let has_capital = pattern.bytes().any(|byte| byte.is_ascii_uppercase());
        let case = if has_capital { LetterCase::Ignored } else { LetterCase::Counts };
        return Ok(NameForm::Pattern(SearchPattern::parse(pattern, case)?));
    }
    let fault = || NameFault::Wildcard { name: text.to_owned() };
    let name = text.to_ascii_lowercase();
    let is_plain = |part: &str| !part.is_empty() && !part.contains('*') && !part.contains("..");
    if let Some(end) = name.strip_prefix('*') {
        let is_sound = end.strip_prefix('.').is_some_and(|rest| is_plain(rest) && !rest.starts_with('.'));
        return if is_sound { Ok(NameForm::Leading(end.into())) } else { Err(fault()) };
    }
    if let Some(domain) = name.strip_prefix('.') {
        return if is_plain(domain) { Ok(NameForm::Domain(domain.into())) } else { Err(fault()) };
    }
    if let Some(start) = name.strip_suffix('*') {
        let is_sound = start.strip_suffix('.').is_some_and(|rest| is_plain(rest) && !rest.ends_with('.'));
        return if is_sound { Ok(NameForm::Trailing(start.into())) } else { Err(fault()) };
    }
    if name.contains('*') || name.contains("..") {
        return Err(fault());
    }
    Ok(NameForm::Exact(name.strip_suffix('.').unwrap_or(&name).into()))
}

/// Index of the names of the servers at one address.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    exact: ByValue<u32>,
    leading: ByValue<u32>,
    trailing: ByValue<u32>,
    /// Server and index of its name, in file order.
    patterns: Vec<(u32, usize)>,
}

/// A server found by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameFound {
    pub(crate) server: u32,
    /// Index of the name in its server's list, if it is an expression.
    pub(crate) pattern: Option<usize>,
}

impl NameIndex {
    /// Builds the index of these servers; if two servers have the same name, the first one wins.
    pub(crate) fn build<'n>(servers: impl Iterator<Item = (u32, &'n [ServerName])>) -> Self {
        let mut index = Self::default();
        let mut taken: HashSet<(u8, &[u8])> = HashSet::new();
        for (server, names) in servers {
            for (at, name) in names.iter().enumerate() {
                let mut add = |table: &mut ByValue<u32>, kind: u8, key: &'n [u8], full: &[u8]| {
                    if taken.insert((kind, key)) {
                        table.insert(full.into(), server);
                    }
                };
                match &name.form {
                    NameForm::Exact(name) => add(&mut index.exact, 0, name.as_bytes(), name.as_bytes()),
                    NameForm::Leading(end) => {
                        add(&mut index.leading, 1, &end.as_bytes()[1..], end.as_bytes());
                    }
                    NameForm::Domain(name) => {
                        add(&mut index.exact, 0, name.as_bytes(), name.as_bytes());
                        let end = format!(".{name}");
                        add(&mut index.leading, 1, name.as_bytes(), end.as_bytes());
                    }
                    NameForm::Trailing(start) => {
                        add(&mut index.trailing, 2, start.as_bytes(), start.as_bytes());
                    }
                    NameForm::Pattern(_) => index.patterns.push((server, at)),
                }
            }
        }
        index
    }

    /// Returns the server for a host in lower case; `matches` evaluates an expression.
    pub(crate) fn find(&self, host: &[u8], mut matches: impl FnMut(u32, usize) -> bool) -> Option<NameFound> {
        let of_server = |server: &u32| NameFound { server: *server, pattern: None };
        if let Some(server) = self.exact.get(host) {
            return Some(of_server(server));
        }
        let dots = || memchr::memchr_iter(b'.', host);
        let mut leading = dots().filter(|at| *at > 0).filter_map(|at| self.leading.get(&host[at..]));
        if let Some(server) = leading.next() {
            return Some(of_server(server));
        }
        let mut trailing = memchr::memrchr_iter(b'.', host)
            .filter(|at| at + 1 < host.len())
            .filter_map(|at| self.trailing.get(&host[..=at]));
        if let Some(server) = trailing.next() {
            return Some(of_server(server));
        }
        // An empty host is not matched against expressions.
        if host.is_empty() {
            return None;
        }
        let found = self.patterns.iter().find(|(server, at)| matches(*server, *at))?;
        Some(NameFound { server: found.0, pattern: Some(found.1) })
    }
}

/// Finds the server by trying every name, in NGINX's order of kinds.
pub(crate) fn find_sequentially<'n>(
    servers: impl Iterator<Item = (u32, &'n [ServerName])> + Clone,
    host: &[u8],
    scratch: &mut crate::compile::PatternScratch,
) -> Option<NameFound> {
    let names = servers
        .flat_map(|(server, names)| names.iter().enumerate().map(move |(at, name)| (server, at, name)));
    let mut best = None;
    for (server, at, name) in names {
        let is_pattern = matches!(name.form, NameForm::Pattern(_));
        if (is_pattern && host.is_empty()) || !name.matches(host, scratch) {
            continue;
        }
        let place = match &name.form {
            NameForm::Exact(_) => (0, 0),
            NameForm::Domain(name) if host == name.as_bytes() => (0, 0),
            NameForm::Leading(end) => (1, usize::MAX - end.len()),
            NameForm::Domain(name) => (1, usize::MAX - name.len() - 1),
            NameForm::Trailing(start) => (2, usize::MAX - start.len()),
            NameForm::Pattern(_) => (3, 0),
        };
        if best.is_none_or(|(known, _): ((u8, usize), _)| place < known) {
            best = Some((place, NameFound { server, pattern: is_pattern.then_some(at) }));
        }
    }
    best.map(|(_, found)| found)
}

//! Possible values of variables, as far as the configuration determines them: the texts that `set` and `map` assign.
//!
//! `proxy_pass` uses no other values, so that clients cannot choose the address that eddy connects to. The texts are
//! collected from the directives as written: within a server and a location in the order of the program, and from all
//! other locations.

use std::collections::{BTreeSet, HashMap, HashSet};

use eddy_route::nginx::{Variable, Variables};

use super::tree::Directive;

/// Texts that a value may have.
pub(super) type Texts = BTreeSet<KnownText>;

/// Possible values of variables at one point of a program.
pub(super) type VariableValues = HashMap<String, Texts>;

/// Text that a value may have, as far as the configuration determines it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KnownText {
    pub(super) text: String,
    /// Part that the request appends to the text.
    pub(super) end: Option<OpenEnd>,
}

/// Part of a value that is known only when a request arrives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OpenEnd {
    /// Variable that provides the part.
    pub(super) variable: String,
    pub(super) kind: EndKind,
    /// Whether more of the value follows.
    has_more: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EndKind {
    /// Starts a path or query.
    Uri,
    /// Group of a regular expression, which may start one.
    Group,
    /// Anything else.
    Other,
    /// The value has more possible texts than can be kept.
    TooMany,
}

/// Values that a configuration gives to variables, in all servers and in the current one.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    /// Values in each map.
    maps: HashMap<String, Vec<String>>,
    /// Named groups of regular expressions.
    groups: HashSet<String>,
    /// Addresses that `proxy_pass` names without variables.
    pub(super) addresses: HashSet<String>,
    /// `$server_name` and the ports of the current server.
    server_name: String,
    ports: Vec<String>,
    /// Values that `set` in locations of the current server gives to each variable.
    set_in_locations: HashMap<String, Vec<String>>,
    /// Values of variables after the server's own program has run.
    at_end: VariableValues,
}

impl Constants {
    /// Collects the values in the directives of `http`.
    pub(super) fn of_http(directives: &[Directive]) -> Self {
        let mut constants = Self::default();
        constants.gather(directives);
        constants
    }

    fn gather(&mut self, directives: &[Directive]) {
        for directive in directives {
            let block = directive.block.as_deref().unwrap_or_default();
            let words = std::iter::once(&directive.name).chain(&directive.arguments);
            self.groups.extend(words.flat_map(|word| named_groups(&word.text)));
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("map", [_, name]) => {
                    let values = block.iter().filter_map(|row| row.arguments.first());
                    let values = values.map(|value| value.text.clone());
                    let has_default = block.iter().any(|row| row.name.text == "default");
                    let all = self.maps.entry(variable(&name.text)).or_default();
                    all.extend(values.chain((!has_default).then(String::new)));
                }
                ("proxy_pass", [address]) if !address.text.contains('$') => {
                    self.addresses.insert(address.text.to_ascii_lowercase());
                }
                _ => {}
            }
            self.gather(block);
        }
    }

    /// Makes a server the current one.
    pub(super) fn enter_server(&mut self, server: &[Directive]) {
        self.set_in_locations.clear();
        self.at_end.clear();
        let all = |name: &'static str| server.iter().filter(move |directive| directive.name.text == name);
        let first_of = |directive: &Directive| directive.arguments.first().map(|word| word.text.clone());
        self.server_name = all("server_name").next().and_then(first_of).unwrap_or_default();
        let port_of = |listen: String| {
            let port =
                listen.rsplit(':').next().filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
            port.unwrap_or("80").to_owned()
        };
        self.ports = all("listen").filter_map(first_of).map(port_of).collect();
        if !has_computed(server) {
            return;
        }
        for location in all("location") {
            self.collect_set_directives(location.block.as_deref().unwrap_or_default());
        }
        self.at_end = self.after(server);
    }

    fn collect_set_directives(&mut self, directives: &[Directive]) {
        for directive in directives {
            if let ("set", [name, value]) = (directive.name.text.as_str(), directive.arguments.as_slice()) {
                self.set_in_locations.entry(variable(&name.text)).or_default().push(value.text.clone());
            }
            self.collect_set_directives(directive.block.as_deref().unwrap_or_default());
        }
    }

    /// Returns the possible values of variables after the program of a block has run.
    pub(super) fn after(&self, block: &[Directive]) -> VariableValues {
        let (mut held, mut exits) = (VariableValues::new(), Vec::new());
        self.run(block, &mut held, &mut exits);
        exits.into_iter().for_each(|exit| self.join(&mut held, exit));
        held
    }

    fn run(&self, block: &[Directive], held: &mut VariableValues, exits: &mut Vec<VariableValues>) {
        for directive in block {
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("set", [name, value]) => {
                    let texts = self.texts(&value.text, held);
                    held.insert(variable(&name.text), texts);
                }
                ("if", _) => {
                    let mut inner = held.clone();
                    self.run(directive.block.as_deref().unwrap_or_default(), &mut inner, exits);
                    self.join(held, inner);
                }
                ("break", []) => exits.push(held.clone()),
                ("rewrite", [_, _, flag]) if matches!(flag.text.as_str(), "last" | "break") => {
                    exits.push(held.clone());
                }
                _ => {}
            }
            if exits.len() > EXITS_MAX
                && let Some(exit) = exits.pop()
            {
                exits.iter_mut().take(1).for_each(|first| self.join(first, exit.clone()));
            }
        }
    }

    fn join(&self, held: &mut VariableValues, other: VariableValues) {
        let missing: Vec<String> = held.keys().filter(|name| !other.contains_key(*name)).cloned().collect();
        for name in missing {
            let usual = self.server_wide_values(&name, &mut Vec::new());
            held.entry(name).or_default().extend(usual);
        }
        for (name, texts) in other {
            if !held.contains_key(&name) {
                let usual = self.server_wide_values(&name, &mut Vec::new());
                held.insert(name.clone(), usual);
            }
            held.entry(name).or_default().extend(texts);
        }
    }

    /// Returns the texts that a value may have while variables hold these values.
    pub(super) fn texts(&self, value: &str, held: &VariableValues) -> Texts {
        self.expand(value, held, &mut Vec::new())
    }

    fn expand(&self, value: &str, held: &VariableValues, asked: &mut Vec<String>) -> Texts {
        let mut texts: Texts = [KnownText::default()].into();
        for part in parts(value) {
            texts = match part {
                NginxValuePart::Text(more) => texts.into_iter().map(|text| text.with_text(more)).collect(),
                NginxValuePart::Variable(name) => {
                    let ends = self.values(name, held, asked);
                    if texts.len().saturating_mul(ends.len()) > TEXTS_MAX {
                        return [KnownText::open(name, EndKind::TooMany)].into();
                    }
                    texts.iter().flat_map(|text| ends.iter().map(|end| text.with(end))).collect()
                }
            };
        }
        texts
    }

    fn values(&self, name: &str, held: &VariableValues, asked: &mut Vec<String>) -> Texts {
        match held.get(name) {
            Some(texts) if !self.groups.contains(name) => texts.clone(),
            Some(_) | None => self.server_wide_values(name, asked),
        }
    }

    /// Returns the texts that a variable may hold anywhere in the server.
    fn server_wide_values(&self, name: &str, asked: &mut Vec<String>) -> Texts {
        let open = |kind| Texts::from([KnownText::open(name, kind)]);
        if self.groups.contains(name) || name.bytes().all(|byte| byte.is_ascii_digit()) {
            return open(EndKind::Group);
        }
        let known = |texts: &[&str]| -> Texts { texts.iter().map(|text| KnownText::plain(text)).collect() };
        match name {
            "uri" | "document_uri" | "request_uri" | "is_args" => return open(EndKind::Uri),
            "scheme" => return known(&["http", "https"]),
            "server_name" => return known(&[&self.server_name]),
            "server_port" if !self.ports.is_empty() => {
                return self.ports.iter().map(|port| KnownText::plain(port)).collect();
            }
            _ => {}
        }
        if !matches!(Variables::default().find(name), Ok(Variable::Slot(_))) && !self.maps.contains_key(name)
        {
            return open(EndKind::Other);
        }
        if asked.len() >= DEPTH_MAX || asked.iter().any(|other| other == name) {
            return open(EndKind::TooMany);
        }
        asked.push(name.to_owned());
        let mut texts = match (self.at_end.get(name), self.maps.get(name)) {
            (Some(texts), _) => texts.clone(),
            (None, Some(_)) => Texts::new(),
            // The variable is not set.
            (None, None) => known(&[""]),
        };
        let values = [self.maps.get(name), self.set_in_locations.get(name)];
        for value in values.into_iter().flatten().flatten() {
            texts.extend(self.expand(value, &VariableValues::new(), asked));
            if texts.len() > TEXTS_MAX {
                texts = open(EndKind::TooMany);
                break;
            }
        }
        asked.pop();
        texts
    }
}

impl KnownText {
    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), end: None }
    }

    fn open(variable: &str, kind: EndKind) -> Self {
        let end = OpenEnd { variable: variable.to_owned(), kind, has_more: false };
        Self { text: String::new(), end: Some(end) }
    }

    fn with_text(mut self, more: &str) -> Self {
        match &mut self.end {
            None => self.text.push_str(more),
            Some(end) => end.go_on(Continuation::of(more)),
        }
        self
    }

    fn with(&self, more: &Self) -> Self {
        let mut all = self.clone();
        match &mut all.end {
            None => {
                all.text.push_str(&more.text);
                all.end.clone_from(&more.end);
            }
            Some(end) if more.text.is_empty() && more.end.is_none() => end.go_on(Continuation::Uri),
            Some(end) => {
                let is_uri = more.end.as_ref().is_some_and(|end| end.kind == EndKind::Uri);
                end.go_on(if more.text.is_empty() && is_uri {
                    Continuation::Uri
                } else {
                    Continuation::of(&more.text)
                });
            }
        }
        all
    }
}

/// Text after an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Continuation {
    /// Starts or continues a path or query.
    Uri,
    Other,
}

impl Continuation {
    fn of(text: &str) -> Self {
        if text.starts_with(['/', '?']) { Self::Uri } else { Self::Other }
    }
}

impl OpenEnd {
    /// A group stays part of a path only if a path continues after it.
    fn go_on(&mut self, more: Continuation) {
        if self.kind == EndKind::Group && !self.has_more && more == Continuation::Other {
            self.kind = EndKind::Other;
        }
        self.has_more = true;
    }
}

/// Whether a `proxy_pass` has variables.
fn has_computed(directives: &[Directive]) -> bool {
    directives.iter().any(|directive| match (&directive.block, directive.arguments.as_slice()) {
        (Some(block), _) => has_computed(block),
        (None, [address]) => directive.name.text == "proxy_pass" && address.text.contains('$'),
        (None, _) => false,
    })
}

enum NginxValuePart<'v> {
    Text(&'v str),
    Variable(&'v str),
}

/// Splits a value into parts; a `$` that names nothing is text, which is reported elsewhere.
fn parts(value: &str) -> Vec<NginxValuePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        if !before.is_empty() {
            parts.push(NginxValuePart::Text(before));
        }
        let (name, after) = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').unwrap_or((braced, "")),
            None if after.starts_with(|first: char| first.is_ascii_digit()) => after.split_at(1),
            None => {
                let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                after.split_at(after.find(|letter| !is_part(letter)).unwrap_or(after.len()))
            }
        };
        parts.push(if name.is_empty() { NginxValuePart::Text("$") } else { NginxValuePart::Variable(name) });
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(NginxValuePart::Text(rest));
    }
    parts
}

/// Returns the names of the groups in a regular expression, in each of their notations.
fn named_groups(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for start in ["(?<", "(?P<", "(?'"] {
        for piece in text.split(start).skip(1) {
            let name = piece.split(['>', '\'']).next().unwrap_or_default();
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if is_name && !name.is_empty() {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn variable(word: &str) -> String {
    word.strip_prefix('$').unwrap_or(word).to_owned()
}

/// Maximum number of texts that a value may have.
const TEXTS_MAX: usize = 256;
/// Maximum nesting of variables whose values contain others.
const DEPTH_MAX: usize = 32;
/// Maximum number of program exits that are kept apart.
const EXITS_MAX: usize = 16;

//! Registry of names that are defined in one place and referred to in others.

use std::collections::HashMap;

use eddy_ids::Shared;

use crate::problem::{ProblemReport, SourceSpan, SourceText, shown};
use crate::read::Spanned;
use crate::value::ConfigName;

/// Names of one kind.
#[derive(Debug)]
pub(crate) struct NameRegistry {
    /// Kind of the names: `cluster`.
    what: &'static str,
    known: HashMap<Shared<str>, NameDefinition>,
}

/// Definition of a name.
#[derive(Debug)]
struct NameDefinition {
    index: usize,
    place: SourceSpan,
    is_used: bool,
}

impl NameRegistry {
    /// Creates an empty registry.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, known: HashMap::new() }
    }

    /// Defines the name of the item at an index of the caller's list. A name that is defined keeps its index.
    pub(crate) fn define(&mut self, name: &Spanned<ConfigName>, index: usize) {
        let known = NameDefinition { index, place: name.place, is_used: false };
        self.known.entry(name.value.0.clone()).or_insert(known);
    }

    /// Returns the index of `name`; reports a name that is not defined.
    pub(crate) fn resolve(
        &mut self,
        name: &Spanned<ConfigName>,
        report: &mut ProblemReport,
    ) -> Option<usize> {
        if let Some(known) = self.known.get_mut(&name.value.0) {
            known.is_used = true;
            return Some(known.index);
        }
        let meant =
            report.closest(&name.value.0, self.known.keys().map(|name| &**name)).map(ToOwned::to_owned);
        let message = format!("there is no {} `{}`", self.what, shown(&name.value.0));
        let found = report.error(name.place, message);
        match meant {
            Some(meant) => found.hint(format!("did you mean `{meant}`?")),
            None => found.hint(format!("define it under `{}`", self.section())),
        }
        None
    }

    /// Returns the index of a name, if it is defined.
    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        self.known.get(name).map(|known| known.index)
    }

    /// Counts a name as used.
    pub(crate) fn note_use(&mut self, name: &str) {
        if let Some(known) = self.known.get_mut(name) {
            known.is_used = true;
        }
    }

    /// Returns the names that nothing refers to.
    pub(crate) fn unused(&self) -> impl Iterator<Item = (&str, SourceSpan)> {
        self.known.iter().filter(|(_, known)| !known.is_used).map(|(name, known)| (&**name, known.place))
    }

    /// Returns the kind of the names.
    pub(crate) fn what(&self) -> &'static str {
        self.what
    }

    /// Returns the key under which they are defined.
    fn section(&self) -> &'static str {
        match self.what {
            "cluster" => "clusters",
            "filter" => "filters",
            _ => "routes",
        }
    }
}

/// Formats `place` for a message about `here`: its line, with the file name if the file is another one.
pub(crate) fn place_text(place: SourceSpan, here: SourceSpan, sources: &[SourceText]) -> String {
    if place.source == here.source {
        return format!("line {}", place.line);
    }
    let path = sources.get(place.source as usize).map_or("", |source| &source.path);
    format!("{path}:{}", place.line)
}

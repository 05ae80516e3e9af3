//! Names that are defined in one place and referred to in others.

use std::collections::HashMap;
use std::sync::Arc;

use crate::problem::{ProblemReport, SourceSpan, SourceText, shown};
use crate::read::Spanned;
use crate::value::ConfigName;

/// The names of one kind of thing.
#[derive(Debug)]
pub(super) struct NameRegistry {
    /// What the names stand for: `cluster`.
    what: &'static str,
    known: HashMap<Arc<str>, NameDefinition>,
}

/// A name that is defined.
#[derive(Debug)]
struct NameDefinition {
    index: usize,
    place: SourceSpan,
    is_used: bool,
}

impl NameRegistry {
    /// No names yet.
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, known: HashMap::new() }
    }

    /// Defines a name; the index is how many were defined before.
    pub(super) fn define(&mut self, name: &Spanned<ConfigName>) {
        let index = self.known.len();
        let known = NameDefinition { index, place: name.place, is_used: false };
        self.known.entry(name.value.0.clone()).or_insert(known);
    }

    /// The index of the thing that `name` refers to; notes a name that is not defined.
    pub(super) fn resolve(
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

    /// Whether there is a thing of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// How many names are defined.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// The index of a thing of this name, if there is one; it counts as used.
    pub(super) fn find(&mut self, name: &str) -> Option<usize> {
        let known = self.known.get_mut(name)?;
        known.is_used = true;
        Some(known.index)
    }

    /// The names nobody referred to.
    pub(super) fn unused(&self) -> impl Iterator<Item = (&str, SourceSpan)> {
        self.known.iter().filter(|(_, known)| !known.is_used).map(|(name, known)| (&**name, known.place))
    }

    /// What the names stand for.
    pub(super) fn what(&self) -> &'static str {
        self.what
    }

    /// The key under which they are defined.
    fn section(&self) -> &'static str {
        match self.what {
            "cluster" => "clusters",
            "filter" => "filters",
            _ => "routes",
        }
    }
}

/// `place` for a message about `here`: its line, with its file where that is another.
pub(super) fn place_text(place: SourceSpan, here: SourceSpan, sources: &[SourceText]) -> String {
    if place.source == here.source {
        return format!("line {}", place.line);
    }
    let path = sources.get(place.source as usize).map_or("", |source| &source.path);
    format!("{path}:{}", place.line)
}

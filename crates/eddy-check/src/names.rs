//! Registry of names that are defined in one place and referred to in others.

use std::collections::HashMap;

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ConfigName;

/// Names of one kind.
#[derive(Debug)]
pub struct NameRegistry<I> {
    /// Kind of the names: `cluster`.
    what: &'static str,
    known: HashMap<Shared<str>, NameDefinition<I>>,
}

/// Definition of a name.
#[derive(Debug)]
struct NameDefinition<I> {
    item: I,
    place: SourceSpan,
    is_used: bool,
}

impl<I: Copy> NameRegistry<I> {
    /// Creates an empty registry.
    pub fn new(what: &'static str) -> Self {
        Self { what, known: HashMap::new() }
    }

    /// Defines the name of an item of the caller's list. A name that is defined keeps its item.
    pub fn define(&mut self, name: &Spanned<ConfigName>, item: I) {
        let known = NameDefinition { item, place: name.place, is_used: false };
        self.known.entry(name.value.0.clone()).or_insert(known);
    }

    /// Returns the item called `name`; reports a name that is not defined.
    pub fn resolve(&mut self, name: &Spanned<ConfigName>, report: &mut ProblemReport) -> Option<I> {
        if let Some(known) = self.known.get_mut(&name.value.0) {
            known.is_used = true;
            return Some(known.item);
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

    /// Counts a name as used.
    pub(crate) fn note_use(&mut self, name: &str) {
        if let Some(known) = self.known.get_mut(name) {
            known.is_used = true;
        }
    }

    /// Warns about names that nothing refers to.
    pub(crate) fn note_unused(&self, report: &mut ProblemReport) {
        for (name, known) in self.known.iter().filter(|(_, known)| !known.is_used) {
            report.warning(known.place, format!("the {} `{name}` is not used", self.what));
        }
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

/// Returns `name`, with a number behind it if it is taken.
pub(crate) fn free_name(name: &Shared<str>, is_taken: impl Fn(&str) -> bool) -> Shared<str> {
    let numbered = (2..).map(|number| Shared::from(format!("{name}#{number}")));
    let mut names = std::iter::once(Shared::clone(name)).chain(numbered);
    names.find(|name| !is_taken(name)).expect("there are more numbers than names")
}

/// Formats `place` for a message about `here`: its line, with the file name if the file is another one.
pub(crate) fn format_position(place: SourceSpan, here: SourceSpan, sources: &[SourceText]) -> String {
    if place.source == here.source {
        return format!("line {}", place.line);
    }
    let path = sources.get(place.source as usize).map_or("", |source| &source.path);
    format!("{path}:{}", place.line)
}

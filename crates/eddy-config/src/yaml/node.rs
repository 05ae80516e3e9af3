//! A tree of texts, lists and mappings, each with its place.

use std::borrow::Cow;

use crate::problem::Place;

/// A value as written.
#[derive(Clone, Debug)]
pub(crate) struct Node<'t> {
    /// Where it begins; for a list or mapping its first character or element.
    pub(crate) place: Place,
    /// What it is.
    pub(crate) form: Form<'t>,
}

/// What a node is. What a text means (a number, a name) is decided by who reads it.
#[derive(Clone, Debug)]
pub(crate) enum Form<'t> {
    /// A scalar.
    Text {
        /// The text without quotes and escapes.
        text: Cow<'t, str>,
        /// Whether it is written without quotes; only then it may be a number, `true` or nothing.
        is_plain: bool,
    },
    /// A sequence.
    List(Vec<Node<'t>>),
    /// A mapping; no key occurs twice.
    Mapping {
        /// The entries in the order of the file.
        entries: Vec<Entry<'t>>,
        /// Whether all of it was read; otherwise nothing can be said of what is missing.
        is_whole: bool,
    },
    /// Something that was refused; it was noted, and nobody says more about it.
    Refused,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'t> {
    /// The key.
    pub(crate) key: Key<'t>,
    /// The value.
    pub(crate) value: Node<'t>,
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Key<'t> {
    /// The key itself.
    pub(crate) text: Cow<'t, str>,
    /// Where it is written.
    pub(crate) place: Place,
}

impl<'t> Node<'t> {
    /// The value under `key`, if this is a mapping that has it.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        match &self.form {
            Form::Mapping { entries, .. } => entries.iter().find(|entry| entry.key.text == key),
            Form::Text { .. } | Form::List(_) | Form::Refused => None,
        }
    }

    /// The same, with texts of its own.
    pub(crate) fn to_static(&self) -> Node<'static> {
        let form = match &self.form {
            Form::Text { text, is_plain } => {
                Form::Text { text: Cow::Owned(text.clone().into_owned()), is_plain: *is_plain }
            }
            Form::List(elements) => Form::List(elements.iter().map(Node::to_static).collect()),
            Form::Mapping { entries, is_whole } => {
                Form::Mapping { entries: entries.iter().map(Entry::to_static).collect(), is_whole: *is_whole }
            }
            Form::Refused => Form::Refused,
        };
        Node { place: self.place, form }
    }

    /// Whether nothing is written here: no value, `~` or `null`.
    pub(crate) fn is_nothing(&self) -> bool {
        match &self.form {
            Form::Text { text, is_plain } => *is_plain && matches!(&**text, "" | "~" | "null"),
            Form::List(_) | Form::Mapping { .. } | Form::Refused => false,
        }
    }
}

impl Entry<'_> {
    /// The same, with texts of its own.
    pub(crate) fn to_static(&self) -> Entry<'static> {
        let key = Key { text: Cow::Owned(self.key.text.clone().into_owned()), place: self.key.place };
        Entry { key, value: self.value.to_static() }
    }
}

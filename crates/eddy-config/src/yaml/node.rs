//! A tree of texts, lists and mappings, each with its place.

use std::borrow::Cow;

use crate::problem::SourceSpan;

/// A value as written.
#[derive(Clone, Debug)]
pub(crate) struct YamlNode<'t> {
    /// Where it begins; for a list or mapping its first character or element.
    pub(crate) place: SourceSpan,
    /// What it is.
    pub(crate) form: YamlNodeKind<'t>,
}

/// What a node is. What a text means (a number, a name) is decided by who reads it.
#[derive(Clone, Debug)]
pub(crate) enum YamlNodeKind<'t> {
    /// A scalar.
    Text {
        /// The text without quotes and escapes.
        text: Cow<'t, str>,
        /// Whether it is written without quotes; only then it may be a number, `true` or nothing.
        is_plain: bool,
    },
    /// A sequence.
    List(Vec<YamlNode<'t>>),
    /// A mapping; no key occurs twice.
    Mapping {
        /// The entries in the order of the file.
        entries: Vec<YamlEntry<'t>>,
        /// Whether all of it was read; otherwise nothing can be said of what is missing.
        is_whole: bool,
    },
    /// Something that was refused; it was noted, and nobody says more about it.
    Refused,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct YamlEntry<'t> {
    /// The key.
    pub(crate) key: YamlKey<'t>,
    /// The value.
    pub(crate) value: YamlNode<'t>,
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct YamlKey<'t> {
    /// The key itself.
    pub(crate) text: Cow<'t, str>,
    /// Where it is written.
    pub(crate) place: SourceSpan,
}

impl<'t> YamlNode<'t> {
    /// The value under `key`, if this is a mapping that has it.
    pub(crate) fn entry(&self, key: &str) -> Option<&YamlEntry<'t>> {
        match &self.form {
            YamlNodeKind::Mapping { entries, .. } => entries.iter().find(|entry| entry.key.text == key),
            YamlNodeKind::Text { .. } | YamlNodeKind::List(_) | YamlNodeKind::Refused => None,
        }
    }

    /// The same, with texts of its own.
    pub(crate) fn to_static(&self) -> YamlNode<'static> {
        let form = match &self.form {
            YamlNodeKind::Text { text, is_plain } => {
                YamlNodeKind::Text { text: Cow::Owned(text.clone().into_owned()), is_plain: *is_plain }
            }
            YamlNodeKind::List(elements) => {
                YamlNodeKind::List(elements.iter().map(YamlNode::to_static).collect())
            }
            YamlNodeKind::Mapping { entries, is_whole } => YamlNodeKind::Mapping {
                entries: entries.iter().map(YamlEntry::to_static).collect(),
                is_whole: *is_whole,
            },
            YamlNodeKind::Refused => YamlNodeKind::Refused,
        };
        YamlNode { place: self.place, form }
    }

    /// Whether nothing is written here: no value, `~` or `null`.
    pub(crate) fn is_nothing(&self) -> bool {
        match &self.form {
            YamlNodeKind::Text { text, is_plain } => *is_plain && matches!(&**text, "" | "~" | "null"),
            YamlNodeKind::List(_) | YamlNodeKind::Mapping { .. } | YamlNodeKind::Refused => false,
        }
    }
}

impl YamlEntry<'_> {
    /// The same, with texts of its own.
    pub(crate) fn to_static(&self) -> YamlEntry<'static> {
        let key = YamlKey { text: Cow::Owned(self.key.text.clone().into_owned()), place: self.key.place };
        YamlEntry { key, value: self.value.to_static() }
    }
}

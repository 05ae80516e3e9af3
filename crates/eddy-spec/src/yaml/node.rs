//! A tree of scalars, lists and mappings with source positions.

use std::borrow::Cow;

use crate::problem::SourceSpan;

/// A value as written.
#[derive(Clone, Debug)]
pub struct YamlNode<'t> {
    /// Position of its beginning; for a list or mapping its first character or element.
    pub place: SourceSpan,
    /// Kind and content of the node.
    pub form: YamlNodeKind<'t>,
}

/// Kind and content of a node. A scalar stays text; the reader of a value decides whether it is a number, a name or
/// anything else.
#[derive(Clone, Debug)]
pub enum YamlNodeKind<'t> {
    /// A scalar.
    Text {
        /// The text, without quotes and with escapes resolved.
        text: Cow<'t, str>,
        /// Whether it is written without quotes; only then can it be a number, `true` or null.
        is_plain: bool,
    },
    /// A sequence.
    List(Vec<YamlNode<'t>>),
    /// A mapping; no key occurs twice.
    Mapping {
        /// The entries in the order of the file.
        entries: Vec<YamlEntry<'t>>,
        /// Whether it was read completely; otherwise missing keys cannot be reported.
        is_whole: bool,
    },
    /// A refused node. Its problem is already reported, so no further problem is reported for it.
    Refused,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct YamlEntry<'t> {
    /// The key.
    pub key: YamlKey<'t>,
    /// The value.
    pub value: YamlNode<'t>,
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub struct YamlKey<'t> {
    /// The key text.
    pub text: Cow<'t, str>,
    /// Position of the key.
    pub place: SourceSpan,
}

impl<'t> YamlNode<'t> {
    /// Returns the entry of `key`, if this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&YamlEntry<'t>> {
        let YamlNodeKind::Mapping { entries, .. } = &self.form else { return None };
        entries.iter().find(|entry| entry.key.text == key)
    }

    /// Returns a copy that owns its texts.
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

    /// Whether the node is empty: no value, `~` or `null`.
    pub fn is_nothing(&self) -> bool {
        let YamlNodeKind::Text { text, is_plain: true } = &self.form else { return false };
        matches!(&**text, "" | "~" | "null")
    }
}

impl YamlEntry<'_> {
    /// Returns a copy that owns its texts.
    pub(crate) fn to_static(&self) -> YamlEntry<'static> {
        let key = YamlKey { text: Cow::Owned(self.key.text.clone().into_owned()), place: self.key.place };
        YamlEntry { key, value: self.value.to_static() }
    }
}

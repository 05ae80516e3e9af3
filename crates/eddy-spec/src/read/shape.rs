//! Schemas of the values: the facts from which the JSON Schema and the reference page are generated.

/// Schema of a value.
#[derive(Clone, Debug)]
pub enum ValueSchema {
    /// A scalar.
    Word(WordInfo),
    /// A list of values.
    List(Box<Self>),
    /// A mapping with user-defined names.
    Named {
        /// Kind of the names.
        name: WordInfo,
        /// Schema of the values.
        value: Box<Self>,
    },
    /// One of two schemas, distinguished by whether the value is a scalar, a list or a mapping.
    Either(Box<Self>, Box<Self>),
    /// A mapping with known keys.
    Mapping(MappingInfo),
    /// Any value.
    Any,
}

/// A kind of scalar.
#[derive(Clone, Debug)]
pub struct WordInfo {
    /// Text that completes "expected …": `a duration such as 10s`.
    pub what: String,
    /// Type in the JSON Schema.
    pub kind: WordKind,
    /// Pattern that every valid text matches, for editors.
    pub pattern: Option<&'static str>,
    /// Range, as text.
    pub limit: Option<String>,
    /// Valid keywords and their meanings, if there are only a few.
    pub choices: Vec<(&'static str, &'static str)>,
}

/// Type of a scalar in the JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// Any text; a number is accepted if it spells one.
    Text,
    /// A whole number within bounds.
    Number {
        /// Minimum.
        least: i64,
        /// Maximum.
        most: i64,
    },
    /// A text, or a non-negative whole number.
    TextOrNumber,
    /// A number from 0 to 100, with optional decimal places.
    Decimal,
    /// `true` or `false`.
    Flag,
}

/// A mapping with known keys.
#[derive(Clone, Debug)]
pub struct MappingInfo {
    /// Name in the schema and in messages: `listener`.
    pub name: &'static str,
    /// Purpose of the mapping.
    pub about: String,
    /// Keys, in the order of the reference.
    pub keys: Vec<KeyInfo>,
    /// Constraints on how many of some keys are given.
    pub groups: &'static [KeyGroup],
}

/// Keys of which a certain number must be given.
#[derive(Clone, Copy, Debug)]
pub struct KeyGroup {
    /// Number of keys that must be given.
    pub count: KeyGroupCount,
    /// The keys.
    pub keys: &'static [&'static str],
}

/// Number of keys of a group that must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGroupCount {
    /// Exactly one.
    One,
    /// At least one.
    OneOrMore,
    /// At most one.
    NoneOrOne,
}

impl KeyGroupCount {
    /// Returns the number in words: `exactly one`.
    pub fn text(self) -> &'static str {
        match self {
            Self::One => "exactly one",
            Self::OneOrMore => "at least one",
            Self::NoneOrOne => "at most one",
        }
    }
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub struct KeyInfo {
    /// Name of the key.
    pub name: &'static str,
    /// Meaning of the key.
    pub text: String,
    /// Whether it must be given.
    pub is_required: bool,
    /// Default value, in the form in which it would be written.
    pub default: Option<&'static str>,
    /// Effect of leaving the key out, if there is no default value.
    pub otherwise: Option<&'static str>,
    /// Example value.
    pub example: &'static str,
    /// Schema of the value.
    pub shape: ValueSchema,
    /// Whether a node can be read as the key's value; for tests of defaults and examples.
    #[cfg(test)]
    pub is_readable: fn(&crate::yaml::YamlNode<'_>, &mut crate::problem::ProblemReport) -> bool,
}

impl WordInfo {
    /// Returns the schema of a text without further constraints.
    pub fn text(what: &str) -> Self {
        Self { what: what.to_owned(), kind: WordKind::Text, pattern: None, limit: None, choices: Vec::new() }
    }
}

impl ValueSchema {
    /// Returns the text that completes "expected …".
    pub fn what(&self) -> String {
        match self {
            Self::Word(word) => word.what.clone(),
            Self::List(element) => match &**element {
                Self::Mapping(info) => format!("a list of mappings ({})", info.name),
                Self::Word(_) | Self::List(_) | Self::Named { .. } | Self::Either(..) | Self::Any => {
                    "a list".to_owned()
                }
            },
            Self::Named { name, .. } => format!("a mapping from {}", name.what),
            Self::Either(one, other) => format!("{} or {}", one.what(), other.what()),
            Self::Any => "a value".to_owned(),
            Self::Mapping(info) => {
                let keys: Vec<_> = info.keys.iter().take(3).map(|key| format!("`{}`", key.name)).collect();
                let more = if info.keys.len() > 3 { ", …" } else { "" };
                format!("a mapping ({}{more})", keys.join(", "))
            }
        }
    }

    /// Returns the keys of this mapping whose value is a mapping with the key `name`: where the key was probably meant
    /// to be.
    pub(crate) fn parent_keys_of(&self, name: &str) -> Vec<&'static str> {
        let keys = self.mapping().map_or(&[][..], |info| &info.keys);
        let has_it = |key: &&KeyInfo| {
            key.shape.mapping().is_some_and(|inner| inner.keys.iter().any(|key| key.name == name))
        };
        keys.iter().filter(has_it).map(|key| key.name).collect()
    }

    /// Returns the schema of the mapping with known keys that is required or allowed here.
    fn mapping(&self) -> Option<&MappingInfo> {
        match self {
            Self::Mapping(info) => Some(info),
            Self::Either(one, other) => one.mapping().or_else(|| other.mapping()),
            Self::Word(_) | Self::List(_) | Self::Named { .. } | Self::Any => None,
        }
    }
}

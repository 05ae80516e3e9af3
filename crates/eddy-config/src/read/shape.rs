//! What can be written at a place: the facts from which the schema and the reference page are made.

/// What can be written at a place.
#[derive(Clone, Debug)]
pub(crate) enum ValueSchema {
    /// A scalar.
    Word(WordInfo),
    /// A list of values.
    List(Box<Self>),
    /// A mapping whose keys are names that the user chooses.
    Named {
        /// What a name is.
        name: WordInfo,
        /// What stands under a name.
        value: Box<Self>,
    },
    /// One or the other, told apart by whether it is a scalar, a list or a mapping.
    Either(Box<Self>, Box<Self>),
    /// A mapping with known keys.
    Mapping(MappingInfo),
    /// Anything.
    Any,
}

/// A kind of scalar.
#[derive(Clone, Debug)]
pub(crate) struct WordInfo {
    /// Completes "expected …": `a duration such as 10s`.
    pub(crate) what: String,
    /// What the schema calls it.
    pub(crate) kind: WordKind,
    /// A pattern that every acceptable text matches, for editors.
    pub(crate) pattern: Option<&'static str>,
    /// The range in words.
    pub(crate) limit: Option<String>,
    /// The only acceptable texts and what each means, when there are few.
    pub(crate) choices: Vec<(&'static str, &'static str)>,
}

/// The type a scalar has in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// Any text; a number will do where it spells one.
    Text,
    /// A whole number within bounds.
    Number {
        /// The least.
        least: i64,
        /// The greatest.
        most: i64,
    },
    /// A text, or a whole number that isn't negative.
    TextOrNumber,
    /// A number from 0 to 100, perhaps with a point.
    Decimal,
    /// `true` or `false`.
    Flag,
}

/// A mapping with known keys.
#[derive(Clone, Debug)]
pub(crate) struct MappingInfo {
    /// What it is called in the schema and in messages: `listener`.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) about: String,
    /// Its keys in the order of the reference.
    pub(crate) keys: Vec<KeyInfo>,
    /// How many of some keys are given.
    pub(crate) groups: &'static [KeyGroup],
}

/// Keys of which a certain number is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyGroup {
    /// How many.
    pub(crate) count: KeyGroupCount,
    /// The keys.
    pub(crate) keys: &'static [&'static str],
}

/// How many keys of a group are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyGroupCount {
    /// One, no more and no less.
    One,
    /// One or more.
    OneOrMore,
    /// One or none.
    NoneOrOne,
}

impl KeyGroupCount {
    /// How the number is said: `exactly one`.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::One => "exactly one",
            Self::OneOrMore => "at least one",
            Self::NoneOrOne => "at most one",
        }
    }
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct KeyInfo {
    /// The key.
    pub(crate) name: &'static str,
    /// What it means.
    pub(crate) text: String,
    /// Whether it must be given.
    pub(crate) is_required: bool,
    /// The value it has when it isn't given, as it would be written.
    pub(crate) default: Option<&'static str>,
    /// What happens when it isn't given and there is no such value.
    pub(crate) otherwise: Option<&'static str>,
    /// A value as it may be written.
    pub(crate) example: &'static str,
    /// What can be written.
    pub(crate) shape: ValueSchema,
    /// Whether a node can be read as the key's value; for tests of defaults and examples.
    #[cfg(test)]
    pub(crate) is_readable: fn(&crate::yaml::YamlNode<'_>, &mut crate::problem::ProblemReport) -> bool,
}

impl WordInfo {
    /// A text without further form.
    pub(crate) fn text(what: &str) -> Self {
        Self { what: what.to_owned(), kind: WordKind::Text, pattern: None, limit: None, choices: Vec::new() }
    }
}

impl ValueSchema {
    /// Completes "expected …".
    pub(crate) fn what(&self) -> String {
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

    /// The keys of this mapping under which a mapping stands that has the key `name`: where it was probably meant to be.
    pub(crate) fn parent_keys_of(&self, name: &str) -> Vec<&'static str> {
        let keys = self.mapping().map_or(&[][..], |info| &info.keys);
        let has_it = |key: &&KeyInfo| {
            key.shape.mapping().is_some_and(|inner| inner.keys.iter().any(|key| key.name == name))
        };
        keys.iter().filter(has_it).map(|key| key.name).collect()
    }

    /// The mapping with known keys that stands here, or may.
    fn mapping(&self) -> Option<&MappingInfo> {
        match self {
            Self::Mapping(info) => Some(info),
            Self::Either(one, other) => one.mapping().or_else(|| other.mapping()),
            Self::Word(_) | Self::List(_) | Self::Named { .. } | Self::Any => None,
        }
    }
}

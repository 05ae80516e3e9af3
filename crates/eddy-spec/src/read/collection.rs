//! Readers of lists, of mappings with user-defined names, and of values that can be written in two forms.

use std::collections::HashSet;
use std::hash::Hash;

use super::shape::ValueSchema;
use super::value::{FromNode, FromScalar, Spanned, note_kind};
use crate::problem::{ProblemReport, shown};
use crate::yaml::{YamlNode, YamlNodeKind};

/// A mapping with user-defined names, in the order of the file.
#[derive(Clone, Debug)]
pub struct NamedMap<K, V>(pub Vec<NamedEntry<K, V>>);

/// A name and its value.
#[derive(Clone, Debug)]
pub struct NamedEntry<K, V> {
    /// The name.
    pub name: Spanned<K>,
    /// The value; `None` if it is invalid.
    pub value: Option<Spanned<V>>,
}

/// A value that can be written in one of two forms.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first form.
    One(A),
    /// The second form.
    Other(B),
}

/// A large value that most mappings do not have; it is boxed to keep the mapping small.
#[derive(Clone, Debug)]
pub struct Boxed<T>(pub Box<T>);

/// A value, or a list of them.
pub type OneOrMany<T> = Either<T, Vec<Spanned<T>>>;

impl<T: FromNode> FromNode for Vec<Spanned<T>> {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::List(elements) = &node.form else {
            note_kind(node, Self::shape, report);
            return None;
        };
        let mut read = Self::with_capacity(elements.len());
        read.extend(elements.iter().filter_map(|element| Spanned::read(element, report)));
        // A list without valid elements is not equal to an empty list.
        (!read.is_empty() || elements.is_empty()).then_some(read)
    }

    fn shape() -> ValueSchema {
        ValueSchema::List(Box::new(T::shape()))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::List(_))
    }
}

impl<K: FromScalar + Clone + Eq + Hash, V: FromNode> FromNode for NamedMap<K, V> {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::Mapping { entries, .. } = &node.form else {
            note_kind(node, Self::shape, report);
            return None;
        };
        let mut named = Vec::with_capacity(entries.len());
        let mut names = HashSet::with_capacity(entries.len());
        for entry in entries {
            let value = Spanned::read(&entry.value, report);
            let key = YamlNode {
                place: entry.key.place,
                form: YamlNodeKind::Text { text: entry.key.text.clone(), is_plain: true },
            };
            let Some(name) = Spanned::<K>::read(&key, report) else { continue };
            if names.insert(name.value.clone()) {
                named.push(NamedEntry { name, value });
            } else {
                let message =
                    format!("`{}` duplicates a key above that is spelt differently", shown(&entry.key.text));
                report.error(name.place, message);
            }
        }
        Some(Self(named))
    }

    fn shape() -> ValueSchema {
        ValueSchema::Named { name: K::info(), value: Box::new(V::shape()) }
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Mapping { .. })
    }
}

impl<A: FromNode, B: FromNode> FromNode for Either<A, B> {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        if A::fits(node) {
            return A::read(node, report).map(Self::One);
        }
        if B::fits(node) {
            return B::read(node, report).map(Self::Other);
        }
        note_kind(node, Self::shape, report);
        None
    }

    fn shape() -> ValueSchema {
        ValueSchema::Either(Box::new(A::shape()), Box::new(B::shape()))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        A::fits(node) || B::fits(node)
    }
}

impl<T: FromNode> FromNode for Boxed<T> {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        T::read(node, report).map(|value| Self(Box::new(value)))
    }

    fn shape() -> ValueSchema {
        T::shape()
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        T::fits(node)
    }
}

impl<T> OneOrMany<T> {
    /// Returns the values, from a single value or a list, each with its position.
    pub fn into_many(this: Spanned<Self>) -> Vec<Spanned<T>> {
        match this.value {
            Self::One(value) => vec![Spanned { value, place: this.place }],
            Self::Other(many) => many,
        }
    }
}

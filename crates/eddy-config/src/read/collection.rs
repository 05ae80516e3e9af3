//! Reads lists, mappings with names of the user's choice, and values that may be written in two ways.

use std::collections::HashSet;
use std::hash::Hash;

use super::shape::Shape;
use super::value::{At, Value, Word, note_kind};
use crate::problem::{Report, shown};
use crate::yaml::{Form, Node};

/// A mapping with names of the user's choice, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Named<K, V>(pub(crate) Vec<NamedEntry<K, V>>);

/// A name and what stands under it.
#[derive(Clone, Debug)]
pub(crate) struct NamedEntry<K, V> {
    /// The name.
    pub(crate) name: At<K>,
    /// What stands under it; `None` when that is wrong.
    pub(crate) value: Option<At<V>>,
}

/// One of two ways to write a value.
#[derive(Clone, Debug)]
pub(crate) enum Either<A, B> {
    /// The first way.
    One(A),
    /// The other way.
    Other(B),
}

/// A large value that most mappings don't have: it is kept apart, so that the mapping stays small.
#[derive(Clone, Debug)]
pub(crate) struct Boxed<T>(pub(crate) Box<T>);

/// A value, or a list of them.
pub(crate) type OneOrMany<T> = Either<T, Vec<At<T>>>;

impl<T: Value> Value for Vec<At<T>> {
    fn read(node: &Node<'_>, report: &mut Report) -> Option<Self> {
        match &node.form {
            Form::List(elements) => {
                let mut read = Self::with_capacity(elements.len());
                read.extend(elements.iter().filter_map(|element| At::read(element, report)));
                // A list of which nothing is left is not the same as an empty one.
                (!read.is_empty() || elements.is_empty()).then_some(read)
            }
            Form::Text { .. } | Form::Mapping { .. } | Form::Refused => {
                note_kind(node, Self::shape, report);
                None
            }
        }
    }

    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn fits(node: &Node<'_>) -> bool {
        matches!(node.form, Form::List(_))
    }
}

impl<K: Word + Clone + Eq + Hash, V: Value> Value for Named<K, V> {
    fn read(node: &Node<'_>, report: &mut Report) -> Option<Self> {
        let Form::Mapping { entries, .. } = &node.form else {
            note_kind(node, Self::shape, report);
            return None;
        };
        let mut named = Vec::with_capacity(entries.len());
        let mut names = HashSet::with_capacity(entries.len());
        for entry in entries {
            let value = At::read(&entry.value, report);
            let key = Node {
                place: entry.key.place,
                form: Form::Text { text: entry.key.text.clone(), is_plain: true },
            };
            let Some(name) = At::<K>::read(&key, report) else { continue };
            if names.insert(name.value.clone()) {
                named.push(NamedEntry { name, value });
            } else {
                let message = format!("`{}` stands above already, spelt otherwise", shown(&entry.key.text));
                report.error(name.place, message);
            }
        }
        Some(Self(named))
    }

    fn shape() -> Shape {
        Shape::Named { name: K::info(), value: Box::new(V::shape()) }
    }

    fn fits(node: &Node<'_>) -> bool {
        matches!(node.form, Form::Mapping { .. })
    }
}

impl<A: Value, B: Value> Value for Either<A, B> {
    fn read(node: &Node<'_>, report: &mut Report) -> Option<Self> {
        if A::fits(node) {
            return A::read(node, report).map(Self::One);
        }
        if B::fits(node) {
            return B::read(node, report).map(Self::Other);
        }
        note_kind(node, Self::shape, report);
        None
    }

    fn shape() -> Shape {
        Shape::Either(Box::new(A::shape()), Box::new(B::shape()))
    }

    fn fits(node: &Node<'_>) -> bool {
        A::fits(node) || B::fits(node)
    }
}

impl<T: Value> Value for Boxed<T> {
    fn read(node: &Node<'_>, report: &mut Report) -> Option<Self> {
        T::read(node, report).map(|value| Self(Box::new(value)))
    }

    fn shape() -> Shape {
        T::shape()
    }

    fn fits(node: &Node<'_>) -> bool {
        T::fits(node)
    }
}

impl<T> OneOrMany<T> {
    /// The values, be it one or a list, each with its place.
    pub(crate) fn into_many(this: At<Self>) -> Vec<At<T>> {
        match this.value {
            Self::One(value) => vec![At { value, place: this.place }],
            Self::Other(many) => many,
        }
    }
}

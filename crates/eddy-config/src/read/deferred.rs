//! Values that are kept as written: what they mean is decided by who asks for them later.

use std::marker::PhantomData;

use super::shape::Shape;
use super::value::{Value, note_kind};
use crate::problem::Report;
use crate::yaml::Node;

/// Any value, as written.
#[derive(Clone, Debug)]
pub(crate) struct Any(pub(crate) Box<Node<'static>>);

/// A value that is read as a `T` later, perhaps after another was laid over it.
#[derive(Clone, Debug)]
pub(crate) struct Deferred<T> {
    /// The value as written.
    pub(crate) node: Box<Node<'static>>,
    kind: PhantomData<fn() -> T>,
}

impl Value for Any {
    const TAKES_NOTHING: bool = true;

    fn read(node: &Node<'_>, _report: &mut Report) -> Option<Self> {
        Some(Self(Box::new(node.to_static())))
    }

    fn shape() -> Shape {
        Shape::Any
    }

    fn fits(_node: &Node<'_>) -> bool {
        true
    }
}

impl<T: Value> Value for Deferred<T> {
    fn read(node: &Node<'_>, report: &mut Report) -> Option<Self> {
        if !T::fits(node) {
            note_kind(node, T::shape, report);
            return None;
        }
        Some(Self { node: Box::new(node.to_static()), kind: PhantomData })
    }

    fn shape() -> Shape {
        T::shape()
    }

    fn fits(node: &Node<'_>) -> bool {
        T::fits(node)
    }
}

//! Values that are kept as written and interpreted later.

use std::marker::PhantomData;

use super::shape::ValueSchema;
use super::value::{FromNode, note_kind};
use crate::problem::ProblemReport;
use crate::yaml::YamlNode;

/// Any value, as written.
#[derive(Clone, Debug)]
pub struct Any(pub Box<YamlNode<'static>>);

/// A value that is read as a `T` later, possibly after another value is merged over it.
#[derive(Clone, Debug)]
pub struct Deferred<T> {
    /// The value as written.
    pub node: Box<YamlNode<'static>>,
    kind: PhantomData<fn() -> T>,
}

impl FromNode for Any {
    const ACCEPTS_NULL: bool = true;

    fn read(node: &YamlNode<'_>, _report: &mut ProblemReport) -> Option<Self> {
        Some(Self(Box::new(node.to_static())))
    }

    fn shape() -> ValueSchema {
        ValueSchema::Any
    }

    fn fits(_node: &YamlNode<'_>) -> bool {
        true
    }
}

impl<T: FromNode> FromNode for Deferred<T> {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        if !T::fits(node) {
            note_kind(node, T::shape, report);
            return None;
        }
        Some(Self { node: Box::new(node.to_static()), kind: PhantomData })
    }

    fn shape() -> ValueSchema {
        T::shape()
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        T::fits(node)
    }
}

//! Readers that convert the YAML tree to the spec.

mod collection;
mod deferred;
mod shape;
mod value;

pub(crate) use collection::{Boxed, Either, NamedEntry, NamedMap, OneOrMany};
pub(crate) use deferred::{Any, Deferred};
pub(crate) use shape::{KeyGroup, KeyGroupCount, KeyInfo, MappingInfo, ValueSchema, WordInfo, WordKind};
pub(crate) use value::{
    FromNode, FromScalar, MappingContext, Misfit, Spanned, entries_of, listed, note_kind, unknown_key,
};

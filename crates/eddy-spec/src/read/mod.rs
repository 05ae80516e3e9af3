//! Readers that convert the YAML tree to the spec.

mod collection;
mod deferred;
mod shape;
mod value;

pub use collection::{Boxed, Either, NamedEntry, NamedMap, OneOrMany};
pub use deferred::{Any, Deferred};
pub use shape::{KeyGroup, KeyGroupCount, KeyInfo, MappingInfo, ValueSchema, WordInfo, WordKind};
pub use value::{
    FromNode, FromScalar, InvalidValue, MappingContext, Spanned, entries_of, listed, note_kind, unknown_key,
};

//! From the tree to the spec: readers of each kind of value.

mod collection;
mod deferred;
mod shape;
mod value;

pub(crate) use collection::{Boxed, Either, Named, NamedEntry, OneOrMany};
pub(crate) use deferred::{Any, Deferred};
pub(crate) use shape::{Count, Group, KeyInfo, MappingInfo, Shape, WordInfo, WordKind};
pub(crate) use value::{At, Entries, Misfit, Value, Word, entries_of, listed, note_kind, unknown_key};

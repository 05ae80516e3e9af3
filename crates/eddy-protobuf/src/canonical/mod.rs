//! Canonical form of a message, as a serializer would write it: fields by number, each once with its last value, maps
//! without duplicate keys.
//!
//! Slower than the walks, which process bytes as they arrive; used only where the order on the wire requires it.

mod collect;
mod entries;
mod message;
mod values;

pub use message::canonical;

pub(crate) use message::canonical_for_json;

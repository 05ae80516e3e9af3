//! A message as a serializer would write it: fields by number, each once, the last value of each, maps without double keys.
//!
//! Slower than the walks, which take bytes as they come; used where the order on the wire leaves no other way.

mod collect;
mod entries;
mod message;
mod values;

pub use message::canonical;

pub(crate) use message::canonical_for_json;

use message::{Canonical, MessageFragment};

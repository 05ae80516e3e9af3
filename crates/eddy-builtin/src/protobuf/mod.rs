//! Shared parts of filters that process protobuf messages: descriptors, message framing, exchange states.

mod descriptors;
mod exchanges;
mod media;
mod path;
mod reader;
mod types;

pub use path::{MessagePath, Unreadable};

pub(super) use descriptors::{describe, load, refused};
pub(super) use exchanges::{ExchangeState, Exchanges, enter, keep_facts};
pub(super) use media::{Media, is_encoded};
pub(super) use reader::{MessageEvent, MessageReader};
pub(super) use types::{BodyType, CallTypes, MessageTypes};

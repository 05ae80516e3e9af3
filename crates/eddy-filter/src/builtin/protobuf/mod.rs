//! What filters that look into protobuf messages share: descriptors, where messages stand in bodies, what is known of exchanges.

mod descriptors;
mod exchanges;
mod media;
mod path;
mod reader;
mod types;

pub use path::{MessagePath, Unreadable};

pub(super) use descriptors::{load, refused, told};
pub(super) use exchanges::{ExchangeState, Exchanges, enter, keep_facts};
pub(super) use media::{Media, is_encoded};
pub(super) use reader::{MessageEvent, MessageReader};
pub(super) use types::{BodyType, CallTypes, MessageTypes};

//! Identifiers of messages.

/// Identifier of a message of a [`super::Schema`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(pub(crate) u32);

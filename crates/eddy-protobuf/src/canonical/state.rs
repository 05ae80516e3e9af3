//! State of a conversion to the canonical form.

use crate::limits::ProtobufLimits;
use crate::schema::Schema;

/// Purpose of the canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Wire,
    Json,
}

pub(super) struct Canonical<'s> {
    pub(super) schema: &'s Schema,
    pub(super) limits: &'s ProtobufLimits,
    pub(super) purpose: Purpose,
}

/// Bytes of a message; several fragments may form one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageFragment<'m> {
    pub(super) bytes: &'m [u8],
    pub(super) offset: u64,
}

//! Edition features, as far as the wire format and JSON depend on them.

use crate::fault::ProtobufResult;
use crate::wire::{Items, WireValue};

/// Features of a file, message, enum or field, inherited from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features {
    pub(super) presence: Presence,
    pub(super) is_enum_closed: bool,
    pub(super) is_packed: bool,
    pub(super) checks_utf8: bool,
    pub(super) is_delimited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Explicit,
    Implicit,
    Required,
}

impl Features {
    pub(super) const PROTO2: Self = Self {
        presence: Presence::Explicit,
        is_enum_closed: true,
        is_packed: false,
        checks_utf8: false,
        is_delimited: false,
    };
    pub(super) const PROTO3: Self = Self {
        presence: Presence::Implicit,
        is_enum_closed: false,
        is_packed: true,
        checks_utf8: true,
        is_delimited: false,
    };
    /// Defaults of editions 2023 and 2024.
    pub(super) const EDITIONS: Self = Self { presence: Presence::Explicit, ..Self::PROTO3 };

    /// Returns the features with those set by field `number` of some options.
    pub(super) fn with(mut self, options: &[u8], number: u32) -> ProtobufResult<Self> {
        let mut items = Items::new(options, 100);
        while let Some((found, item)) = items.next()? {
            if let (true, WireValue::Bytes(features)) = (found == number, item) {
                self.set_all(features)?;
            }
        }
        Ok(self)
    }

    fn set_all(&mut self, features: &[u8]) -> ProtobufResult {
        let mut items = Items::new(features, 100);
        while let Some((number, item)) = items.next()? {
            let WireValue::Varint(value) = item else { continue };
            match (number, value) {
                (1, 1) => self.presence = Presence::Explicit,
                (1, 2) => self.presence = Presence::Implicit,
                (1, 3) => self.presence = Presence::Required,
                (2, 1 | 2) => self.is_enum_closed = value == 2,
                (3, 1 | 2) => self.is_packed = value == 1,
                (4, 2 | 3) => self.checks_utf8 = value == 2,
                (5, 1 | 2) => self.is_delimited = value == 2,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns a varint field of some options.
pub(super) fn option(options: &[u8], number: u32) -> ProtobufResult<Option<u64>> {
    let mut items = Items::new(options, 100);
    let mut value = None;
    while let Some((found, item)) = items.next()? {
        if let (true, WireValue::Varint(varint)) = (found == number, item) {
            value = Some(varint);
        }
    }
    Ok(value)
}

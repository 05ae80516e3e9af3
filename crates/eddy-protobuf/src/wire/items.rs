//! Reads the fields of a complete message in memory.

use super::varint::{WireRead, number_of, read_varint, wire_type_of};
use super::{FIXED32, FIXED64, GROUP_END, GROUP_START, LENGTH, LENGTH_MAX, VARINT};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};

/// Value of a field on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireValue<'m> {
    /// A varint: an integer, a `bool`, an enum.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// A string, bytes, a message, or a packed list.
    Bytes(&'m [u8]),
    /// Content of a group, without its end tag.
    Group(&'m [u8]),
}

impl WireValue<'_> {
    pub(crate) fn wire_type(&self) -> u8 {
        match self {
            Self::Varint(_) => VARINT,
            Self::Fixed64(_) => FIXED64,
            Self::Fixed32(_) => FIXED32,
            Self::Bytes(_) => LENGTH,
            Self::Group(_) => GROUP_START,
        }
    }
}

/// Reads the fields of a message one by one, without a schema.
#[derive(Clone, Debug)]
pub struct Items<'m> {
    rest: &'m [u8],
    /// Offset of `rest` in the input.
    offset: u64,
    depth_left: u32,
}

impl<'m> Items<'m> {
    /// Creates a reader of the fields of `message`, whose groups nest at most `depth_max` deep.
    pub fn new(message: &'m [u8], depth_max: u32) -> Self {
        Self::at(message, 0, depth_max)
    }

    /// Creates a reader of the fields of `message`, which begins at `offset` of the input.
    pub(crate) fn at(message: &'m [u8], offset: u64, depth_max: u32) -> Self {
        Self { rest: message, offset, depth_left: depth_max }
    }

    /// Returns the offset of the next field.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the unread bytes.
    pub(crate) fn rest(&self) -> &'m [u8] {
        self.rest
    }

    /// Returns the next field's number and value; `None` at the end.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the message is malformed, with the offset.
    #[expect(clippy::should_implement_trait, reason = "each step may fail, and none follows then")]
    pub fn next(&mut self) -> ProtobufResult<Option<(u32, WireValue<'m>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (number, wire_type) = self.tag()?;
        let item = match wire_type {
            GROUP_END => return Err(self.fault(ProtobufErrorKind::GroupEnd)),
            GROUP_START => self.group(number)?,
            _ => self.value(wire_type)?,
        };
        Ok(Some((number, item)))
    }

    /// Reads a tag; returns its number and wire type.
    fn tag(&mut self) -> ProtobufResult<(u32, u8)> {
        let tag = self.varint()?;
        let number = number_of(tag).map_err(|kind| self.fault(kind))?;
        Ok((number, wire_type_of(tag)))
    }

    /// Reads a varint without a tag, as in packed fields.
    pub(crate) fn varint(&mut self) -> ProtobufResult<u64> {
        match read_varint(self.rest).map_err(|kind| self.fault(kind))? {
            WireRead::Done(value, bytes) => {
                self.take(bytes)?;
                Ok(value)
            }
            WireRead::More => Err(self.fault(ProtobufErrorKind::Truncated)),
        }
    }

    /// Reads eight bytes without a tag.
    pub(crate) fn fixed64(&mut self) -> ProtobufResult<u64> {
        let bytes = self.take(8)?.first_chunk::<8>().expect("eight bytes were taken");
        Ok(u64::from_le_bytes(*bytes))
    }

    /// Reads four bytes without a tag.
    pub(crate) fn fixed32(&mut self) -> ProtobufResult<u32> {
        let bytes = self.take(4)?.first_chunk::<4>().expect("four bytes were taken");
        Ok(u32::from_le_bytes(*bytes))
    }

    /// Reads a value of a wire type other than those of groups.
    fn value(&mut self, wire_type: u8) -> ProtobufResult<WireValue<'m>> {
        Ok(match wire_type {
            VARINT => WireValue::Varint(self.varint()?),
            FIXED64 => WireValue::Fixed64(self.fixed64()?),
            FIXED32 => WireValue::Fixed32(self.fixed32()?),
            _ => {
                let length = self.varint()?;
                if length > LENGTH_MAX {
                    return Err(self.fault(ProtobufErrorKind::LengthTooLarge));
                }
                WireValue::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
        })
    }

    /// Reads the content of group `number` to its end, including nested groups.
    fn group(&mut self, number: u32) -> ProtobufResult<WireValue<'m>> {
        let content = self.rest;
        let start = self.offset;
        let mut open = vec![number];
        loop {
            let before = self.offset;
            let (number, wire_type) = self.tag()?;
            match wire_type {
                GROUP_START if open.len() >= self.depth_left as usize => {
                    return Err(self.fault(ProtobufErrorKind::DepthExceeded));
                }
                GROUP_START => open.push(number),
                GROUP_END => {
                    if open.pop() != Some(number) {
                        return Err(self.fault(ProtobufErrorKind::GroupEnd));
                    }
                    if open.is_empty() {
                        let bytes = usize::try_from(before - start).expect("a length in memory");
                        return Ok(WireValue::Group(&content[..bytes]));
                    }
                }
                _ => {
                    self.value(wire_type)?;
                }
            }
        }
    }

    fn take(&mut self, bytes: usize) -> ProtobufResult<&'m [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(bytes).ok_or_else(|| self.fault(ProtobufErrorKind::Truncated))?;
        self.rest = rest;
        self.offset += bytes as u64;
        Ok(taken)
    }

    fn fault(&self, kind: ProtobufErrorKind) -> ProtobufError {
        ProtobufError::new(self.offset, kind)
    }
}

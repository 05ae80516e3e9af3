//! Values that may continue in the next piece: text, bytes, skipped values, and values that must be complete.

use super::machine::{JsonWriteResult, JsonWriter, WireFieldHead};
use super::ongoing::{BufferedTextKind, JsonTextEncoding, Ongoing};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::text::{write_base64, write_escaped};
use crate::schema::Schema;
use crate::wire::{PiecePosition, front};

impl JsonWriter {
    /// Continues the item left open by the last piece; returns how many bytes were read.
    pub(super) fn go_on(&mut self, schema: &Schema, rest: &[u8], offset: u64) -> JsonWriteResult<usize> {
        match self.ongoing {
            Ongoing::None => Ok(0),
            Ongoing::Skip { left } => {
                let (piece, left) = front(rest, left);
                self.ongoing = if left == 0 { Ongoing::None } else { Ongoing::Skip { left } };
                Ok(piece.len())
            }
            Ongoing::Text { left, form } => {
                let (piece, behind) = front(rest, left);
                let position = if behind == 0 { PiecePosition::Last } else { PiecePosition::Inner };
                let bytes = self.write_text(piece, form, position, offset)?;
                self.ongoing = if position == PiecePosition::Last {
                    self.out.push(b'"');
                    Ongoing::None
                } else {
                    Ongoing::Text { left: left - bytes as u64, form }
                };
                Ok(bytes)
            }
            Ongoing::Held { left, what } => {
                let (piece, left) = front(rest, left);
                self.held.extend_from_slice(piece);
                if left > 0 {
                    self.ongoing = Ongoing::Held { left, what };
                    return Ok(piece.len());
                }
                self.ongoing = Ongoing::None;
                let held = std::mem::take(&mut self.held);
                let place = offset + piece.len() as u64 - held.len() as u64;
                let done = self.held_whole(schema, what, &held, place);
                self.held = held;
                done.map(|()| piece.len())
            }
        }
    }

    fn write_text(
        &mut self,
        piece: &[u8],
        form: JsonTextEncoding,
        position: PiecePosition,
        offset: u64,
    ) -> ProtobufResult<usize> {
        match form {
            JsonTextEncoding::Utf8 => write_escaped(&mut self.out, piece, position)
                .map_err(|place| ProtobufError::new(offset + place as u64, ProtobufErrorKind::Utf8)),
            JsonTextEncoding::Base64 => {
                let whole = if position == PiecePosition::Last { piece.len() } else { piece.len() / 3 * 3 };
                write_base64(&mut self.out, piece.get(..whole).unwrap_or_default());
                Ok(whole)
            }
        }
    }

    /// Writes the available part of a string or bytes.
    #[inline]
    pub(super) fn text(
        &mut self,
        head: WireFieldHead,
        behind: &[u8],
        form: JsonTextEncoding,
    ) -> JsonWriteResult<usize> {
        self.out.push(b'"');
        match usize::try_from(head.value).ok().and_then(|length| behind.get(..length)) {
            Some(whole) => {
                self.write_text(whole, form, PiecePosition::Last, head.after)?;
                self.out.push(b'"');
                Ok(whole.len())
            }
            None => {
                self.ongoing = Ongoing::Text { left: head.value, form };
                Ok(0)
            }
        }
    }

    /// Buffers a value that must be complete, or handles it at once.
    pub(super) fn hold(
        &mut self,
        schema: &Schema,
        head: WireFieldHead,
        behind: &[u8],
        what: BufferedTextKind,
    ) -> JsonWriteResult<usize> {
        if let Some(whole) = usize::try_from(head.value).ok().and_then(|length| behind.get(..length)) {
            return self.held_whole(schema, what, whole, head.after).map(|()| whole.len());
        }
        if head.value > self.limits.held_bytes_max as u64 {
            return Err(ProtobufError::new(head.after, ProtobufErrorKind::HeldTooLarge).into());
        }
        self.held.clear();
        self.ongoing = Ongoing::Held { left: head.value, what };
        Ok(0)
    }

    fn held_whole(
        &mut self,
        schema: &Schema,
        what: BufferedTextKind,
        whole: &[u8],
        offset: u64,
    ) -> JsonWriteResult {
        match what {
            BufferedTextKind::Key => self.text_key(whole, offset),
            BufferedTextKind::MaskPath => self.mask_path(whole, offset),
            BufferedTextKind::TypeUrl => self.type_url(schema, whole, offset),
        }
    }
}

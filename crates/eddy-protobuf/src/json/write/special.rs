//! `Timestamp`, `Duration`, `FieldMask` and `Any`.

use super::frame::{FrameProgress, JsonWriteFrame, JsonWriteRole};
use super::machine::{JsonWriteResult, JsonWriteStop, JsonWriter, WireFieldHead, outermost};
use super::ongoing::BufferedTextKind;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::text::{write_duration, write_escaped, write_mask_path, write_timestamp};
use crate::schema::{MessageId, Schema, Special};
use crate::wire::{LENGTH, PiecePosition, VARINT};

impl JsonWriter {
    /// Handles a field of a `Timestamp` or `Duration`.
    #[expect(clippy::cast_possible_truncation, reason = "an int32 on the wire is the low half of a varint")]
    pub(super) fn time(&mut self, head: WireFieldHead) -> JsonWriteResult<usize> {
        let (seconds, nanos) = match self.top.progress {
            FrameProgress::Time { seconds, nanos } => (seconds, nanos),
            _ => (0, 0),
        };
        self.top.progress = match (head.number, head.wire_type) {
            (1, VARINT) => FrameProgress::Time { seconds: head.value.cast_signed(), nanos },
            (2, VARINT) => FrameProgress::Time { seconds, nanos: head.value as i32 },
            _ => return self.skip(head),
        };
        Ok(0)
    }

    /// Handles a path of a `FieldMask`.
    pub(super) fn mask(
        &mut self,
        schema: &Schema,
        head: WireFieldHead,
        behind: &[u8],
    ) -> JsonWriteResult<usize> {
        match (head.number, head.wire_type) {
            (1, LENGTH) => self.hold(schema, head, behind, BufferedTextKind::MaskPath),
            _ => self.skip(head),
        }
    }

    pub(super) fn mask_path(&mut self, path: &[u8], offset: u64) -> JsonWriteResult {
        if !self.top.is_first {
            self.out.push(b',');
        }
        self.top.is_first = false;
        let written = write_mask_path(&mut self.out, path);
        written.ok_or_else(|| ProtobufError::new(offset, ProtobufErrorKind::FieldMaskPath).into())
    }

    /// Writes a special message at its end.
    pub(super) fn leave_special(&mut self, offset: u64) -> ProtobufResult {
        let (seconds, nanos) = match self.top.progress {
            FrameProgress::Time { seconds, nanos } => (seconds, nanos),
            _ => (0, 0),
        };
        let written = match self.top.role {
            JsonWriteRole::Timestamp => write_timestamp(&mut self.out, seconds, nanos),
            JsonWriteRole::Duration => write_duration(&mut self.out, seconds, nanos),
            _ => {
                self.out.push(b'"');
                Ok(())
            }
        };
        written.map_err(|kind| ProtobufError::new(offset, kind))
    }

    /// Handles a field of an `Any`.
    pub(super) fn any(
        &mut self,
        schema: &Schema,
        head: WireFieldHead,
        behind: &[u8],
    ) -> JsonWriteResult<usize> {
        match (head.number, head.wire_type, self.top.progress) {
            // An empty URL counts as absent.
            (1, LENGTH, FrameProgress::Nothing) if head.value == 0 => Ok(0),
            (1, LENGTH, FrameProgress::Nothing) => self.hold(schema, head, behind, BufferedTextKind::TypeUrl),
            (2, LENGTH, FrameProgress::Nothing) if head.value == 0 => Ok(0),
            (2, LENGTH, FrameProgress::Nothing) if self.is_ordered => {
                Err(ProtobufError::new(head.after, ProtobufErrorKind::AnyWithoutType).into())
            }
            (2, LENGTH, FrameProgress::Type(id)) => {
                self.enter_any(schema, id, head.after + head.value, head.after)?;
                Ok(0)
            }
            (1 | 2, LENGTH, _) => Err(JsonWriteStop::Disorder),
            _ => self.skip(head),
        }
    }

    pub(super) fn type_url(&mut self, schema: &Schema, url: &[u8], offset: u64) -> JsonWriteResult {
        let id = schema
            .find_by_url(url)
            .ok_or_else(|| ProtobufError::new(offset, ProtobufErrorKind::AnyTypeUnknown))?;
        self.out.extend_from_slice(b"{\"@type\":\"");
        write_escaped(&mut self.out, url, PiecePosition::Last)
            .map_err(|place| ProtobufError::new(offset + place as u64, ProtobufErrorKind::Utf8))?;
        self.out.push(b'"');
        self.top.progress = FrameProgress::Type(id);
        Ok(())
    }

    /// Begins the value of an `Any`.
    fn enter_any(&mut self, schema: &Schema, id: MessageId, end: u64, offset: u64) -> ProtobufResult {
        if schema.message(id).special == Special::None {
            self.top.progress = FrameProgress::Value;
            let frame = JsonWriteFrame {
                role: JsonWriteRole::Object,
                message: id,
                is_first: false,
                ..outermost(end)
            };
            return self.enter_frame(schema, frame, offset);
        }
        self.top.progress = FrameProgress::SpecialValue;
        self.out.extend_from_slice(b",\"value\":");
        self.enter(schema, id, end, 0, offset)
    }

    /// Ends an `Any`; an absent value has the default.
    pub(super) fn leave_any(&mut self, schema: &Schema, offset: u64) -> JsonWriteResult<bool> {
        match self.top.progress {
            FrameProgress::Type(id) => {
                self.enter_any(schema, id, offset, offset)?;
                return Ok(false);
            }
            FrameProgress::SpecialValue => self.out.push(b'}'),
            FrameProgress::Nothing => self.out.extend_from_slice(b"{}"),
            _ => {}
        }
        Ok(true)
    }
}

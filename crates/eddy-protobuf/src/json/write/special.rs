//! `Timestamp`, `Duration`, `FieldMask` and `Any`.

use super::frame::{Frame, Progress, Role};
use super::machine::{Head, Machine, Stop, outermost};
use super::text::Held;
use crate::fault::{Fault, FaultKind};
use crate::json::text::{write_duration, write_escaped, write_mask_path, write_timestamp};
use crate::schema::{MessageId, Schema, Special};
use crate::wire::{LENGTH, VARINT};

impl Machine {
    /// A field of a `Timestamp` or `Duration`.
    #[expect(clippy::cast_possible_truncation, reason = "an int32 on the wire is the low half of a varint")]
    pub(super) fn time(&mut self, head: Head) -> Result<usize, Stop> {
        let (seconds, nanos) = match self.top.progress {
            Progress::Time { seconds, nanos } => (seconds, nanos),
            _ => (0, 0),
        };
        self.top.progress = match (head.number, head.wire_type) {
            (1, VARINT) => Progress::Time { seconds: head.value.cast_signed(), nanos },
            (2, VARINT) => Progress::Time { seconds, nanos: head.value as i32 },
            _ => return self.skip(head),
        };
        Ok(0)
    }

    /// A path of a `FieldMask`.
    pub(super) fn mask(&mut self, schema: &Schema, head: Head, behind: &[u8]) -> Result<usize, Stop> {
        match (head.number, head.wire_type) {
            (1, LENGTH) => self.hold(schema, head, behind, Held::MaskPath),
            _ => self.skip(head),
        }
    }

    pub(super) fn mask_path(&mut self, path: &[u8], offset: u64) -> Result<(), Stop> {
        if !self.top.is_first {
            self.out.push(b',');
        }
        self.top.is_first = false;
        let written = write_mask_path(&mut self.out, path);
        written.ok_or_else(|| Fault::new(offset, FaultKind::FieldMaskPath).into())
    }

    /// Ends what is written at its end.
    pub(super) fn leave_special(&mut self, offset: u64) -> Result<bool, Stop> {
        let (seconds, nanos) = match self.top.progress {
            Progress::Time { seconds, nanos } => (seconds, nanos),
            _ => (0, 0),
        };
        let written = match self.top.role {
            Role::Timestamp => write_timestamp(&mut self.out, seconds, nanos),
            Role::Duration => write_duration(&mut self.out, seconds, nanos),
            _ => {
                self.out.push(b'"');
                Ok(())
            }
        };
        written.map_err(|kind| Fault::new(offset, kind))?;
        Ok(true)
    }

    /// A field of an `Any`.
    pub(super) fn any(&mut self, schema: &Schema, head: Head, behind: &[u8]) -> Result<usize, Stop> {
        match (head.number, head.wire_type, self.top.progress) {
            // An empty URL is none.
            (1, LENGTH, Progress::Nothing) if head.value == 0 => Ok(0),
            (1, LENGTH, Progress::Nothing) => self.hold(schema, head, behind, Held::TypeUrl),
            (2, LENGTH, Progress::Nothing) if head.value == 0 => Ok(0),
            (2, LENGTH, Progress::Nothing) if self.is_ordered => {
                Err(Fault::new(head.after, FaultKind::AnyWithoutType).into())
            }
            (2, LENGTH, Progress::Type(id)) => {
                self.enter_any(schema, id, head.after + head.value, head.after)?;
                Ok(0)
            }
            (1 | 2, LENGTH, _) => Err(Stop::Disorder),
            _ => self.skip(head),
        }
    }

    pub(super) fn type_url(&mut self, schema: &Schema, url: &[u8], offset: u64) -> Result<(), Stop> {
        let id = schema.find_by_url(url).ok_or_else(|| Fault::new(offset, FaultKind::AnyTypeUnknown))?;
        self.out.extend_from_slice(b"{\"@type\":\"");
        write_escaped(&mut self.out, url, true)
            .map_err(|place| Fault::new(offset + place as u64, FaultKind::Utf8))?;
        self.out.push(b'"');
        self.top.progress = Progress::Type(id);
        Ok(())
    }

    /// Begins the value of an `Any`.
    fn enter_any(&mut self, schema: &Schema, id: MessageId, end: u64, offset: u64) -> Result<(), Fault> {
        if schema.message(id).special == Special::None {
            self.top.progress = Progress::Value;
            let frame = Frame { role: Role::Object, message: id, is_first: false, ..outermost(end) };
            return self.enter_frame(schema, frame, offset);
        }
        self.top.progress = Progress::SpecialValue;
        self.out.extend_from_slice(b",\"value\":");
        self.enter(schema, id, end, 0, offset)
    }

    /// Ends an `Any`; one without a value has the default.
    pub(super) fn leave_any(&mut self, schema: &Schema, offset: u64) -> Result<bool, Stop> {
        match self.top.progress {
            Progress::Type(id) => {
                self.enter_any(schema, id, offset, offset)?;
                return Ok(false);
            }
            Progress::SpecialValue => self.out.push(b'}'),
            Progress::Nothing => self.out.extend_from_slice(b"{}"),
            _ => {}
        }
        Ok(true)
    }
}

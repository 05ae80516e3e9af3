//! State machine that reads a message item by item and writes JSON incrementally.

use super::frame::{CLOSED, FrameProgress, JsonWriteFrame, JsonWriteRole};
use super::ongoing::Ongoing;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::ToJsonOptions;
use crate::json::keys::Keys;
use crate::limits::ProtobufLimits;
use crate::schema::{MessageId, Schema, Special};
use crate::wire::{
    GROUP_END, GROUP_START, LENGTH, LENGTH_MAX, WireRead, number_of, read_value, read_varint, wire_type_of,
};

/// Why the machine stopped.
#[derive(Clone, Copy, Debug)]
pub(super) enum JsonWriteStop {
    Fault(ProtobufError),
    /// The message must first be put into canonical form.
    Disorder,
}

/// Result of a step of the machine.
pub(super) type JsonWriteResult<T = ()> = Result<T, JsonWriteStop>;

impl JsonWriteStop {
    /// Returns the error, given that the message cannot be put into canonical form.
    pub(super) fn into_fault(self, offset: u64) -> ProtobufError {
        match self {
            Self::Fault(fault) => fault,
            Self::Disorder => ProtobufError::new(offset, ProtobufErrorKind::OutOfOrder),
        }
    }
}

impl From<ProtobufError> for JsonWriteStop {
    fn from(fault: ProtobufError) -> Self {
        Self::Fault(fault)
    }
}

/// A tag and what follows it, except the content of a length-delimited value.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireFieldHead {
    pub(super) number: u32,
    pub(super) wire_type: u8,
    /// The value; for a length-delimited value, its length.
    pub(super) value: u64,
    /// Offset after it.
    pub(super) after: u64,
}

/// Reads messages and writes JSON.
#[derive(Debug)]
pub(super) struct JsonWriter {
    pub(super) options: ToJsonOptions,
    pub(super) limits: ProtobufLimits,
    pub(super) out: Vec<u8>,
    pub(super) top: JsonWriteFrame,
    stack: Vec<JsonWriteFrame>,
    /// Whether the outermost message has ended.
    is_done: bool,
    pub(super) depth: u32,
    /// A bit for each field and oneof of the enclosing messages.
    pub(super) seen: Vec<u64>,
    pub(super) keys: Keys,
    /// Number of maps so far.
    pub(super) maps: u64,
    pub(super) ongoing: Ongoing,
    /// Received part of a value that must be complete.
    pub(super) held: Vec<u8>,
    /// Offset of the current window in the input.
    base: u64,
    /// Whether the message is in canonical form, so that nothing is out of order.
    pub(super) is_ordered: bool,
}

impl JsonWriter {
    pub(super) fn new(options: ToJsonOptions, limits: ProtobufLimits) -> Self {
        Self {
            options,
            limits,
            out: Vec::new(),
            top: outermost(0),
            stack: Vec::new(),
            is_done: true,
            depth: 0,
            seen: Vec::new(),
            keys: Keys::default(),
            maps: 0,
            ongoing: Ongoing::None,
            held: Vec::new(),
            base: 0,
            is_ordered: false,
        }
    }

    /// Returns the number of bytes read.
    pub(super) fn offset(&self) -> u64 {
        self.base
    }

    /// Begins a message that ends at `end`.
    pub(super) fn begin(&mut self, schema: &Schema, message: MessageId, end: u64) -> ProtobufResult {
        self.stack.clear();
        self.seen.clear();
        self.keys.clear();
        self.ongoing = Ongoing::None;
        self.base = 0;
        self.depth = 0;
        self.maps = 0;
        self.is_done = false;
        self.top = outermost(end);
        self.enter(schema, message, end, 0, 0)
    }

    /// Converts a whole message.
    pub(super) fn whole(&mut self, schema: &Schema, message: MessageId, bytes: &[u8]) -> JsonWriteResult {
        self.begin(schema, message, bytes.len() as u64)?;
        let used = self.run(schema, bytes)?;
        if used < bytes.len() {
            return Err(ProtobufError::new(self.base, ProtobufErrorKind::Truncated).into());
        }
        self.finish(schema)
    }

    /// Ends the outermost message at the end of the input.
    pub(super) fn finish(&mut self, schema: &Schema) -> JsonWriteResult {
        while !self.is_done {
            let is_open = self.top.end > self.base && !self.stack.is_empty() && self.top.end != u64::MAX;
            if is_open || self.top.group != 0 || !matches!(self.ongoing, Ongoing::None) {
                return Err(ProtobufError::new(self.base, ProtobufErrorKind::Truncated).into());
            }
            self.leave(schema, self.base)?;
        }
        Ok(())
    }

    /// Reads from the front of a window; returns how many bytes were read: everything except an incomplete item at
    /// the end.
    pub(super) fn run(&mut self, schema: &Schema, window: &[u8]) -> JsonWriteResult<usize> {
        let base = self.base;
        let mut at = 0;
        loop {
            let rest = window.get(at..).unwrap_or_default();
            let offset = base + at as u64;
            self.base = offset;
            if !matches!(self.ongoing, Ongoing::None) {
                at += self.go_on(schema, rest, offset)?;
                if !matches!(self.ongoing, Ongoing::None) {
                    self.base = base + at as u64;
                    return Ok(at);
                }
                continue;
            }
            if offset >= self.top.end {
                if self.top.group != 0 {
                    return Err(self.past_end(offset).into());
                }
                self.leave(schema, offset)?;
                if self.is_done {
                    return Ok(at);
                }
                continue;
            }
            let used = self.step(schema, rest, offset)?;
            if used == 0 && matches!(self.ongoing, Ongoing::None) {
                return Ok(at);
            }
            at += used;
        }
    }

    /// Reads one item; returns 0 if the window ends within its head.
    #[inline]
    fn step(&mut self, schema: &Schema, rest: &[u8], offset: u64) -> JsonWriteResult<usize> {
        if self.top.role == JsonWriteRole::Packed {
            return self.packed_value(schema, rest, offset);
        }
        let fault = |kind| ProtobufError::new(offset, kind);
        let WireRead::Done(tag, tag_bytes) = read_varint(rest).map_err(fault)? else {
            return self.more(rest, offset);
        };
        let number = number_of(tag).map_err(fault)?;
        let wire_type = wire_type_of(tag);
        let body = rest.get(tag_bytes..).unwrap_or_default();
        let (value, bytes) = match wire_type {
            GROUP_START => (0, 0),
            GROUP_END => {
                if self.top.group != number {
                    return Err(fault(ProtobufErrorKind::GroupEnd).into());
                }
                self.top.group = 0;
                self.top.end = offset + tag_bytes as u64;
                return Ok(tag_bytes);
            }
            _ => match read_value(wire_type, body).map_err(fault)? {
                WireRead::Done(value, bytes) => (value, bytes),
                WireRead::More => return self.more(rest, offset),
            },
        };
        let used = tag_bytes + bytes;
        let after = offset + used as u64;
        let end = if wire_type == LENGTH {
            if value > LENGTH_MAX {
                return Err(fault(ProtobufErrorKind::LengthTooLarge).into());
            }
            after + value
        } else {
            after
        };
        if end > self.top.end {
            return Err(self.past_end(offset).into());
        }
        let head = WireFieldHead { number, wire_type, value, after };
        let behind = rest.get(used..).unwrap_or_default();
        self.item(schema, head, behind).map(|more| used + more)
    }

    /// Requests more input when the window ends within an item, unless its message ends first.
    pub(super) fn more(&self, rest: &[u8], offset: u64) -> JsonWriteResult<usize> {
        if offset + rest.len() as u64 >= self.top.end {
            return Err(self.past_end(offset).into());
        }
        Ok(0)
    }

    /// Returns the error of an item that exceeds the end of its container, which is the whole input or a message in
    /// it.
    fn past_end(&self, offset: u64) -> ProtobufError {
        // A group has no end of its own. The first frame is the level around the outermost message, the second is
        // that message.
        let groups =
            self.stack.iter().skip(2).chain([&self.top]).rev().take_while(|frame| frame.group != 0).count();
        ProtobufError::new(
            offset,
            if groups + 1 == self.stack.len() {
                ProtobufErrorKind::Truncated
            } else {
                ProtobufErrorKind::PastEnd
            },
        )
    }

    /// Handles an item according to its container; returns how many bytes of `behind` were consumed.
    #[inline]
    fn item(&mut self, schema: &Schema, head: WireFieldHead, behind: &[u8]) -> JsonWriteResult<usize> {
        match self.top.role {
            JsonWriteRole::Object | JsonWriteRole::Bare | JsonWriteRole::Value | JsonWriteRole::Wrapper => {
                self.field(schema, head, behind)
            }
            JsonWriteRole::Timestamp | JsonWriteRole::Duration => self.time(head),
            JsonWriteRole::Mask => self.mask(schema, head, behind),
            JsonWriteRole::Any => self.any(schema, head, behind),
            JsonWriteRole::Entry => self.entry(schema, head, behind),
            JsonWriteRole::Packed | JsonWriteRole::Skip => self.skip(head),
        }
    }

    /// Skips an item.
    pub(super) fn skip(&mut self, head: WireFieldHead) -> JsonWriteResult<usize> {
        match head.wire_type {
            LENGTH => self.ongoing = Ongoing::Skip { left: head.value },
            GROUP_START => {
                let frame = JsonWriteFrame {
                    role: JsonWriteRole::Skip,
                    group: head.number,
                    ..outermost(self.top.end)
                };
                self.push(frame, head.after)?;
            }
            _ => {}
        }
        Ok(0)
    }

    /// Begins a message with its opening JSON text.
    pub(super) fn enter(
        &mut self,
        schema: &Schema,
        id: MessageId,
        end: u64,
        group: u32,
        offset: u64,
    ) -> ProtobufResult {
        let message = schema.message(id);
        let role = JsonWriteRole::of(message.special);
        let mut frame = JsonWriteFrame { role, message: id, group, ..outermost(end) };
        match role {
            JsonWriteRole::Object => self.out.push(b'{'),
            JsonWriteRole::Bare => {
                let is_list = message.special == Special::ListValue;
                self.out.push(if is_list { b'[' } else { b'{' });
                frame.close = if is_list { b']' } else { b'}' };
                frame.open = 0;
                self.maps += 1;
                frame.map = self.maps;
            }
            JsonWriteRole::Mask => self.out.push(b'"'),
            _ => {}
        }
        self.enter_frame(schema, frame, offset)
    }

    /// Begins a message whose opening text was written.
    pub(super) fn enter_frame(
        &mut self,
        schema: &Schema,
        mut frame: JsonWriteFrame,
        offset: u64,
    ) -> ProtobufResult {
        let message = schema.message(frame.message);
        frame.seen_index = self.seen.len();
        let bits = message.fields.len() + message.oneofs.len();
        self.seen.resize(frame.seen_index + bits.div_ceil(64), 0);
        self.push(frame, offset)
    }

    pub(super) fn push(&mut self, frame: JsonWriteFrame, offset: u64) -> ProtobufResult {
        if frame.role.is_level() {
            if self.depth >= self.limits.depth_max {
                return Err(ProtobufError::new(offset, ProtobufErrorKind::DepthExceeded));
            }
            self.depth += 1;
        }
        self.stack.push(self.top);
        self.top = frame;
        Ok(())
    }

    /// Whether it reads the value of an `Any`, which is only bytes for the enclosing message.
    pub(super) fn is_within_any(&self) -> bool {
        self.stack.iter().any(|frame| frame.role == JsonWriteRole::Any)
    }

    /// Ends the innermost frame with its closing JSON text.
    fn leave(&mut self, schema: &Schema, offset: u64) -> JsonWriteResult {
        let is_ended = match self.top.role {
            JsonWriteRole::Object | JsonWriteRole::Bare | JsonWriteRole::Value | JsonWriteRole::Wrapper => {
                self.leave_message(schema, offset)?;
                true
            }
            JsonWriteRole::Timestamp | JsonWriteRole::Duration | JsonWriteRole::Mask => {
                self.leave_special(offset)?;
                true
            }
            JsonWriteRole::Any => self.leave_any(schema, offset)?,
            JsonWriteRole::Entry => self.leave_entry(schema, offset)?,
            JsonWriteRole::Packed | JsonWriteRole::Skip => true,
        };
        if is_ended {
            if self.top.role.is_level() {
                self.depth -= 1;
            }
            if !matches!(self.top.role, JsonWriteRole::Entry | JsonWriteRole::Packed | JsonWriteRole::Skip) {
                self.seen.truncate(self.top.seen_index);
            }
            self.top = self.stack.pop().unwrap_or(self.top);
            self.is_done = self.stack.is_empty();
        }
        Ok(())
    }
}

/// Returns the frame around the outermost message.
pub(super) fn outermost(end: u64) -> JsonWriteFrame {
    JsonWriteFrame {
        role: JsonWriteRole::Skip,
        message: MessageId(0),
        end,
        group: 0,
        seen_index: 0,
        open: CLOSED,
        close: 0,
        is_first: true,
        map: 0,
        progress: FrameProgress::Nothing,
    }
}

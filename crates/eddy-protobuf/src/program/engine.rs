//! Engine of a walk: reads a message item by item and performs the program's operations.

use super::edit::{ByteReplacement, To, text_len};
use super::frame::WalkFrame;
use super::node::{ProgramNode, WalkProgram};
use super::store::SlotStore;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::limits::ProtobufLimits;
use crate::wire::{
    GROUP_END, GROUP_START, LENGTH, LENGTH_MAX, WireRead, number_of, read_value, read_varint, varint_len,
    wire_type_of,
};

/// The item that the next bytes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ongoing {
    /// A new item.
    None,
    /// A skipped value.
    Skip { left: u64 },
    /// A value that must be complete, with its field.
    Whole { left: u64, node: u32, op: usize, head: WalkFieldHead },
}

/// A tag and what follows it, except the content of a length-delimited value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WalkFieldHead {
    pub(super) number: u32,
    pub(super) wire_type: u8,
    /// The value; for a length-delimited value, its length.
    pub(super) value: u64,
    /// Offset of the tag.
    pub(super) start: u64,
    /// Offset after the tag: of the length, or the value.
    pub(super) after_tag: u64,
    /// Offset after both.
    pub(super) after: u64,
}

impl WalkFieldHead {
    /// Returns the offset of the item's end.
    pub(super) fn end(&self) -> u64 {
        if self.wire_type == LENGTH { self.after + self.value } else { self.after }
    }
}

/// Reads messages and performs the operations of a program.
#[derive(Debug)]
pub(super) struct WalkEngine {
    pub(super) limits: ProtobufLimits,
    pub(super) store: SlotStore,
    pub(super) top: WalkFrame,
    pub(super) stack: Vec<WalkFrame>,
    is_done: bool,
    pub(super) ongoing: Ongoing,
    /// Received part of a value that must be complete.
    pub(super) scratch: Vec<u8>,
    pub(super) changes: Vec<ByteReplacement>,
    /// Offset of the current window in the input.
    pub(super) base: u64,
    /// A run ends when the stack is lower than this.
    pub(super) floor: usize,
}

impl WalkEngine {
    pub(super) fn new(program: &WalkProgram, limits: ProtobufLimits) -> Self {
        Self {
            limits,
            store: SlotStore::new(program),
            top: WalkFrame::new(0, 0, 0),
            stack: Vec::new(),
            is_done: true,
            ongoing: Ongoing::None,
            scratch: Vec::new(),
            changes: Vec::new(),
            base: 0,
            floor: 0,
        }
    }

    /// Begins a message that ends at `end`.
    #[inline]
    pub(super) fn begin(&mut self, end: u64) {
        self.store.clear();
        self.stack.clear();
        self.changes.clear();
        self.ongoing = Ongoing::None;
        self.base = 0;
        self.floor = 0;
        self.is_done = false;
        self.top = WalkFrame::new(0, 0, end);
    }

    /// Walks a whole message.
    #[inline]
    pub(super) fn whole(&mut self, program: &WalkProgram, message: &[u8]) -> ProtobufResult {
        self.begin(message.len() as u64);
        let used = self.run(program, message)?;
        if used < message.len() {
            return Err(ProtobufError::new(self.base, ProtobufErrorKind::Truncated));
        }
        self.finish(program)
    }

    /// Ends the outermost message at the end of the input.
    pub(super) fn finish(&mut self, program: &WalkProgram) -> ProtobufResult {
        if self.is_done {
            return Ok(());
        }
        let is_inner = !self.stack.is_empty() || self.top.group != 0;
        if is_inner || self.ongoing != Ongoing::None {
            return Err(ProtobufError::new(self.base, ProtobufErrorKind::Truncated));
        }
        self.leave(program, self.base)
    }

    /// Reads from the front of a window; returns how many bytes were read: everything except an incomplete item at
    /// the end.
    #[inline]
    pub(super) fn run(&mut self, program: &WalkProgram, window: &[u8]) -> ProtobufResult<usize> {
        let base = self.base;
        let mut at = 0;
        loop {
            if self.ongoing != Ongoing::None {
                at += self.go_on(program, window.get(at..).unwrap_or_default())?;
                self.base = base + at as u64;
                if self.ongoing != Ongoing::None {
                    return Ok(at);
                }
            }
            let Some(node) = program.nodes.get(self.top.node as usize) else { return Ok(at) };
            if !self.top.is_skipped && self.top.packed.is_none() {
                let left = usize::try_from(self.top.end - base).unwrap_or(usize::MAX);
                at = self.run_fast_path(node, window.get(..left).unwrap_or(window), base, at)?;
            }
            let offset = base + at as u64;
            self.base = offset;
            if offset >= self.top.end {
                if self.top.group != 0 {
                    return Err(self.past_end(offset));
                }
                self.leave(program, offset)?;
                if self.is_done || self.stack.len() < self.floor {
                    return Ok(at);
                }
                continue;
            }
            let used = self.step(program, node, window.get(at..).unwrap_or_default(), offset)?;
            if used == 0 {
                return Ok(at);
            }
            at += used;
            self.base = base + at as u64;
        }
    }

    /// Reads one item; returns 0 if the window ends within its head.
    #[inline]
    fn step(
        &mut self,
        program: &WalkProgram,
        node: &ProgramNode,
        rest: &[u8],
        offset: u64,
    ) -> ProtobufResult<usize> {
        let fault = |kind| ProtobufError::new(offset, kind);
        if let Some(op) = self.top.packed.and_then(|op| node.ops.get(op)) {
            return self.take_packed(program, op, rest, offset);
        }
        let WireRead::Done(tag, tag_bytes) = read_varint(rest).map_err(fault)? else {
            return self.more(rest, offset);
        };
        let number = number_of(tag).map_err(fault)?;
        let wire_type = wire_type_of(tag);
        let body = rest.get(tag_bytes..).unwrap_or_default();
        let read = match wire_type {
            GROUP_START => WireRead::Done(0, 0),
            GROUP_END => return self.end_group(number, offset, tag_bytes),
            _ => read_value(wire_type, body).map_err(fault)?,
        };
        let WireRead::Done(value, bytes) = read else { return self.more(rest, offset) };
        let used = tag_bytes + bytes;
        let head = WalkFieldHead {
            number,
            wire_type,
            value,
            start: offset,
            after_tag: offset + tag_bytes as u64,
            after: offset + used as u64,
        };
        if wire_type == LENGTH && value > LENGTH_MAX {
            return Err(fault(ProtobufErrorKind::LengthTooLarge));
        }
        if head.end() > self.top.end {
            return Err(self.past_end(offset));
        }
        let op = if self.top.is_skipped { None } else { node.op(tag, number) };
        match op {
            Some((index, op)) => {
                let behind = rest.get(used..).unwrap_or_default();
                self.take(program, (index, op), head, behind).map(|more| used + more)
            }
            None => self.skip(head).map(|()| used),
        }
    }

    fn end_group(&mut self, number: u32, offset: u64, tag_bytes: usize) -> ProtobufResult<usize> {
        if self.top.group != number || number == 0 {
            return Err(ProtobufError::new(offset, ProtobufErrorKind::GroupEnd));
        }
        // Ends like a message whose length is consumed.
        self.top.group = 0;
        self.top.end = offset + tag_bytes as u64;
        Ok(tag_bytes)
    }

    /// Requests more input when the window ends within an item, unless its message ends first.
    pub(super) fn more(&self, rest: &[u8], offset: u64) -> ProtobufResult<usize> {
        if offset + rest.len() as u64 >= self.top.end {
            return Err(self.past_end(offset));
        }
        Ok(0)
    }

    /// Returns the error of an item that exceeds the end of its container, which is the whole input or a message in
    /// it.
    pub(super) fn past_end(&self, offset: u64) -> ProtobufError {
        // A group has no end of its own.
        let groups =
            self.stack.iter().skip(1).chain([&self.top]).rev().take_while(|frame| frame.group != 0).count();
        ProtobufError::new(
            offset,
            if groups == self.stack.len() {
                ProtobufErrorKind::Truncated
            } else {
                ProtobufErrorKind::PastEnd
            },
        )
    }

    /// Skips an item.
    pub(super) fn skip(&mut self, head: WalkFieldHead) -> ProtobufResult {
        match head.wire_type {
            LENGTH if head.value > 0 => self.ongoing = Ongoing::Skip { left: head.value },
            GROUP_START => {
                let mut frame = WalkFrame::new(self.top.node, head.after, self.top.end);
                frame.group = head.number;
                frame.is_skipped = true;
                self.push(frame)?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn push(&mut self, frame: WalkFrame) -> ProtobufResult {
        // The outermost message is the first level, and not on the stack.
        if self.stack.len() + 1 >= self.limits.depth_max as usize {
            return Err(ProtobufError::new(frame.start, ProtobufErrorKind::DepthExceeded));
        }
        self.stack.push(self.top);
        self.top = frame;
        Ok(())
    }

    /// Ends the innermost message.
    #[inline]
    pub(super) fn leave(&mut self, program: &WalkProgram, offset: u64) -> ProtobufResult {
        let required = &program.nodes[self.top.node as usize].required;
        if self.stack.is_empty() && required.is_empty() && !self.top.is_changed {
            self.is_done = true;
            return Ok(());
        }
        self.leave_frame(program, required, offset)
    }

    fn leave_frame(&mut self, program: &WalkProgram, required: &[(u8, u16)], offset: u64) -> ProtobufResult {
        let top = self.top;
        if !top.is_skipped
            && top.packed.is_none()
            && let Some((_, rule)) = required.iter().find(|(bit, _)| top.seen & 1 << bit == 0)
        {
            return Err(ProtobufError::new(offset, ProtobufErrorKind::Rule(*rule)));
        }
        match self.stack.pop() {
            Some(around) => self.top = around,
            None => self.is_done = true,
        }
        if top.is_changed {
            let length = (offset - top.start).saturating_add_signed(-top.removed);
            let mut removed = top.removed;
            if top.length_bytes > 0 {
                if let Some(change) = self.changes.get_mut(top.change) {
                    change.to = To::Length(length);
                }
                removed += i64::from(top.length_bytes) - signed(varint_len(length));
            }
            self.top.removed += removed;
        }
        match top.dropped_from {
            Some(start) => self.change(program, start, offset, To::Nothing),
            None => Ok(()),
        }
    }

    /// Records the replacement of a range.
    pub(super) fn change(&mut self, program: &WalkProgram, start: u64, end: u64, to: To) -> ProtobufResult {
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        if !to.is_same_length() {
            self.mark_changed();
            let length = match to {
                To::Text(text) => text_len(&program.texts[usize::from(text)]),
                _ => 0,
            };
            self.top.removed += signed(place(end - start)) - signed(length);
        }
        if self.changes.len() >= self.limits.items_max {
            return Err(ProtobufError::new(start, ProtobufErrorKind::TooManyItems));
        }
        self.changes.push(ByteReplacement { start: place(start), end: place(end), to });
        Ok(())
    }

    /// Marks the lengths of all enclosing messages as changed, outer ones first.
    fn mark_changed(&mut self) {
        let Self { stack, top, changes, .. } = self;
        let unchanged = stack.iter_mut().chain([top]).filter(|frame| !frame.is_changed);
        for frame in unchanged {
            frame.is_changed = true;
            if frame.length_bytes > 0 {
                let start = usize::try_from(frame.length_at).unwrap_or(usize::MAX);
                frame.change = changes.len();
                changes.push(ByteReplacement {
                    start,
                    end: start + usize::from(frame.length_bytes),
                    to: To::Length(0),
                });
            }
        }
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

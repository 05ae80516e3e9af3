//! Operations on fields that a program refers to.

use super::edit::To;
use super::engine::{Ongoing, WalkEngine, WalkFieldHead};
use super::frame::WalkFrame;
use super::node::{MapKey, Op, WalkProgram};
use super::rule::integer;
use super::store::Cell;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::schema::{FieldType, Label};
use crate::wire::{GROUP_START, Items, LENGTH, WireRead, WireValue, front, read_value, read_varint};

impl WalkEngine {
    /// Continues the item left open by the last piece; returns how many bytes were read.
    pub(super) fn go_on(&mut self, program: &WalkProgram, rest: &[u8]) -> ProtobufResult<usize> {
        match self.ongoing {
            Ongoing::None => Ok(0),
            Ongoing::Skip { left } => {
                let (piece, left) = front(rest, left);
                self.ongoing = if left == 0 { Ongoing::None } else { Ongoing::Skip { left } };
                Ok(piece.len())
            }
            Ongoing::Whole { left, node, op, head } => {
                let (piece, left) = front(rest, left);
                self.scratch.extend_from_slice(piece);
                if left > 0 {
                    self.ongoing = Ongoing::Whole { left, node, op, head };
                    return Ok(piece.len());
                }
                self.ongoing = Ongoing::None;
                let scratch = std::mem::take(&mut self.scratch);
                let op = program.nodes.get(node as usize).and_then(|node| node.ops.get(op));
                let taken = match op {
                    Some(op) => self.take_whole(program, op, head, &scratch),
                    None => Ok(()),
                };
                let held = self.store.hold_window(&scratch, head.after, &self.limits);
                self.scratch = scratch;
                taken?;
                held.map_err(|kind| ProtobufError::new(head.after, kind))?;
                Ok(piece.len())
            }
        }
    }

    /// Handles a field; returns how many bytes of `behind` were consumed.
    #[inline]
    pub(super) fn take(
        &mut self,
        program: &WalkProgram,
        (index, op): (usize, &Op),
        head: WalkFieldHead,
        behind: &[u8],
    ) -> ProtobufResult<usize> {
        if !op.accepts(head.wire_type) {
            return self.skip(head).map(|()| 0);
        }
        if !op.forget.is_empty() {
            self.store.forget(&op.forget);
        }
        if let Some(bit) = op.required
            && !(op.is_implicit && head.value == 0)
        {
            self.top.seen |= 1 << bit;
        }
        if head.wire_type != LENGTH {
            return self.take_unsized(program, op, head).map(|()| 0);
        }
        if op.kind.is_packable() {
            return self.enter_packed(program, (index, op), head).map(|()| 0);
        }
        if let Some(whole) = usize::try_from(head.value).ok().and_then(|length| behind.get(..length)) {
            let is_entered = op.child.is_some() && op.slot.is_none() && op.kind.message().is_some();
            if !is_entered {
                return self.take_whole(program, op, head, whole).map(|()| whole.len());
            }
        }
        self.take_ahead(program, (index, op), head)
    }

    /// Handles a field whose bytes are not available yet, or are walked as they arrive.
    fn take_ahead(
        &mut self,
        program: &WalkProgram,
        (index, op): (usize, &Op),
        head: WalkFieldHead,
    ) -> ProtobufResult<usize> {
        if op.needs_whole() {
            if head.value > self.limits.held_bytes_max as u64 {
                return Err(ProtobufError::new(head.after, ProtobufErrorKind::HeldTooLarge));
            }
            self.scratch.clear();
            self.ongoing = Ongoing::Whole { left: head.value, node: self.top.node, op: index, head };
            return Ok(0);
        }
        if let Some(to) = op.edit {
            self.edit(program, head, to)?;
        }
        match op.child {
            Some(child) if op.edit.is_none() => self.enter(op, child, head)?,
            _ => self.skip(head)?,
        }
        Ok(0)
    }

    /// Begins a length-prefixed message.
    fn enter(&mut self, op: &Op, child: u32, head: WalkFieldHead) -> ProtobufResult {
        if op.label != Label::Singular {
            self.store.begin(&op.below);
        }
        self.push(WalkFrame::prefixed(child, head))
    }

    /// Handles a number or a group.
    #[inline]
    fn take_unsized(&mut self, program: &WalkProgram, op: &Op, head: WalkFieldHead) -> ProtobufResult {
        if head.wire_type == GROUP_START {
            let mut frame = WalkFrame::new(op.child.unwrap_or(self.top.node), head.after, self.top.end);
            frame.group = head.number;
            frame.is_skipped = op.child.is_none() || op.edit.is_some();
            frame.dropped_from = op.edit.map(|_| head.start);
            if op.label != Label::Singular {
                self.store.begin(&op.below);
            }
            return self.push(frame);
        }
        self.take_number(program, op, head.value, head.after_tag)?;
        match op.edit {
            Some(to) => self.edit(program, head, to),
            None => Ok(()),
        }
    }

    #[inline]
    fn take_number(&mut self, program: &WalkProgram, op: &Op, raw: u64, offset: u64) -> ProtobufResult {
        for rule in &op.rules {
            if let Some(rule) = program.rules.get(usize::from(*rule))
                && !rule.test.holds_for_number(op.kind, raw)
            {
                return Err(ProtobufError::new(offset, ProtobufErrorKind::Rule(rule.number)));
            }
        }
        self.put(op, Cell::number(raw, offset), offset)
    }

    /// Stores a value that the program asks for.
    #[inline]
    fn put(&mut self, op: &Op, cell: Cell, offset: u64) -> ProtobufResult {
        let Some(slot) = op.slot else { return Ok(()) };
        let put = self.store.put(slot, cell, op.holds, &self.limits);
        put.map_err(|kind| ProtobufError::new(offset, kind))
    }

    /// Handles a complete length-delimited value.
    #[inline]
    fn take_whole(
        &mut self,
        program: &WalkProgram,
        op: &Op,
        head: WalkFieldHead,
        bytes: &[u8],
    ) -> ProtobufResult {
        if op.checks_utf8 && !bytes.is_ascii() {
            check_utf8(bytes, head.after)?;
        }
        for rule in &op.rules {
            if let Some(rule) = program.rules.get(usize::from(*rule))
                && !rule.test.holds_for_bytes(bytes)
            {
                return Err(ProtobufError::new(head.after, ProtobufErrorKind::Rule(rule.number)));
            }
        }
        self.put(op, Cell::bytes(head.after, bytes.len()), head.after)?;
        if let Some(to) = op.edit {
            return self.edit(program, head, to);
        }
        if !op.entries.is_empty() {
            self.take_entry(program, op, head, bytes)?;
        }
        match op.child {
            Some(child) => self.take_nested(program, op, child, head, bytes),
            None => Ok(()),
        }
    }

    /// Handles a complete message.
    fn take_nested(
        &mut self,
        program: &WalkProgram,
        op: &Op,
        child: u32,
        head: WalkFieldHead,
        bytes: &[u8],
    ) -> ProtobufResult {
        self.enter(op, child, head)?;
        let base = std::mem::replace(&mut self.base, head.after);
        let floor = std::mem::replace(&mut self.floor, self.stack.len());
        let used = self.run(program, bytes)?;
        if used < bytes.len() {
            return Err(ProtobufError::new(self.base, ProtobufErrorKind::PastEnd));
        }
        self.base = base;
        self.floor = floor;
        Ok(())
    }

    /// Begins a packed list, whose values are handled as they arrive.
    fn enter_packed(
        &mut self,
        program: &WalkProgram,
        (index, op): (usize, &Op),
        head: WalkFieldHead,
    ) -> ProtobufResult {
        if let Some(to) = op.edit {
            self.edit(program, head, to)?;
        }
        if !op.checks_list && op.rules.is_empty() {
            return self.skip(head);
        }
        let mut frame = WalkFrame::new(self.top.node, head.after, head.end());
        frame.packed = Some(index);
        // It does not count as a nesting level, because it cannot contain one.
        self.stack.push(self.top);
        self.top = frame;
        Ok(())
    }

    /// Handles a value of a packed list; returns 0 if the window ends within it.
    pub(super) fn take_packed(
        &mut self,
        program: &WalkProgram,
        op: &Op,
        rest: &[u8],
        offset: u64,
    ) -> ProtobufResult<usize> {
        let read = read_value(op.wire_type, rest).map_err(|kind| ProtobufError::new(offset, kind))?;
        let WireRead::Done(raw, bytes) = read else { return self.more(rest, offset) };
        if offset + bytes as u64 > self.top.end {
            return Err(self.past_end(offset));
        }
        self.take_number(program, op, raw, offset)?;
        Ok(bytes)
    }

    /// Handles a map entry, where some values are requested by key.
    fn take_entry(
        &mut self,
        program: &WalkProgram,
        op: &Op,
        head: WalkFieldHead,
        bytes: &[u8],
    ) -> ProtobufResult {
        let mut items = Items::at(bytes, head.after, self.limits.depth_max);
        let mut key = None;
        let mut value = None;
        loop {
            let (start, before) = (items.offset(), items.rest());
            let Some((number, item)) = items.next()? else { break };
            match number {
                1 => key = Some(item),
                2 => value = Some((item, start, before)),
                _ => {}
            }
        }
        let Some((_, wanted)) = op.entries.iter().find(|(wanted, _)| wanted.is(key)) else { return Ok(()) };
        // The last entry with a key replaces earlier ones.
        self.store.forget(&wanted.below);
        if wanted.edit == Some(To::Nothing) {
            return self.change(program, head.start, head.end(), To::Nothing);
        }
        self.push(WalkFrame { is_skipped: true, ..WalkFrame::prefixed(self.top.node, head) })?;
        let taken = match value {
            Some((item, start, before)) => self.take_entry_value(program, wanted, item, start, before),
            None => self.take_default(program, wanted, head),
        };
        taken?;
        self.leave(program, head.end())
    }

    fn take_entry_value(
        &mut self,
        program: &WalkProgram,
        op: &Op,
        item: WireValue<'_>,
        start: u64,
        before: &[u8],
    ) -> ProtobufResult {
        let varint_bytes = |bytes: &[u8]| match read_varint(bytes) {
            Ok(WireRead::Done(_, bytes)) => bytes,
            _ => 1,
        };
        let tag_bytes = varint_bytes(before);
        let behind = before.get(tag_bytes..).unwrap_or_default();
        let (value, bytes, used) = match item {
            WireValue::Varint(value) => (value, &[][..], varint_bytes(behind)),
            WireValue::Fixed64(value) => (value, &[][..], 8),
            WireValue::Fixed32(value) => (u64::from(value), &[][..], 4),
            WireValue::Bytes(bytes) => (bytes.len() as u64, bytes, varint_bytes(behind)),
            // Map values are never groups.
            WireValue::Group(_) => return Ok(()),
        };
        let after_tag = start + tag_bytes as u64;
        let after = after_tag + used as u64;
        let head = WalkFieldHead { number: 2, wire_type: item.wire_type(), value, start, after_tag, after };
        if !op.accepts(head.wire_type) {
            return Ok(());
        }
        if head.wire_type == LENGTH {
            return self.take_whole(program, op, head, bytes);
        }
        self.take_unsized(program, op, head)
    }

    /// Handles the absent value of a present entry: the default.
    fn take_default(&mut self, program: &WalkProgram, op: &Op, head: WalkFieldHead) -> ProtobufResult {
        if op.kind.is_packable() {
            return self.take_number(program, op, 0, head.end());
        }
        self.put(op, Cell::number(0, head.end()), head.end())
    }

    /// Edits a field.
    fn edit(&mut self, program: &WalkProgram, head: WalkFieldHead, to: To) -> ProtobufResult {
        match to {
            To::Nothing => self.change(program, head.start, head.end(), to),
            To::Text(_) => self.change(program, head.after_tag, head.end(), to),
            _ if head.wire_type == LENGTH => self.change(program, head.after, head.end(), to),
            _ => self.change(program, head.after_tag, head.after, to),
        }
    }
}

impl WalkFrame {
    /// Returns the frame of a message with a length prefix.
    fn prefixed(node: u32, head: WalkFieldHead) -> Self {
        let length_bytes = u8::try_from(head.after - head.after_tag).expect("a varint has at most ten bytes");
        Self { length_at: head.after_tag, length_bytes, ..Self::new(node, head.after, head.end()) }
    }
}

impl Op {
    /// Whether a value of this wire type can belong to this field.
    #[inline]
    fn accepts(&self, wire_type: u8) -> bool {
        wire_type == self.wire_type
            || wire_type == LENGTH && self.label == Label::Repeated && self.kind.is_packable()
    }
}

impl MapKey {
    /// Whether a key on the wire equals this one; an absent key has the default.
    fn is(&self, item: Option<WireValue<'_>>) -> bool {
        match (self, item) {
            (Self::Text(text), Some(WireValue::Bytes(bytes))) => **text == *bytes,
            (Self::Text(text), None) => text.is_empty(),
            (Self::Number(number, kind), Some(WireValue::Varint(raw) | WireValue::Fixed64(raw))) => {
                *number == integer(*kind, if *kind == FieldType::Bool { u64::from(raw != 0) } else { raw })
            }
            (Self::Number(number, kind), Some(WireValue::Fixed32(raw))) => {
                *number == integer(*kind, u64::from(raw))
            }
            (Self::Number(number, _), None) => *number == 0,
            _ => false,
        }
    }
}

#[cold]
pub(super) fn check_utf8(bytes: &[u8], offset: u64) -> ProtobufResult {
    std::str::from_utf8(bytes)
        .map(|_| ())
        .map_err(|error| ProtobufError::new(offset + error.valid_up_to() as u64, ProtobufErrorKind::Utf8))
}

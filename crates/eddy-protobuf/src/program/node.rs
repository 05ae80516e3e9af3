//! A compiled program: for each message a table from tags to operations.

use super::edit::To;
use super::rule::CompiledRuleTest;
use crate::schema::{FieldType, Label, MessageId, NumberTable};
use crate::wire::{FIXED32, FIXED64, LENGTH, VARINT};

/// Compiled operations of a walk on a message: immutable, shared between walks.
#[derive(Debug)]
pub struct WalkProgram {
    pub(super) message: MessageId,
    /// The first node is that of the outermost message.
    pub(super) nodes: Box<[ProgramNode]>,
    /// Types of the slots.
    pub(super) slots: Box<[SlotKind]>,
    pub(super) rules: Box<[ProgramRule]>,
    pub(super) texts: Box<[Box<[u8]>]>,
    pub(super) has_edits: bool,
    /// Whether all edits keep lengths, and can be made while the message passes.
    pub(super) is_streamable: bool,
}

impl WalkProgram {
    /// Returns the message type that it is for.
    pub fn message(&self) -> MessageId {
        self.message
    }

    /// Whether it changes messages.
    pub fn has_edits(&self) -> bool {
        self.has_edits
    }

    /// Whether its edits keep all lengths, so that [`super::MessageWalk::push_masked`] can make them.
    pub fn is_streamable(&self) -> bool {
        self.is_streamable
    }

    /// Returns the type of a slot.
    ///
    /// # Panics
    /// If `slot` is of another program that has more slots.
    pub fn kind(&self, slot: ValueSlot) -> FieldType {
        self.slot(slot).kind
    }

    /// Whether a slot can have several values: its field or one of its parents is repeated.
    ///
    /// # Panics
    /// If `slot` is of another program that has more slots.
    pub fn is_repeated(&self, slot: ValueSlot) -> bool {
        self.slot(slot).is_repeated
    }

    fn slot(&self, slot: ValueSlot) -> SlotKind {
        *self.slots.get(usize::from(slot.0)).expect("a slot of this program")
    }
}

/// Slot for the extracted values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueSlot(pub(super) u16);

/// Type of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotKind {
    pub(super) kind: FieldType,
    pub(super) is_repeated: bool,
}

/// A rule with its number.
#[derive(Debug)]
pub(super) struct ProgramRule {
    pub(super) number: u16,
    pub(super) test: CompiledRuleTest,
}

/// Operations on the fields of a message.
#[derive(Debug)]
pub(super) struct ProgramNode {
    /// For each one-byte tag, the operation plus one; 0 if the field is skipped.
    pub(super) table: Box<[u8; TAGS]>,
    /// For each one-byte tag, the fast path operation.
    pub(super) quick: Box<[FastOp; TAGS]>,
    /// Operations of all fields by number, for those with longer tags.
    pub(super) by_number: NumberTable,
    pub(super) ops: Box<[Op]>,
    /// Required fields: a bit and the rule's number.
    pub(super) required: Box<[(u8, u16)]>,
}

/// Operation of the fast path on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FastOp {
    /// Not handled by the fast path.
    More,
    /// The value is skipped.
    Pass,
    /// The value is stored in a slot.
    Put { slot: ValueSlot, holds: ValueSelection, checks_utf8: bool },
}

/// Which values of its field a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueSelection {
    /// The last one.
    Last,
    /// The last one in each element of its repeated parent.
    LastPerElement,
    /// All.
    All,
}

/// Operation on a field.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) kind: FieldType,
    pub(super) label: Label,
    pub(super) wire_type: u8,
    pub(super) checks_utf8: bool,
    /// Whether the values of a packed list are checked even if no value is requested.
    pub(super) checks_list: bool,
    /// Whether the default counts as absent.
    pub(super) is_implicit: bool,
    pub(super) slot: Option<ValueSlot>,
    pub(super) holds: ValueSelection,
    /// Slots that are cleared, because another member of the oneof is set.
    pub(super) forget: Box<[ValueSlot]>,
    /// Slots below: a repeated field begins a new element in them, a map entry replaces them.
    pub(super) below: Box<[ValueSlot]>,
    /// Index of the node for the fields of the message in this field.
    pub(super) child: Option<u32>,
    pub(super) rules: Box<[u16]>,
    pub(super) edit: Option<To>,
    /// Bit of a required field.
    pub(super) required: Option<u8>,
    /// Fast path operation on a value of the field's own wire type.
    pub(super) quick: FastOp,
    /// Operations on map entries by key, in the wire form of the key.
    pub(super) entries: Box<[(MapKey, Self)]>,
}

/// Key of a map entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MapKey {
    Text(Box<[u8]>),
    /// An integer or `bool` of this type.
    Number(i128, FieldType),
}

impl Op {
    /// Returns the fast path operation, if a value is only stored in a slot.
    pub(super) fn quick(&self) -> FastOp {
        let is_more = self.kind.message().is_some()
            || self.edit.is_some()
            || self.required.is_some()
            || !self.forget.is_empty()
            || !self.rules.is_empty();
        match self.slot {
            Some(slot) if !is_more => FastOp::Put { slot, holds: self.holds, checks_utf8: self.checks_utf8 },
            _ => FastOp::More,
        }
    }

    /// Whether strings or bytes must be complete.
    pub(super) fn needs_whole(&self) -> bool {
        self.slot.is_some() || !self.rules.is_empty() || !self.entries.is_empty()
    }
}

impl ProgramNode {
    /// Returns the operation of a field with a tag, and its index.
    #[inline]
    pub(super) fn op(&self, tag: u64, number: u32) -> Option<(usize, &Op)> {
        let place = usize::try_from(tag).ok().and_then(|tag| self.table.get(tag));
        let index = match place {
            Some(0) => return None,
            Some(place) if *place != LONG => usize::from(*place) - 1,
            _ => usize::from(self.by_number.find(number)?),
        };
        self.ops.get(index).map(|op| (index, op))
    }

    /// Returns the fast path operation for a two-byte tag.
    #[inline]
    pub(super) fn fast_op(&self, tag: u16) -> FastOp {
        if let Some(quick) = self.quick.get(usize::from(tag)) {
            return *quick;
        }
        match self.by_number.find(u32::from(tag >> 3)) {
            None => fast_skip(tag),
            Some(index) => match self.ops.get(usize::from(index)) {
                Some(op) if u16::from(op.wire_type) == tag & 7 => op.quick,
                _ => FastOp::More,
            },
        }
    }
}

/// Returns the fast path operation for a tag without operation: groups have no length by which they could be skipped.
pub(super) fn fast_skip(tag: u16) -> FastOp {
    const PASSED: [u8; 4] = [VARINT, FIXED64, LENGTH, FIXED32];
    let is_passed = tag >> 3 != 0 && PASSED.iter().any(|wire_type| u16::from(*wire_type) == tag & 7);
    if is_passed { FastOp::Pass } else { FastOp::More }
}

/// Number of one-byte tags.
pub(super) const TAGS: usize = 128;

/// A tag that must be looked up by number.
pub(super) const LONG: u8 = u8::MAX;

//! A program as the walk runs it: for each message a table from tags to what is done.

use super::edit::To;
use super::rule::CompiledRuleTest;
use crate::schema::{FieldType, Label, MessageId, NumberTable};
use crate::wire::{FIXED32, FIXED64, LENGTH, VARINT};

/// What a walk does with a message: immutable, shared between walks.
#[derive(Debug)]
pub struct WalkProgram {
    pub(super) message: MessageId,
    /// The first is that of the outermost message.
    pub(super) nodes: Box<[ProgramNode]>,
    /// What is in the slots.
    pub(super) slots: Box<[SlotKind]>,
    pub(super) rules: Box<[ProgramRule]>,
    pub(super) texts: Box<[Box<[u8]>]>,
    pub(super) has_edits: bool,
    /// Whether all edits keep lengths, and can be made while the message passes.
    pub(super) is_streamable: bool,
}

impl WalkProgram {
    /// The message that it is for.
    pub fn message(&self) -> MessageId {
        self.message
    }

    /// Whether it changes messages.
    pub fn has_edits(&self) -> bool {
        self.has_edits
    }

    /// Whether its edits keep all lengths, so that [`super::Walk::push_masked`] can make them.
    pub fn is_streamable(&self) -> bool {
        self.is_streamable
    }

    /// The type of what is in a slot.
    ///
    /// # Panics
    /// If `slot` is of another program that has more.
    pub fn kind(&self, slot: ValueSlot) -> FieldType {
        self.slot(slot).kind
    }

    /// Whether a slot can have several values: its field is repeated, or below one that is.
    ///
    /// # Panics
    /// If `slot` is of another program that has more.
    pub fn is_repeated(&self, slot: ValueSlot) -> bool {
        self.slot(slot).is_repeated
    }

    fn slot(&self, slot: ValueSlot) -> SlotKind {
        *self.slots.get(usize::from(slot.0)).expect("a slot of this program")
    }
}

/// Where a walk puts the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueSlot(pub(super) u16);

/// What is in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotKind {
    pub(super) kind: FieldType,
    pub(super) is_repeated: bool,
}

/// A rule, and its number among all.
#[derive(Debug)]
pub(super) struct ProgramRule {
    pub(super) number: u16,
    pub(super) test: CompiledRuleTest,
}

/// What is done with the fields of a message.
#[derive(Debug)]
pub(super) struct ProgramNode {
    /// For each tag of one byte the operation plus one; 0 if the field is passed over.
    pub(super) table: Box<[u8; TAGS]>,
    /// For each tag of one byte what is done on the short way.
    pub(super) quick: Box<[Quick; TAGS]>,
    /// Operations of all fields by number, for those that have longer tags.
    pub(super) by_number: NumberTable,
    pub(super) ops: Box<[Op]>,
    /// Fields that must be there: a bit and the rule's number.
    pub(super) required: Box<[(u8, u16)]>,
}

/// What is done with a value on the short way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quick {
    /// More than that way can do.
    More,
    /// It is passed over.
    Pass,
    /// It is put into a slot.
    Put { slot: ValueSlot, holds: Holds, checks_utf8: bool },
}

/// Which values of its field a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// The last.
    Last,
    /// The last of each element of what is repeated around it.
    LastOfEach,
    /// All.
    All,
}

/// What is done with a field.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) kind: FieldType,
    pub(super) label: Label,
    pub(super) wire_type: u8,
    pub(super) checks_utf8: bool,
    /// Whether the values of a packed list are looked at, whatever is asked of them.
    pub(super) checks_list: bool,
    /// Whether the default is as if it were absent.
    pub(super) is_implicit: bool,
    pub(super) slot: Option<ValueSlot>,
    pub(super) holds: Holds,
    /// Slots that forget their values, because another member of the oneof is set.
    pub(super) forget: Box<[ValueSlot]>,
    /// Slots below: of a repeated field they begin an element, of the entry of a map they are replaced with it.
    pub(super) below: Box<[ValueSlot]>,
    /// What is done with the fields of the message that it is.
    pub(super) child: Option<u32>,
    pub(super) rules: Box<[u16]>,
    pub(super) edit: Option<To>,
    /// The bit of a field that must be there.
    pub(super) required: Option<u8>,
    /// What is done with a value of the field's own wire type on the short way.
    pub(super) quick: Quick,
    /// What is done with entries of a map by their key, in the form the key has on the wire.
    pub(super) entries: Box<[(MapKey, Self)]>,
}

/// The key of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MapKey {
    Text(Box<[u8]>),
    /// An integer or `bool` of this type.
    Number(i128, FieldType),
}

impl Op {
    /// The short way, if a value is only put into a slot.
    pub(super) fn quick(&self) -> Quick {
        let is_more = self.kind.message().is_some()
            || self.edit.is_some()
            || self.required.is_some()
            || !self.forget.is_empty()
            || !self.rules.is_empty();
        match self.slot {
            Some(slot) if !is_more => Quick::Put { slot, holds: self.holds, checks_utf8: self.checks_utf8 },
            _ => Quick::More,
        }
    }

    /// Whether a string or bytes have to be known whole.
    pub(super) fn needs_whole(&self) -> bool {
        self.slot.is_some() || !self.rules.is_empty() || !self.entries.is_empty()
    }
}

impl ProgramNode {
    /// The operation of a field with a tag, and its index.
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

    /// What is done on the short way with a tag of two bytes.
    #[inline]
    pub(super) fn quick_of(&self, tag: u16) -> Quick {
        if let Some(quick) = self.quick.get(usize::from(tag)) {
            return *quick;
        }
        match self.by_number.find(u32::from(tag >> 3)) {
            None => quick_pass(tag),
            Some(index) => match self.ops.get(usize::from(index)) {
                Some(op) if u16::from(op.wire_type) == tag & 7 => op.quick,
                _ => Quick::More,
            },
        }
    }
}

/// The short way of a tag that nothing is asked of: groups have no length to pass over.
pub(super) fn quick_pass(tag: u16) -> Quick {
    const PASSED: [u8; 4] = [VARINT, FIXED64, LENGTH, FIXED32];
    let is_passed = tag >> 3 != 0 && PASSED.iter().any(|wire_type| u16::from(*wire_type) == tag & 7);
    if is_passed { Quick::Pass } else { Quick::More }
}

/// How many tags have one byte.
pub(super) const TAGS: usize = 128;

/// A tag that has to be looked up by number.
pub(super) const LONG: u8 = u8::MAX;

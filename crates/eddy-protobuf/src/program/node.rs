//! A program as the walk runs it: for each message a table from tags to what is done.

use super::edit::To;
use super::rule::Test;
use crate::schema::{Kind, Label, MessageId};

/// What a walk does with a message: immutable, shared between walks.
#[derive(Debug)]
pub struct Program {
    pub(super) message: MessageId,
    /// The first is that of the outermost message.
    pub(super) nodes: Box<[Node]>,
    /// What is in the slots.
    pub(super) slots: Box<[SlotKind]>,
    pub(super) rules: Box<[Rule]>,
    pub(super) texts: Box<[Box<[u8]>]>,
    pub(super) has_edits: bool,
    /// Whether all edits keep lengths, and can be made while the message passes.
    pub(super) is_streamable: bool,
}

impl Program {
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
    pub fn kind(&self, slot: Slot) -> Kind {
        self.slot(slot).kind
    }

    /// Whether a slot can have several values: its field is repeated, or below one that is.
    ///
    /// # Panics
    /// If `slot` is of another program that has more.
    pub fn is_repeated(&self, slot: Slot) -> bool {
        self.slot(slot).is_repeated
    }

    fn slot(&self, slot: Slot) -> SlotKind {
        *self.slots.get(usize::from(slot.0)).expect("a slot of this program")
    }
}

/// Where a walk puts the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub(super) u16);

/// What is in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotKind {
    pub(super) kind: Kind,
    pub(super) is_repeated: bool,
}

/// A rule, and its number among all.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) number: u16,
    pub(super) test: Test,
}

/// What is done with the fields of a message.
#[derive(Debug)]
pub(super) struct Node {
    /// For each tag of one byte the operation plus one; 0 if the field is passed over.
    pub(super) table: Box<[u8; 128]>,
    /// Operations of all fields by number, for those that have longer tags.
    pub(super) by_number: Box<[(u32, u16)]>,
    pub(super) ops: Box<[Op]>,
    /// Fields that must be there: a bit and the rule's number.
    pub(super) required: Box<[(u8, u16)]>,
}

/// What is done with a field.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) label: Label,
    pub(super) wire_type: u8,
    pub(super) checks_utf8: bool,
    /// Whether the values of a packed list are looked at, whatever is asked of them.
    pub(super) checks_list: bool,
    /// Whether the default is as if it were absent.
    pub(super) is_implicit: bool,
    pub(super) slot: Option<Slot>,
    /// Whether a value comes after the others, not in place of the last.
    pub(super) is_appended: bool,
    /// Slots that forget their values, because another member of the oneof is set.
    pub(super) forget: Box<[Slot]>,
    /// Slots below: of a repeated field they begin an element, of the entry of a map they are replaced with it.
    pub(super) below: Box<[Slot]>,
    /// What is done with the fields of the message that it is.
    pub(super) child: Option<u32>,
    pub(super) rules: Box<[u16]>,
    pub(super) edit: Option<To>,
    /// The bit of a field that must be there.
    pub(super) required: Option<u8>,
    /// Whether a value is put into a slot and nothing else is done.
    pub(super) is_simple: bool,
    /// What is done with entries of a map by their key, in the form the key has on the wire.
    pub(super) entries: Box<[(Key, Self)]>,
}

/// The key of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Text(Box<[u8]>),
    /// An integer or `bool` of this type.
    Number(i128, Kind),
}

impl Op {
    /// Whether a value is only put into a slot.
    pub(super) fn only_extracts(&self) -> bool {
        self.slot.is_some()
            && self.kind.message().is_none()
            && self.edit.is_none()
            && self.required.is_none()
            && self.forget.is_empty()
            && self.rules.is_empty()
    }

    /// Whether a string or bytes have to be known whole.
    pub(super) fn needs_whole(&self) -> bool {
        self.slot.is_some() || !self.rules.is_empty() || !self.entries.is_empty()
    }
}

impl Node {
    /// The operation of a field with a tag, and its index.
    #[inline]
    pub(super) fn op(&self, tag: u64, number: u32) -> Option<(usize, &Op)> {
        let place = usize::try_from(tag).ok().and_then(|tag| self.table.get(tag));
        let index = match place {
            Some(0) => return None,
            Some(place) if *place != LONG => usize::from(*place) - 1,
            _ => {
                let at = self.by_number.binary_search_by_key(&number, |(number, _)| *number).ok()?;
                usize::from(self.by_number.get(at)?.1)
            }
        };
        self.ops.get(index).map(|op| (index, op))
    }
}

/// A tag that has to be looked up by number.
pub(super) const LONG: u8 = u8::MAX;

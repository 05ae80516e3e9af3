//! Compiles paths to the tables that a walk uses.

use std::collections::HashMap;

use super::edit::To;
use super::error::ProgramError;
use super::node::{FastOp, LONG, Op, ProgramNode, SlotKind, TAGS, ValueSelection, ValueSlot, fast_skip};
use super::tree::{Branch, FieldPathTree, Leaf};
use crate::schema::{FieldDescriptor, FieldType, Label, MessageId, NumberTable, Schema};
use crate::wire::{LENGTH, tag_of};

/// Nodes under construction.
pub(super) struct Compiling<'s, 'b> {
    schema: &'s Schema,
    slots: &'b [SlotKind],
    everywhere: &'b HashMap<(MessageId, u16), To>,
    checks_all: bool,
    /// Messages that contain, at any depth, a message to which an edit for all messages of its type applies.
    is_wanted: Vec<bool>,
    nodes: Vec<Option<ProgramNode>>,
    /// Nodes of messages that no path goes through.
    plain: HashMap<MessageId, u32>,
    edits: Vec<To>,
}

/// Whether edits for all messages apply in a part of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CompileScope {
    AllRules,
    PathRulesOnly,
}

impl<'s, 'b> Compiling<'s, 'b> {
    pub(super) fn new(
        schema: &'s Schema,
        slots: &'b [SlotKind],
        everywhere: &'b HashMap<(MessageId, u16), To>,
        checks_all: bool,
    ) -> Self {
        let mut is_wanted: Vec<bool> = vec![checks_all; schema.messages.len()];
        for (message, _) in everywhere.keys() {
            if let Some(is_wanted) = is_wanted.get_mut(message.0 as usize) {
                *is_wanted = true;
            }
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for (place, message) in schema.messages.iter().enumerate() {
                let mut below = message.fields.iter().filter_map(|field| field.kind.message());
                let is_below = below.any(|id| is_wanted.get(id.0 as usize) == Some(&true));
                if let Some(is_wanted) = is_wanted.get_mut(place)
                    && is_below
                    && !*is_wanted
                {
                    *is_wanted = true;
                    has_changed = true;
                }
            }
        }
        Self {
            schema,
            slots,
            everywhere,
            checks_all,
            is_wanted,
            nodes: Vec::new(),
            plain: HashMap::new(),
            edits: Vec::new(),
        }
    }

    /// Returns the nodes, and all edits.
    pub(super) fn compile(
        mut self,
        message: MessageId,
        tree: &FieldPathTree,
    ) -> Result<(Box<[ProgramNode]>, Vec<To>), ProgramError> {
        self.node(message, tree, CompileScope::AllRules)?;
        let nodes = self.nodes.into_iter().flatten().collect();
        Ok((nodes, self.edits))
    }

    fn node(
        &mut self,
        message: MessageId,
        tree: &FieldPathTree,
        scope: CompileScope,
    ) -> Result<u32, ProgramError> {
        let is_plain = tree.branches.is_empty() && scope == CompileScope::AllRules;
        if let Some(node) = self.plain.get(&message).filter(|_| is_plain) {
            return Ok(*node);
        }
        let place = self.nodes.len();
        let number = u32::try_from(place).ok().filter(|_| place < NODES_MAX).ok_or_else(|| {
            let path = self.schema.message(message).name.to_string();
            ProgramError::TooMany { path, what: "messages", max: NODES_MAX }
        })?;
        if is_plain {
            // Inserted before its fields, which may have the same message type.
            self.plain.insert(message, number);
        }
        self.nodes.push(None);
        let node = self.make(message, tree, scope)?;
        if let Some(place) = self.nodes.get_mut(place) {
            *place = Some(node);
        }
        Ok(number)
    }

    fn make(
        &mut self,
        id: MessageId,
        tree: &FieldPathTree,
        scope: CompileScope,
    ) -> Result<ProgramNode, ProgramError> {
        let message = self.schema.message(id);
        let mut ops = Vec::new();
        let mut by_number = Vec::new();
        let mut required = Vec::new();
        let mut table = Box::new([0; TAGS]);
        let mut quick =
            Box::new(std::array::from_fn(|tag| u16::try_from(tag).map_or(FastOp::More, fast_skip)));
        // Tags of field 0 are looked up, and rejected.
        table.iter_mut().take(8).for_each(|place| *place = LONG);
        let none = Branch::default();
        for (index, field) in (0..).zip(&message.fields) {
            let branch = tree.branch(index).unwrap_or(&none);
            let everywhere = self.everywhere.get(&(id, index)).filter(|_| scope == CompileScope::AllRules);
            let mut op = self.op(id, field, branch, everywhere.copied(), scope)?;
            op.forget = self.forgotten(id, index, field, tree);
            if let Some(rule) = branch.leaf.required {
                op.required = u8::try_from(required.len()).ok().filter(|bit| *bit < 64);
                let bit = op.required.ok_or_else(|| ProgramError::TooMany {
                    path: message.name.to_string(),
                    what: "required fields of one message",
                    max: 64,
                })?;
                required.push((bit, rule));
            }
            op.quick = op.quick();
            if !op.has_effect() {
                continue;
            }
            let place = ops.len();
            mark(&mut table, &mut quick, field, &op, place);
            by_number.push((field.number, u16::try_from(place).unwrap_or(u16::MAX)));
            ops.push(op);
        }
        let by_number = NumberTable::build(by_number.into_iter());
        Ok(ProgramNode { table, quick, by_number, ops: ops.into(), required: required.into() })
    }

    /// Returns the operation of a field, except for what depends on its neighbours.
    fn op(
        &mut self,
        id: MessageId,
        field: &FieldDescriptor,
        branch: &Branch,
        everywhere: Option<To>,
        scope: CompileScope,
    ) -> Result<Op, ProgramError> {
        let is_wanted = |compiling: &Self| {
            let below = field.kind.message().and_then(|id| compiling.is_wanted.get(id.0 as usize));
            scope == CompileScope::AllRules && below == Some(&true)
        };
        let mut entries = Vec::new();
        for (key, entry) in &branch.entries {
            // Edits for all messages apply to this entry as to the others.
            let value = field.kind.message().and_then(|id| self.schema.message(id).by_number(2));
            let Some((_, value)) = value else { continue };
            if is_wanted(self) && entry.has_edits() {
                return Err(ProgramError::Field {
                    path: self.schema.message(id).name.to_string(),
                    message: self.schema.message(id).name.to_string(),
                    field: field.name.to_string(),
                    problem: "has edits by key, which can't be combined with edits or checks of all messages \
                              below it",
                });
            }
            let mut op = self.op(id, value, entry, None, CompileScope::PathRulesOnly)?;
            let mut below = Vec::new();
            entry.slots(&mut below);
            op.below = below.into();
            entries.push((key.clone(), op));
        }
        let child = match field.kind.message() {
            Some(id) if !branch.tree.branches.is_empty() || is_wanted(self) => {
                Some(self.node(id, &branch.tree, scope)?)
            }
            _ => None,
        };
        let Leaf { slot, rules, edit, .. } = &branch.leaf;
        let edit = edit.or(everywhere);
        self.edits.extend(edit);
        let mut below = Vec::new();
        branch.slots_below(&mut below);
        let is_looked_at =
            slot.is_some() || !rules.is_empty() || self.checks_all && scope == CompileScope::AllRules;
        Ok(Op {
            kind: field.kind,
            label: field.label,
            wire_type: field.kind.wire_type(),
            checks_utf8: field.kind == FieldType::String && field.checks_utf8 && is_looked_at,
            checks_list: field.label == Label::Repeated && field.kind.is_packable() && is_looked_at,
            is_implicit: field.label == Label::Singular && !field.has_presence,
            slot: *slot,
            holds: self.holds(field, *slot),
            forget: Box::default(),
            below: below.into(),
            child,
            rules: rules.as_slice().into(),
            edit,
            required: None,
            quick: FastOp::More,
            entries: entries.into(),
        })
    }

    fn holds(&self, field: &FieldDescriptor, slot: Option<ValueSlot>) -> ValueSelection {
        let is_repeated =
            slot.and_then(|slot| self.slots.get(usize::from(slot.0))).is_some_and(|slot| slot.is_repeated);
        match field.label {
            Label::Repeated | Label::Map => ValueSelection::All,
            Label::Singular if is_repeated => ValueSelection::LastPerElement,
            Label::Singular => ValueSelection::Last,
        }
    }

    /// Returns the slots that are cleared when a field is set: those of other members of its oneof.
    fn forgotten(
        &self,
        id: MessageId,
        index: u16,
        field: &FieldDescriptor,
        tree: &FieldPathTree,
    ) -> Box<[ValueSlot]> {
        let mut slots = Vec::new();
        let Some(oneof) = field.oneof else { return Box::default() };
        for (other, branch) in &tree.branches {
            let is_member =
                self.schema.message(id).field(*other).is_some_and(|field| field.oneof == Some(oneof));
            if is_member && *other != index {
                branch.slots(&mut slots);
            }
        }
        slots.into()
    }
}

impl Op {
    fn has_effect(&self) -> bool {
        self.slot.is_some()
            || self.child.is_some()
            || self.edit.is_some()
            || self.required.is_some()
            || self.checks_utf8
            || self.checks_list
            || !(self.forget.is_empty() && self.rules.is_empty() && self.entries.is_empty())
    }
}

/// Enters the one-byte tags of a field.
fn mark(table: &mut [u8; TAGS], quick: &mut [FastOp; TAGS], field: &FieldDescriptor, op: &Op, place: usize) {
    let number = u8::try_from(place + 1).unwrap_or(LONG);
    let packed = (field.label == Label::Repeated && field.kind.is_packable()).then_some(LENGTH);
    for wire_type in [Some(field.kind.wire_type()), packed].into_iter().flatten() {
        let tag = tag_of(field.number, wire_type) as usize;
        if let (Some(place), Some(way)) = (table.get_mut(tag), quick.get_mut(tag)) {
            *place = number;
            *way = if wire_type == op.wire_type { op.quick } else { FastOp::More };
        }
    }
}

/// Maximum nodes of a program: messages, one for each path that leads to them.
const NODES_MAX: usize = 100_000;

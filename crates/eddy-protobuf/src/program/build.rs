//! Builder of programs, one path after the other.

use std::collections::HashMap;

use super::compile::Compiling;
use super::edit::{Mask, MessageEdit, To};
use super::error::ProgramError;
use super::node::{ProgramRule, SlotKind, ValueSlot, WalkProgram};
use super::rule::{CompiledRuleTest, RuleTest, compile};
use super::tree::{FieldPathEnd, FieldPathTree, field_problem};
use crate::schema::{FieldDescriptor, FieldType, Label, MessageDescriptor, MessageId, Schema};

/// Builds a program.
#[derive(Debug)]
pub struct ProgramBuilder<'s> {
    schema: &'s Schema,
    message: MessageId,
    tree: FieldPathTree,
    slots: Vec<SlotKind>,
    rules: Vec<ProgramRule>,
    rule_count: u16,
    texts: Vec<Box<[u8]>>,
    everywhere: HashMap<(MessageId, u16), To>,
    checks_all: bool,
    has_keyed_edits: bool,
}

impl<'s> ProgramBuilder<'s> {
    /// Creates a builder for one message type.
    pub fn new(schema: &'s Schema, message: MessageId) -> Self {
        Self {
            schema,
            message,
            tree: FieldPathTree::default(),
            slots: Vec::new(),
            rules: Vec::new(),
            rule_count: 0,
            texts: Vec::new(),
            everywhere: HashMap::new(),
            checks_all: false,
            has_keyed_edits: false,
        }
    }

    /// Extracts a field. All values are extracted if the field or one of its parents is repeated.
    ///
    /// # Errors
    /// [`ProgramError`] if there is no such field.
    pub fn extract(&mut self, path: &str) -> Result<ValueSlot, ProgramError> {
        let slot = ValueSlot(self.number(path, self.slots.len(), "extracted fields")?);
        let FieldPathEnd { leaf, field, message, is_repeated, .. } =
            self.tree.locate(self.schema, self.message, path)?;
        if matches!(field.kind, FieldType::Group(_)) {
            let problem = "is a group: extract its fields instead";
            return Err(field_problem(self.schema, path, message, &field.name, problem));
        }
        if let Some(slot) = leaf.slot {
            return Ok(slot);
        }
        leaf.slot = Some(slot);
        self.slots.push(SlotKind { kind: field.kind, is_repeated });
        Ok(slot)
    }

    /// Checks a field, wherever it is; returns the number of the rule in [`crate::ProtobufErrorKind::Rule`].
    ///
    /// # Errors
    /// [`ProgramError`] if there is no such field, or the rule does not apply to it.
    pub fn rule(&mut self, path: &str, test: &RuleTest) -> Result<u16, ProgramError> {
        let number = self.number(path, usize::from(self.rule_count), "rules")?;
        let place = self.number(path, self.rules.len(), "rules")?;
        let FieldPathEnd { leaf, field, message, is_map_value, .. } =
            self.tree.locate(self.schema, self.message, path)?;
        let problem = |problem| field_problem(self.schema, path, message, &field.name, problem);
        let is_text = matches!(field.kind, FieldType::String | FieldType::Bytes);
        let is_number = matches!(field.kind, FieldType::Double | FieldType::Float);
        let test = match test {
            RuleTest::Present if field.label != Label::Singular || is_map_value => {
                return Err(problem("is repeated or a map entry, which can't be required"));
            }
            RuleTest::Present => {
                leaf.required = Some(number);
                self.rule_count += 1;
                return Ok(number);
            }
            RuleTest::Integer { .. } if is_text || is_number || field.kind.message().is_some() => {
                return Err(problem("is not an integer"));
            }
            RuleTest::Number { .. } if !is_number => return Err(problem("is not a float or double")),
            RuleTest::Integer { min, max } => CompiledRuleTest::Integer { min: *min, max: *max },
            RuleTest::Number { min, max } => CompiledRuleTest::Number { min: *min, max: *max },
            _ if !is_text => return Err(problem("is not a string or bytes")),
            RuleTest::Utf8 => CompiledRuleTest::Utf8,
            RuleTest::Bytes { min, max } => CompiledRuleTest::Bytes { min: *min, max: *max },
            RuleTest::Characters { min, max } => CompiledRuleTest::Characters { min: *min, max: *max },
            RuleTest::Pattern(pattern) => compile(pattern).map_err(|problem| ProgramError::Pattern {
                path: path.to_owned(),
                pattern: pattern.clone(),
                problem,
            })?,
        };
        leaf.rules.push(place);
        self.rules.push(ProgramRule { number, test });
        self.rule_count += 1;
        Ok(number)
    }

    /// Drops or masks a field, wherever it is.
    ///
    /// # Errors
    /// [`ProgramError`] if there is no such field, or it can't be masked.
    pub fn edit(&mut self, path: &str, edit: &MessageEdit) -> Result<(), ProgramError> {
        let text = self.number(path, self.texts.len(), "texts")?;
        let FieldPathEnd { leaf, field, message, is_map_value, has_key, .. } =
            self.tree.locate(self.schema, self.message, path)?;
        let to = form_of(field, field.label == Label::Map && !is_map_value, edit, text)
            .map_err(|problem| field_problem(self.schema, path, message, &field.name, problem))?;
        leaf.edit = Some(to);
        self.has_keyed_edits |= has_key;
        if let (To::Text(_), MessageEdit::Mask(Mask::Text(text))) = (to, edit) {
            self.texts.push(text.as_bytes().into());
        }
        Ok(())
    }

    /// Drops or masks fields of all messages, at any depth, for which `edit` returns an edit: by option, name or
    /// type.
    ///
    /// # Errors
    /// [`ProgramError`] if a field can't be masked.
    pub fn edit_everywhere(
        &mut self,
        mut edit: impl FnMut(&MessageDescriptor, &FieldDescriptor) -> Option<MessageEdit>,
    ) -> Result<(), ProgramError> {
        for (id, message) in self.schema.messages() {
            for (index, field) in (0..).zip(&message.fields) {
                let Some(edit) = edit(message, field) else { continue };
                let path = format!("{}.{}", message.name, field.name);
                let text = self.number(&path, self.texts.len(), "texts")?;
                let to = form_of(field, field.label == Label::Map, &edit, text)
                    .map_err(|problem| field_problem(self.schema, &path, id, &field.name, problem))?;
                if let (To::Text(_), MessageEdit::Mask(Mask::Text(text))) = (to, &edit) {
                    self.texts.push(text.as_bytes().into());
                }
                self.everywhere.insert((id, index), to);
            }
        }
        Ok(())
    }

    /// Reads all messages at any depth, so that malformed ones and invalid UTF-8 in strings are rejected everywhere.
    /// Without this, messages that no path refers to are skipped.
    pub fn check_everywhere(&mut self) {
        self.checks_all = true;
    }

    /// Returns the program.
    ///
    /// # Errors
    /// [`ProgramError`] if it exceeds a limit.
    pub fn build(self) -> Result<WalkProgram, ProgramError> {
        let compiling = Compiling::new(self.schema, &self.slots, &self.everywhere, self.checks_all);
        let (nodes, edits) = compiling.compile(self.message, &self.tree)?;
        let keeps_lengths = edits.iter().all(|edit| edit.is_same_length());
        Ok(WalkProgram {
            message: self.message,
            nodes,
            slots: self.slots.into(),
            rules: self.rules.into(),
            texts: self.texts.into(),
            has_edits: !edits.is_empty(),
            is_streamable: keeps_lengths && !self.has_keyed_edits,
        })
    }

    fn number(&self, path: &str, count: usize, what: &'static str) -> Result<u16, ProgramError> {
        match u16::try_from(count) {
            Ok(number) if count < ITEMS_MAX => Ok(number),
            _ => Err(ProgramError::TooMany { path: path.to_owned(), what, max: ITEMS_MAX }),
        }
    }
}

/// Returns the replacement of a field's value.
fn form_of(field: &FieldDescriptor, is_map: bool, edit: &MessageEdit, text: u16) -> Result<To, &'static str> {
    match (edit, field.kind) {
        (MessageEdit::Drop, _) => Ok(To::Nothing),
        (MessageEdit::Mask(_), FieldType::Message(_) | FieldType::Group(_)) if is_map => {
            Err("is a map, which can't be masked: remove it, or mask its `value`")
        }
        (MessageEdit::Mask(_), FieldType::Message(_) | FieldType::Group(_)) => {
            Err("is a message, which can't be masked: remove it, or mask its fields")
        }
        (MessageEdit::Mask(Mask::Text(_)), FieldType::String | FieldType::Bytes) => Ok(To::Text(text)),
        (MessageEdit::Mask(Mask::Text(_)), _) => {
            Err("is not a string or bytes, so it can't be replaced with text")
        }
        (MessageEdit::Mask(Mask::SameLength), FieldType::String) => Ok(To::Stars),
        (MessageEdit::Mask(Mask::SameLength), kind) if kind.wire_type() == crate::wire::VARINT => {
            Ok(To::ZeroVarints)
        }
        (MessageEdit::Mask(Mask::SameLength), _) => Ok(To::Zeros),
    }
}

/// Maximum slots, rules and texts of a program.
const ITEMS_MAX: usize = 10_000;

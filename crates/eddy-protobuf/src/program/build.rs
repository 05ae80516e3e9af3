//! What a program is made of, one path after the other.

use std::collections::HashMap;

use super::compile::Compiling;
use super::edit::{Edit, Mask, To};
use super::error::ProgramError;
use super::node::{Program, Rule, Slot, SlotKind};
use super::rule::{RuleTest, Test, compile};
use super::tree::{End, Tree, field_problem};
use crate::schema::{Field, Kind, Label, Message, MessageId, Schema};

/// Puts a program together.
#[derive(Debug)]
pub struct ProgramBuilder<'s> {
    schema: &'s Schema,
    message: MessageId,
    tree: Tree,
    slots: Vec<SlotKind>,
    rules: Vec<Rule>,
    rule_count: u16,
    texts: Vec<Box<[u8]>>,
    everywhere: HashMap<(MessageId, u16), To>,
    checks_all: bool,
    has_keyed_edits: bool,
}

impl<'s> ProgramBuilder<'s> {
    /// For one message.
    pub fn new(schema: &'s Schema, message: MessageId) -> Self {
        Self {
            schema,
            message,
            tree: Tree::default(),
            slots: Vec::new(),
            rules: Vec::new(),
            rule_count: 0,
            texts: Vec::new(),
            everywhere: HashMap::new(),
            checks_all: false,
            has_keyed_edits: false,
        }
    }

    /// Extracts a field; of fields below a repeated one, and of one that is repeated itself, all values.
    ///
    /// # Errors
    /// [`ProgramError`] where there is no such field.
    pub fn extract(&mut self, path: &str) -> Result<Slot, ProgramError> {
        let slot = Slot(self.number(path, self.slots.len(), "fields that are extracted")?);
        let End { leaf, field, message, is_repeated, .. } =
            self.tree.locate(self.schema, self.message, path)?;
        if matches!(field.kind, Kind::Group(_)) {
            let problem = "is a group, of which only fields can be extracted";
            return Err(field_problem(self.schema, path, message, &field.name, problem));
        }
        if let Some(slot) = leaf.slot {
            return Ok(slot);
        }
        leaf.slot = Some(slot);
        self.slots.push(SlotKind { kind: field.kind, is_repeated });
        Ok(slot)
    }

    /// Checks a field, wherever it is; the answer is the number of the rule in [`crate::FaultKind::Rule`].
    ///
    /// # Errors
    /// [`ProgramError`] where there is no such field, or it has no such rule.
    pub fn rule(&mut self, path: &str, test: &RuleTest) -> Result<u16, ProgramError> {
        let number = self.number(path, usize::from(self.rule_count), "rules")?;
        let place = self.number(path, self.rules.len(), "rules")?;
        let End { leaf, field, message, is_of_key, .. } =
            self.tree.locate(self.schema, self.message, path)?;
        let problem = |problem| field_problem(self.schema, path, message, &field.name, problem);
        let is_text = matches!(field.kind, Kind::String | Kind::Bytes);
        let is_number = matches!(field.kind, Kind::Double | Kind::Float);
        let test = match test {
            RuleTest::Present if field.label != Label::Singular || is_of_key => {
                return Err(problem("is repeated or an entry, which can't be asked to be there"));
            }
            RuleTest::Present => {
                leaf.required = Some(number);
                self.rule_count += 1;
                return Ok(number);
            }
            RuleTest::Integer { .. } if is_text || is_number || field.kind.message().is_some() => {
                return Err(problem("is no integer"));
            }
            RuleTest::Number { .. } if !is_number => return Err(problem("is no float or double")),
            RuleTest::Integer { min, max } => Test::Integer { min: *min, max: *max },
            RuleTest::Number { min, max } => Test::Number { min: *min, max: *max },
            _ if !is_text => return Err(problem("is no string or bytes")),
            RuleTest::Utf8 => Test::Utf8,
            RuleTest::Bytes { min, max } => Test::Bytes { min: *min, max: *max },
            RuleTest::Characters { min, max } => Test::Characters { min: *min, max: *max },
            RuleTest::Pattern(pattern) => compile(pattern).map_err(|problem| ProgramError::Pattern {
                path: path.to_owned(),
                pattern: pattern.clone(),
                problem,
            })?,
        };
        leaf.rules.push(place);
        self.rules.push(Rule { number, test });
        self.rule_count += 1;
        Ok(number)
    }

    /// Drops or masks a field, wherever it is.
    ///
    /// # Errors
    /// [`ProgramError`] where there is no such field, or it can't be masked.
    pub fn edit(&mut self, path: &str, edit: &Edit) -> Result<(), ProgramError> {
        let text = self.number(path, self.texts.len(), "texts")?;
        let End { leaf, field, message, is_of_key, has_key, .. } =
            self.tree.locate(self.schema, self.message, path)?;
        let to = form_of(field, is_of_key, edit, text)
            .map_err(|problem| field_problem(self.schema, path, message, &field.name, problem))?;
        leaf.edit = Some(to);
        self.has_keyed_edits |= has_key;
        if let (To::Text(_), Edit::Mask(Mask::Text(text))) = (to, edit) {
            self.texts.push(text.as_bytes().into());
        }
        Ok(())
    }

    /// Drops or masks fields of all messages, at any depth, for which `edit` says so: by an option, by name, by type.
    ///
    /// # Errors
    /// [`ProgramError`] where a field can't be masked.
    pub fn edit_everywhere(
        &mut self,
        mut edit: impl FnMut(&Message, &Field) -> Option<Edit>,
    ) -> Result<(), ProgramError> {
        for (id, message) in self.schema.messages() {
            for (index, field) in (0..).zip(message.fields()) {
                let Some(edit) = edit(message, field) else { continue };
                let path = format!("{}.{}", message.name(), field.name());
                let text = self.number(&path, self.texts.len(), "texts")?;
                let to = form_of(field, false, &edit, text)
                    .map_err(|problem| field_problem(self.schema, &path, id, &field.name, problem))?;
                if let (To::Text(_), Edit::Mask(Mask::Text(text))) = (to, &edit) {
                    self.texts.push(text.as_bytes().into());
                }
                self.everywhere.insert((id, index), to);
            }
        }
        Ok(())
    }

    /// Reads all messages at any depth, so that malformed ones are refused wherever they are, and strings that should be UTF-8.
    /// Without it, messages that nothing is asked of are passed over.
    pub fn check_everywhere(&mut self) {
        self.checks_all = true;
    }

    /// The program.
    ///
    /// # Errors
    /// [`ProgramError`] if it has more than it can.
    pub fn build(self) -> Result<Program, ProgramError> {
        let compiling = Compiling::new(self.schema, &self.slots, &self.everywhere, self.checks_all);
        let (nodes, edits) = compiling.compile(self.message, &self.tree)?;
        let keeps_lengths = edits.iter().all(|edit| edit.is_same_length());
        Ok(Program {
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

/// What becomes of a field's value.
fn form_of(field: &Field, is_of_key: bool, edit: &Edit, text: u16) -> Result<To, &'static str> {
    let is_map = field.label == Label::Map && !is_of_key;
    match (edit, field.kind) {
        (Edit::Drop, _) => Ok(To::Nothing),
        (Edit::Mask(_), Kind::Message(_) | Kind::Group(_)) if is_map => {
            Err("is a map, which can't be masked: drop it, or mask its `value`")
        }
        (Edit::Mask(_), Kind::Message(_) | Kind::Group(_)) => {
            Err("is a message, which can't be masked: drop it, or mask its fields")
        }
        (Edit::Mask(Mask::Text(_)), Kind::String | Kind::Bytes) => Ok(To::Text(text)),
        (Edit::Mask(Mask::Text(_)), _) => Err("is no string or bytes, so that no text can be in its place"),
        (Edit::Mask(Mask::SameLength), Kind::String) => Ok(To::Stars),
        (Edit::Mask(Mask::SameLength), kind) if kind.wire_type() == crate::wire::VARINT => {
            Ok(To::ZeroVarints)
        }
        (Edit::Mask(Mask::SameLength), _) => Ok(To::Zeros),
    }
}

/// Slots, rules and texts of a program.
const ITEMS_MAX: usize = 10_000;

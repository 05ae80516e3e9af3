//! Tree of all paths of a program: the operations on each field, and on the fields below it.

use super::edit::To;
use super::error::ProgramError;
use super::node::{MapKey, ValueSlot};
use super::path::{FieldPathStep, parse};
use crate::schema::{FieldDescriptor, FieldType, Label, MessageId, Schema};

/// Fields of a message that paths go through or end at, by index.
#[derive(Debug, Default)]
pub(super) struct FieldPathTree {
    pub(super) branches: Vec<(u16, Branch)>,
}

/// Operations on a field.
#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) leaf: Leaf,
    /// Map entries.
    pub(super) entries: Vec<(MapKey, Self)>,
    /// Fields of the message in this field.
    pub(super) tree: FieldPathTree,
}

/// Operations on the field itself.
#[derive(Debug, Default)]
pub(super) struct Leaf {
    pub(super) slot: Option<ValueSlot>,
    pub(super) rules: Vec<u16>,
    /// Number of the rule that requires the field.
    pub(super) required: Option<u16>,
    pub(super) edit: Option<To>,
}

/// End of a path.
pub(super) struct FieldPathEnd<'t, 's> {
    pub(super) leaf: &'t mut Leaf,
    pub(super) field: &'s FieldDescriptor,
    pub(super) message: MessageId,
    /// Whether it is the value of a map entry.
    pub(super) is_map_value: bool,
    /// Whether the path has a key.
    pub(super) has_key: bool,
    /// Whether the field, or one on the path, is repeated.
    pub(super) is_repeated: bool,
}

impl Branch {
    /// Appends all slots of the field and below it.
    pub(super) fn slots(&self, slots: &mut Vec<ValueSlot>) {
        slots.extend(self.leaf.slot);
        self.slots_below(slots);
    }

    /// Appends all slots below the field.
    pub(super) fn slots_below(&self, slots: &mut Vec<ValueSlot>) {
        self.entries.iter().for_each(|(_, entry)| entry.slots(slots));
        self.tree.branches.iter().for_each(|(_, branch)| branch.slots(slots));
    }

    pub(super) fn has_edits(&self) -> bool {
        self.leaf.edit.is_some()
            || self.entries.iter().any(|(_, entry)| entry.has_edits())
            || self.tree.branches.iter().any(|(_, branch)| branch.has_edits())
    }
}

impl FieldPathTree {
    pub(super) fn branch(&self, field: u16) -> Option<&Branch> {
        self.branches.iter().find(|(index, _)| *index == field).map(|(_, branch)| branch)
    }

    /// Returns the end of a path, creating it if necessary.
    pub(super) fn locate<'t, 's>(
        &'t mut self,
        schema: &'s Schema,
        root: MessageId,
        path: &str,
    ) -> Result<FieldPathEnd<'t, 's>, ProgramError> {
        let steps = parse(path)?;
        let mut tree = self;
        let mut message = root;
        let mut has_key = false;
        let mut is_repeated = false;
        let mut steps = steps.into_iter().peekable();
        loop {
            let Some(FieldPathStep::Field(name)) = steps.next() else {
                let problem = "a name is missing";
                return Err(ProgramError::Syntax { path: path.to_owned(), at: path.len(), problem });
            };
            let (index, mut field) = schema.message(message).by_name(name.as_bytes()).ok_or_else(|| {
                let message = schema.message(message).name.to_string();
                ProgramError::FieldUnknown { path: path.to_owned(), message, field: name.clone() }
            })?;
            let problem = |problem| field_problem(schema, path, message, &name, problem);
            let mut branch = value_mut(&mut tree.branches, index);
            let mut is_map_value = false;
            if let Some(FieldPathStep::Key(key)) = steps.next_if(|step| matches!(step, FieldPathStep::Key(_)))
            {
                let (entry, key) = resolve_key(schema, field, &key).map_err(problem)?;
                field = entry;
                branch = value_mut(&mut branch.entries, key);
                (is_map_value, has_key) = (true, true);
            }
            is_repeated |= field.label != Label::Singular;
            if steps.peek().is_none() {
                let leaf = &mut branch.leaf;
                return Ok(FieldPathEnd { leaf, field, message, is_map_value, has_key, is_repeated });
            }
            message = field.kind.message().ok_or_else(|| problem("is not a message, so it has no fields"))?;
            tree = &mut branch.tree;
        }
    }
}

/// Returns the value of a key; one that is missing is added.
fn value_mut<K: PartialEq, V: Default>(list: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = list.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
        list.push((key, V::default()));
        list.len() - 1
    });
    &mut list[at].1
}

/// Returns the value field of a map's entries, and a key in the map's key type.
fn resolve_key<'s>(
    schema: &'s Schema,
    field: &FieldDescriptor,
    key: &str,
) -> Result<(&'s FieldDescriptor, MapKey), &'static str> {
    let entry = field.kind.message().filter(|_| field.label == Label::Map).map(|id| schema.message(id));
    let fields = entry.and_then(|entry| Some((entry.by_number(1)?.1, entry.by_number(2)?.1)));
    let (key_field, value) = fields.ok_or("is not a map, so it has no keys")?;
    let key = match key_field.kind {
        FieldType::String => MapKey::Text(key.as_bytes().into()),
        FieldType::Bool => match key {
            "true" => MapKey::Number(1, FieldType::Bool),
            "false" => MapKey::Number(0, FieldType::Bool),
            _ => return Err("has keys that are true or false"),
        },
        kind => MapKey::Number(key.parse().map_err(|_| "has keys that are integers")?, kind),
    };
    Ok((value, key))
}

pub(super) fn field_problem(
    schema: &Schema,
    path: &str,
    message: MessageId,
    field: &str,
    problem: &'static str,
) -> ProgramError {
    let message = schema.message(message).name.to_string();
    ProgramError::Field { path: path.to_owned(), message, field: field.to_owned(), problem }
}

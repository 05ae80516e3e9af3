//! Compilation of the configuration to an edit program per message type.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use eddy_protobuf::{
    FieldDescriptor, FieldType, Mask, MessageEdit, MessageId, ProgramBuilder, Schema, WalkProgram,
};

use super::config::{AnyValues, RedactConfig, RedactEdit};
use crate::protobuf::{MessagePath, MessageTypes};

/// Edit programs by message type.
#[derive(Debug)]
pub(super) struct RedactPolicy {
    pub(super) types: MessageTypes,
    /// Message types without redacted fields have no entry.
    programs: HashMap<MessageId, Arc<WalkProgram>>,
}

impl RedactPolicy {
    /// Compiles a configuration.
    ///
    /// # Errors
    /// A field is missing in the schema, or the edit is impossible; described as a sentence.
    pub(super) fn new(schema: &Schema, config: &RedactConfig) -> Result<Self, String> {
        let names = [&config.request_message, &config.response_message].map(Option::as_deref);
        let types = MessageTypes::new(schema, names[0], names[1])?;
        let mut roots = BTreeSet::new();
        if config.directions.has_requests() {
            roots.extend(types.requests());
        }
        if config.directions.has_responses() {
            roots.extend(types.responses());
        }
        if roots.is_empty() {
            return Err(
                "no service is defined; set the types of bodies with `request_message` and `response_message`"
                    .to_owned(),
            );
        }
        let everywhere = fields_everywhere(schema, config)?;
        let mut paths: Vec<PathRoots<'_>> = Vec::new();
        for path in &config.paths {
            paths.push(PathRoots::new(schema, path, &roots)?);
        }
        let mut programs = HashMap::new();
        for root in roots {
            let mut builder = ProgramBuilder::new(schema, root);
            for place in paths.iter().filter(|place| place.roots.contains(&root)) {
                place.edit(schema, root, &config.edit, &mut builder)?;
            }
            let edited = builder.edit_everywhere(|message, field| match (&*message.name, field.number) {
                // A mask would not be a valid message.
                ANY_VALUE if everywhere.contains(&ANY_VALUE) => Some(MessageEdit::Drop),
                place => everywhere.contains(&place).then(|| edit_of(field, &config.edit)),
            });
            edited.map_err(|error| error.to_string())?;
            let program = builder.build().map_err(|error| error.to_string())?;
            if program.has_edits() {
                programs.insert(root, Arc::new(program));
            }
        }
        if programs.is_empty() {
            return Err("no message of any gRPC method has any of the fields".to_owned());
        }
        Ok(Self { types, programs })
    }

    /// Returns the edit program of a message type; `None` if nothing is redacted in it.
    pub(super) fn program(&self, message: MessageId) -> Option<&Arc<WalkProgram>> {
        self.programs.get(&message)
    }
}

/// Returns the fields that are redacted wherever they occur, by message name and field number.
fn fields_everywhere<'s>(
    schema: &'s Schema,
    config: &RedactConfig,
) -> Result<HashSet<(&'s str, u32)>, String> {
    let mut fields = HashSet::new();
    for name in &config.options {
        let option = schema.find_field_option(name).map_err(|error| error.to_string())?;
        let mut is_anywhere = false;
        for (_, message) in schema.messages() {
            for field in &message.fields {
                let has_option = field
                    .has_option(option)
                    .map_err(|fault| format!("options of \"{}.{}\": {fault}", message.name, field.name))?;
                if has_option {
                    check_dropped(&message.name, field, &config.edit)?;
                    fields.insert((&*message.name, field.number));
                    is_anywhere = true;
                }
            }
        }
        if !is_anywhere {
            return Err(format!("no field has the option \"{name}\""));
        }
    }
    for name in &config.fields {
        let found = name.rsplit_once('.').and_then(|(message, field)| {
            let message = schema.message(schema.find_message(message)?);
            Some((message, message.by_name(field.as_bytes())?.1))
        });
        let Some((message, field)) = found else {
            return Err(format!("no field \"{name}\" is defined; write package.Message.field"));
        };
        check_dropped(&message.name, field, &config.edit)?;
        fields.insert((&*message.name, field.number));
    }
    if config.any == AnyValues::Drop && !fields.is_empty() {
        fields.insert(ANY_VALUE);
    }
    Ok(fields)
}

/// Path and the message types that have it.
struct PathRoots<'c> {
    path: &'c str,
    roots: BTreeSet<MessageId>,
}

impl<'c> PathRoots<'c> {
    fn new(schema: &Schema, config: &'c MessagePath, roots: &BTreeSet<MessageId>) -> Result<Self, String> {
        // Any field can be removed, whatever its type.
        let check = |root| {
            let tried = ProgramBuilder::new(schema, root).edit(&config.path, &MessageEdit::Drop);
            tried.map_err(|error| error.to_string())
        };
        Ok(Self { path: &config.path, roots: config.find_messages(schema, roots, check)? })
    }

    fn edit(
        &self,
        schema: &Schema,
        root: MessageId,
        edit: &RedactEdit,
        builder: &mut ProgramBuilder<'_>,
    ) -> Result<(), String> {
        let wanted = match edit {
            RedactEdit::Drop => MessageEdit::Drop,
            RedactEdit::SameLength => MessageEdit::Mask(Mask::SameLength),
            RedactEdit::Mask(text) => MessageEdit::Mask(Mask::Text(text.to_string())),
        };
        // Fields for which a text is no valid mask are masked in their length, and those that cannot be masked are
        // removed.
        let mut forms = vec![wanted, MessageEdit::Mask(Mask::SameLength), MessageEdit::Drop];
        if *edit == RedactEdit::Drop {
            forms.truncate(1);
        }
        let mut problem = String::new();
        for form in forms {
            // Tried on a separate builder: a refused path may leave parts behind.
            let tried = ProgramBuilder::new(schema, root).edit(self.path, &form);
            match tried.and_then(|()| builder.edit(self.path, &form)) {
                Ok(()) => return Ok(()),
                Err(error) => problem = error.to_string(),
            }
        }
        Err(problem)
    }
}

/// Returns the edit for a field of any type.
fn edit_of(field: &FieldDescriptor, edit: &RedactEdit) -> MessageEdit {
    match (edit, field.kind) {
        (RedactEdit::Drop, _) | (_, FieldType::Message(_) | FieldType::Group(_)) => MessageEdit::Drop,
        (RedactEdit::Mask(text), FieldType::String | FieldType::Bytes) => {
            MessageEdit::Mask(Mask::Text(text.to_string()))
        }
        (RedactEdit::Mask(_) | RedactEdit::SameLength, _) => MessageEdit::Mask(Mask::SameLength),
    }
}

/// Checks that no required field is removed: parsers refuse a message without it.
fn check_dropped(message: &str, field: &FieldDescriptor, edit: &RedactEdit) -> Result<(), String> {
    if field.is_required && edit_of(field, edit) == MessageEdit::Drop {
        let name = &field.name;
        return Err(format!("\"{message}.{name}\" is required and cannot be removed; mask it instead"));
    }
    Ok(())
}

/// Field with the bytes of a `google.protobuf.Any`.
const ANY_VALUE: (&str, u32) = ("google.protobuf.Any", 2);

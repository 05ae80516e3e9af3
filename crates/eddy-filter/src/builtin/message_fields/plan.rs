//! From the configuration to what is taken from each message of a call.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use eddy_protobuf::{EnumId, FieldType, MessageId, ProgramBuilder, Schema, ValueSlot, WalkProgram};

use super::config::{MessageFieldsConfig, WantedField};
use crate::builtin::protobuf::MessageTypes;

/// What is taken from which message.
#[derive(Debug)]
pub(super) struct ExtractionPlan {
    pub(super) types: MessageTypes,
    /// Of messages that nothing is taken from there is none.
    pub(super) request: HashMap<MessageId, Arc<Taking>>,
    pub(super) response: HashMap<MessageId, Arc<Taking>>,
}

/// What is taken from a message.
#[derive(Debug)]
pub(super) struct Taking {
    pub(super) program: Arc<WalkProgram>,
    pub(super) fields: Vec<TakenField>,
    /// Whether any of them becomes a header.
    pub(super) has_header: bool,
}

/// A field that is taken.
#[derive(Debug)]
pub(super) struct TakenField {
    pub(super) wanted: WantedField,
    /// The key of its places in the metadata.
    pub(super) places_key: String,
    pub(super) slot: ValueSlot,
    pub(super) kind: FieldType,
    /// Whether it can have several values.
    pub(super) is_repeated: bool,
}

/// What a configuration asks for and the schema does not have.
#[derive(Debug)]
pub(super) struct PlanError {
    /// The path that is wrong, where one is.
    pub(super) path: Option<Arc<str>>,
    /// What is wrong, in a sentence.
    pub(super) why: String,
}

impl TakenField {
    /// The enum that it is of.
    pub(super) fn enumeration(&self) -> Option<EnumId> {
        if let FieldType::Enum(id) = self.kind { Some(id) } else { None }
    }
}

impl ExtractionPlan {
    /// The plan of a configuration.
    ///
    /// # Errors
    /// What the schema does not have, or what can't be taken.
    pub(super) fn new(schema: &Schema, config: &MessageFieldsConfig) -> Result<Self, PlanError> {
        let names = [&config.request_message, &config.response_message].map(Option::as_deref);
        let types = MessageTypes::new(schema, names[0], names[1]);
        let types = types.map_err(|why| PlanError { path: None, why })?;
        let request = takings(schema, &config.request, &types.requests())?;
        let response = takings(schema, &config.response, &types.responses())?;
        Ok(Self { types, request, response })
    }
}

fn takings(
    schema: &Schema,
    fields: &[WantedField],
    messages: &BTreeSet<MessageId>,
) -> Result<HashMap<MessageId, Arc<Taking>>, PlanError> {
    let mut wanted: HashMap<MessageId, Vec<&WantedField>> = HashMap::new();
    for field in fields {
        let check = |message| has_path(schema, message, &field.at.path);
        let wrong = |why| PlanError { path: Some(Arc::clone(&field.at.path)), why };
        for message in field.at.find_messages(schema, messages, check).map_err(wrong)? {
            wanted.entry(message).or_default().push(field);
        }
    }
    let taking = |(message, fields): (MessageId, Vec<&WantedField>)| {
        let taking = Taking::new(schema, message, &fields);
        Ok((message, Arc::new(taking.map_err(|why| PlanError { path: None, why })?)))
    };
    wanted.into_iter().map(taking).collect()
}

/// Whether there is a field at the end of a path that can be taken.
fn has_path(schema: &Schema, message: MessageId, path: &str) -> Result<(), String> {
    let mut builder = ProgramBuilder::new(schema, message);
    let slot = builder.extract(path).map_err(|error| error.to_string())?;
    let program = builder.build().map_err(|error| error.to_string())?;
    if program.kind(slot).message().is_some() {
        return Err(format!("path \"{path}\" ends at a message or map; name a field in it"));
    }
    Ok(())
}

impl Taking {
    fn new(schema: &Schema, message: MessageId, wanted: &[&WantedField]) -> Result<Self, String> {
        let mut builder = ProgramBuilder::new(schema, message);
        let mut slots = Vec::with_capacity(wanted.len());
        for field in wanted {
            slots.push(builder.extract(&field.at.path).map_err(|error| error.to_string())?);
        }
        let program = builder.build().map_err(|error| error.to_string())?;
        let field = |(wanted, slot): (&&WantedField, ValueSlot)| TakenField {
            wanted: (*wanted).clone(),
            places_key: format!("{}_at", wanted.name),
            slot,
            kind: program.kind(slot),
            is_repeated: program.is_repeated(slot),
        };
        let fields = wanted.iter().zip(slots).map(field).collect();
        let has_header = wanted.iter().any(|field| field.header.is_some());
        Ok(Self { fields, has_header, program: Arc::new(program) })
    }
}

//! Compilation of the configuration to an extraction program per message type.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use eddy_filter::{LoadError, LoadResult, field_places_key};
use eddy_protobuf::{EnumId, FieldType, MessageId, ProgramBuilder, Schema, ValueSlot, WalkProgram};

use super::config::{FieldToExtract, MessageFieldsConfig};
use crate::protobuf::{MessageTypes, describe, refused};

/// Extraction programs by message type.
#[derive(Debug)]
pub(super) struct ExtractionPlan {
    pub(super) types: MessageTypes,
    /// Message types without extracted fields have no entry.
    pub(super) request: HashMap<MessageId, Arc<Extraction>>,
    pub(super) response: HashMap<MessageId, Arc<Extraction>>,
}

/// Extraction program of a message type.
#[derive(Debug)]
pub(super) struct Extraction {
    pub(super) program: Arc<WalkProgram>,
    pub(super) fields: Vec<ExtractedField>,
    /// Whether any field is sent as a header.
    pub(super) has_header: bool,
}

/// Field to extract from a message type.
#[derive(Debug)]
pub(super) struct ExtractedField {
    pub(super) wanted: FieldToExtract,
    /// Metadata key of the positions.
    pub(super) places_key: String,
    pub(super) slot: ValueSlot,
    pub(super) kind: FieldType,
    /// Whether the field is repeated.
    pub(super) is_repeated: bool,
}

impl ExtractedField {
    /// Returns the enum type of the field, if it has one.
    pub(super) fn enumeration(&self) -> Option<EnumId> {
        if let FieldType::Enum(id) = self.kind { Some(id) } else { None }
    }
}

impl ExtractionPlan {
    /// Compiles a configuration.
    ///
    /// # Errors
    /// A message or field is missing in the schema, or cannot be extracted.
    pub(super) fn new(schema: &Schema, config: &MessageFieldsConfig) -> LoadResult<Self> {
        let names = [&config.request_message, &config.response_message].map(Option::as_deref);
        let types = MessageTypes::new(schema, names[0], names[1]);
        let types = types.map_err(|why| refused(&config.descriptors, why))?;
        let request = extractions(schema, config, &config.request, &types.requests())?;
        let response = extractions(schema, config, &config.response, &types.responses())?;
        Ok(Self { types, request, response })
    }
}

fn extractions(
    schema: &Schema,
    config: &MessageFieldsConfig,
    fields: &[FieldToExtract],
    messages: &BTreeSet<MessageId>,
) -> LoadResult<HashMap<MessageId, Arc<Extraction>>> {
    let mut wanted: HashMap<MessageId, Vec<&FieldToExtract>> = HashMap::new();
    for field in fields {
        let check = |message| has_path(schema, message, &field.at.path);
        let wrong = |why: String| LoadError::Path {
            path: field.at.path.to_string(),
            message: describe(&config.descriptors, why),
        };
        for message in field.at.find_messages(schema, messages, check).map_err(wrong)? {
            wanted.entry(message).or_default().push(field);
        }
    }
    let extraction = |(message, fields): (MessageId, Vec<&FieldToExtract>)| {
        let extraction = Extraction::new(schema, message, &fields);
        Ok((message, Arc::new(extraction.map_err(|why| refused(&config.descriptors, why))?)))
    };
    wanted.into_iter().map(extraction).collect()
}

/// Checks that a path ends at a field that can be extracted.
fn has_path(schema: &Schema, message: MessageId, path: &str) -> Result<(), String> {
    let mut builder = ProgramBuilder::new(schema, message);
    let slot = builder.extract(path).map_err(|error| error.to_string())?;
    let program = builder.build().map_err(|error| error.to_string())?;
    if program.kind(slot).message().is_some() {
        return Err(format!("path \"{path}\" ends at a message or map; name a field in it"));
    }
    Ok(())
}

impl Extraction {
    fn new(schema: &Schema, message: MessageId, wanted: &[&FieldToExtract]) -> Result<Self, String> {
        let mut builder = ProgramBuilder::new(schema, message);
        let mut slots = Vec::with_capacity(wanted.len());
        for field in wanted {
            slots.push(builder.extract(&field.at.path).map_err(|error| error.to_string())?);
        }
        let program = builder.build().map_err(|error| error.to_string())?;
        let field = |(wanted, slot): (&&FieldToExtract, ValueSlot)| ExtractedField {
            wanted: (*wanted).clone(),
            places_key: field_places_key(&wanted.name),
            slot,
            kind: program.kind(slot),
            is_repeated: program.is_repeated(slot),
        };
        let fields = wanted.iter().zip(slots).map(field).collect();
        let has_header = wanted.iter().any(|field| field.header.is_some());
        Ok(Self { fields, has_header, program: Arc::new(program) })
    }
}

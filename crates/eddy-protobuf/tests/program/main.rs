//! Field programs: extraction, checks and edits, with the message cut at every position.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]
#![expect(clippy::cast_possible_truncation, reason = "lengths here are small")]

mod edits;
mod rules;
mod taking;

use std::sync::Arc;

use eddy_protobuf::{
    FieldValue, FromJson, FromJsonOptions, MessageWalk, ProgramBuilder, ProtobufError, ProtobufLimits,
    Schema, ToJson, ToJsonOptions, ValueSlot, Values, WalkProgram,
};

fn schema() -> Arc<Schema> {
    Arc::new(Schema::from_descriptors(include_bytes!("../schema/eddy.binpb")).unwrap())
}

/// Returns the message of a JSON text.
fn message(schema: &Arc<Schema>, name: &str, json: &str) -> Vec<u8> {
    let id = schema.find_message(name).unwrap();
    let mut reader = FromJson::new(schema.clone(), id, FromJsonOptions::default(), ProtobufLimits::default());
    reader
        .convert(json.as_bytes())
        .unwrap_or_else(|fault| panic!("{}: {json}", fault.describe(schema)))
        .to_vec()
}

/// Returns the JSON of a message.
fn json(schema: &Arc<Schema>, name: &str, message: &[u8]) -> String {
    let id = schema.find_message(name).unwrap();
    let mut writer = ToJson::new(schema.clone(), id, ToJsonOptions::default(), ProtobufLimits::default());
    String::from_utf8(writer.convert(message).unwrap().to_vec()).unwrap()
}

/// Returns a program, and the slots of its paths.
fn extracting(schema: &Schema, name: &str, paths: &[&str]) -> (Arc<WalkProgram>, Vec<ValueSlot>) {
    let mut builder = ProgramBuilder::new(schema, schema.find_message(name).unwrap());
    let slots = paths.iter().map(|path| builder.extract(path).unwrap()).collect();
    (Arc::new(builder.build().unwrap()), slots)
}

/// Returns values as text.
fn shown(values: &Values<'_>, slots: &[ValueSlot]) -> Vec<Vec<String>> {
    let show = |value: FieldValue<'_>| match value {
        FieldValue::Signed(number) => number.to_string(),
        FieldValue::Unsigned(number) => number.to_string(),
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Bool(is) => is.to_string(),
        FieldValue::Enum(number) => format!("#{number}"),
        FieldValue::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        FieldValue::Bytes(bytes) => format!("{bytes:?}"),
        FieldValue::Message(bytes) => format!("{} bytes", bytes.len()),
    };
    slots.iter().map(|slot| values.all(*slot).map(show).collect()).collect()
}

/// Runs a program over the whole message and with every cut; all results must agree.
fn run(
    program: &Arc<WalkProgram>,
    slots: &[ValueSlot],
    message: &[u8],
) -> Result<Vec<Vec<String>>, ProtobufError> {
    let mut walk = MessageWalk::new(program.clone(), ProtobufLimits::default());
    let whole = walk.extract(message).map(|values| shown(&values, slots));
    for step in (1..=message.len().min(40)).chain([message.len() + 1]) {
        walk.reset();
        let pushed = message.chunks(step).try_for_each(|piece| walk.push(piece));
        let pieces = pushed.and_then(|()| walk.finish().map(|values| shown(&values, slots)));
        match &whole {
            Ok(_) => assert_eq!(pieces, whole, "by {step}"),
            Err(fault) => assert_eq!(pieces.unwrap_err().kind, fault.kind, "by {step}"),
        }
    }
    whole
}

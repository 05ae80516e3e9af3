//! Nothing is allocated per message once the buffers have grown.

use std::sync::Arc;

use eddy_protobuf::{
    FromJson, FromJsonOptions, MessageEdit, MessageWalk, ProgramBuilder, ProtobufLimits, Schema, ToJson,
    ToJsonOptions,
};

const JSON: &str = r#"{"name":"all","owner":{"name":"Ann","email":"a@b.example","places":{"k":{"city":"Ulm","lines":["x","y"]}}},
    "items":[{"id":"1","tags":["a","b"],"sizes":[1,2,300],"price":1.5,"created":"2024-02-29T12:00:00Z","labels":{"a":"b"}},{"id":"2"}]}"#;

/// Runs an operation often; none of the later runs may allocate.
fn check(what: &str, mut work: impl FnMut()) {
    (0..3).for_each(|_| work());
    let counted = allocation_counter::measure(|| (0..20).for_each(|_| work()));
    assert_eq!(counted.count_total, 0, "{what}");
}

#[test]
fn processing_messages_allocates_nothing() {
    let schema = Arc::new(Schema::from_descriptors(include_bytes!("schema/eddy.binpb")).unwrap());
    let id = schema.find_message("eddy.test.Catalog").unwrap();
    let mut reader = FromJson::new(schema.clone(), id, FromJsonOptions::default(), ProtobufLimits::default());
    let bytes = reader.convert(JSON.as_bytes()).unwrap().to_vec();
    check("from JSON", || {
        reader.convert(JSON.as_bytes()).unwrap();
    });
    check("from JSON in pieces", || {
        reader.reset();
        JSON.as_bytes().chunks(7).for_each(|piece| assert_eq!(reader.push(piece), Ok(piece.len())));
        reader.finish().unwrap();
    });
    let mut writer = ToJson::new(schema.clone(), id, ToJsonOptions::default(), ProtobufLimits::default());
    check("to JSON", || {
        writer.convert(&bytes).unwrap();
    });
    check("to JSON in pieces", || {
        writer.reset();
        bytes.chunks(7).for_each(|piece| writer.push(piece).unwrap());
        writer.finish().unwrap();
    });
    let mut builder = ProgramBuilder::new(&schema, id);
    let tags = builder.extract("items.tags").unwrap();
    builder.extract(r#"owner.places["k"].city"#).unwrap();
    builder.edit("owner.email", &MessageEdit::Drop).unwrap();
    let mut walk = MessageWalk::new(Arc::new(builder.build().unwrap()), ProtobufLimits::default());
    let mut out = Vec::new();
    check("a walk", || {
        assert_eq!(walk.extract(&bytes).unwrap().all(tags).len(), 2);
        out.clear();
        walk.rewrite(&bytes, &mut out).unwrap();
    });
    check("a walk in pieces", || {
        walk.reset();
        bytes.chunks(7).for_each(|piece| walk.push(piece).unwrap());
        assert_eq!(walk.finish().unwrap().all(tags).len(), 2);
        out.clear();
        walk.write(&mut out);
    });
}

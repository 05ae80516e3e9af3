//! JSON of messages: forms, options, limits, wire order and pieces. The conformance suite covers the rest.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]
#![expect(clippy::cast_possible_truncation, reason = "lengths here are small")]

use std::sync::Arc;

use eddy_protobuf::{
    Duplicates, EnumForm, FromJson, FromJsonOptions, JsonFieldNaming, ProtobufError, ProtobufErrorKind,
    ProtobufLimits, Schema, ToJson, ToJsonOptions, Unknown,
};

fn schema() -> Arc<Schema> {
    Arc::new(Schema::from_descriptors(include_bytes!("schema/eddy.binpb")).unwrap())
}

/// Converts bytes to JSON, as a whole and cut at every position.
fn written(name: &str, bytes: &[u8], options: ToJsonOptions) -> Result<String, ProtobufError> {
    let schema = schema();
    let id = schema.find_message(name).unwrap();
    let mut writer = ToJson::new(schema, id, options, ProtobufLimits::default());
    let whole = writer.convert(bytes).map(<[u8]>::to_vec);
    for step in 1..=bytes.len().min(30) {
        writer.reset();
        let pushed =
            bytes.chunks(step).try_for_each(|piece| writer.push(piece)).and_then(|()| writer.finish());
        match (&whole, pushed) {
            (Ok(whole), Ok(())) => assert_eq!(writer.ready(), whole, "by {step}"),
            (Err(fault), Err(pushed)) => assert_eq!(fault.kind, pushed.kind, "by {step}"),
            (whole, pushed) => panic!("by {step}: {whole:?} and {pushed:?}"),
        }
    }
    whole.map(|json| String::from_utf8(json).unwrap())
}

/// Converts JSON to bytes, as a whole and cut at every position.
fn read(name: &str, json: &str, options: FromJsonOptions) -> Result<Vec<u8>, ProtobufError> {
    let schema = schema();
    let id = schema.find_message(name).unwrap();
    let mut reader = FromJson::new(schema, id, options, ProtobufLimits::default());
    let whole = reader.convert(json.as_bytes()).map(<[u8]>::to_vec);
    for step in 1..=json.len().min(30) {
        reader.reset();
        let pushed = json.as_bytes().chunks(step).try_for_each(|piece| match reader.push(piece)? {
            used if used < piece.len() => {
                Err(ProtobufError { offset: 0, kind: ProtobufErrorKind::JsonTrailing, field: None })
            }
            _ => Ok(()),
        });
        match (&whole, pushed.and_then(|()| reader.finish())) {
            (Ok(whole), Ok(pushed)) => assert_eq!(pushed, whole, "by {step}"),
            (Err(fault), Err(pushed)) => assert_eq!(fault.kind, pushed.kind, "by {step}: {json}"),
            (whole, pushed) => panic!("by {step}: {whole:?} and {pushed:?}"),
        }
    }
    whole
}

fn check(name: &str, json: &str, expected: &str) {
    let bytes =
        read(name, json, FromJsonOptions::default()).unwrap_or_else(|fault| panic!("{json}: {fault}"));
    assert_eq!(written(name, &bytes, ToJsonOptions::default()).unwrap(), expected);
}

fn refused(name: &str, json: &str, offset: u64, kind: ProtobufErrorKind) {
    let fault = read(name, json, FromJsonOptions::default()).unwrap_err();
    assert_eq!((fault.offset, fault.kind), (offset, kind), "{json}");
}

const PERSON: &str = "eddy.test.Person";
const ITEM: &str = "eddy.test.Item";

#[test]
fn messages_round_trip_through_json() {
    check(PERSON, " { } ", "{}");
    check(
        PERSON,
        r#"{"name":"A\u006en \"\\\/\b","age":1.5e1,"score":"-0","places":{"a":{"lines":["x",""]},"":{}},"balance":-3,
            "ratio":1e-7,"secret":"_-8","friends":[{},{"address":{"city":"Ulm"}}]}"#,
        r#"{"name":"Ann \"\\/\b","age":15,"score":0,"places":{"a":{"lines":["x",""]},"":{}},"balance":"-3","ratio":1e-7,"secret":"/+8=","friends":[{},{"address":{"city":"Ulm"}}]}"#,
    );
    check(
        ITEM,
        r#"{"stock":"9007199254740993","price":-0.0,"status":2,"is_new":true,"sizes":[1,-2,3e2],"created":"2024-02-29T12:00:00.5+01:00","labels":{"k":"v"}}"#,
        r#"{"stock":"9007199254740993","price":-0,"status":"STATUS_SOLD","isNew":true,"sizes":[1,-2,300],"created":"2024-02-29T11:00:00.500Z","labels":{"k":"v"}}"#,
    );
    check(
        PERSON,
        r#"{"extra":{"name":"in","@type":"x/eddy.test.Person","extra":{"value":"1s","@type":"x/google.protobuf.Duration"}},
            "since":"-1.000001s","note":{"a":[1,null,"s",{"b":false}],"c":{}},"nick":"n"}"#,
        r#"{"extra":{"@type":"x/eddy.test.Person","name":"in","extra":{"@type":"x/google.protobuf.Duration","value":"1s"}},"since":"-1.000001s","note":{"a":[1,null,"s",{"b":false}],"c":{}},"nick":"n"}"#,
    );
}

#[test]
fn null_is_no_value() {
    check(
        PERSON,
        r#"{"name":null,"address":null,"friends":null,"places":null,"note":null,"nick":null}"#,
        r#"{"note":null}"#,
    );
    refused(PERSON, r#"{"friends":[null]}"#, 12, ProtobufErrorKind::JsonNull);
    refused(PERSON, r#"{"places":{"a":null}}"#, 15, ProtobufErrorKind::JsonNull);
}

#[test]
fn invalid_json_is_reported_with_its_position() {
    refused(PERSON, "", 0, ProtobufErrorKind::Truncated);
    refused(PERSON, "[]", 0, ProtobufErrorKind::JsonType);
    refused(PERSON, "{", 1, ProtobufErrorKind::Truncated);
    refused(PERSON, r#"{"name":"a"} x"#, 13, ProtobufErrorKind::JsonTrailing);
    refused(PERSON, r#"{"name":"a",}"#, 12, ProtobufErrorKind::JsonSyntax);
    refused(PERSON, r#"{"name" "a"}"#, 8, ProtobufErrorKind::JsonSyntax);
    refused(PERSON, r#"{name:"a"}"#, 1, ProtobufErrorKind::JsonSyntax);
    refused(PERSON, r#"{"age":01}"#, 7, ProtobufErrorKind::JsonType);
    refused(PERSON, r#"{"age":-1}"#, 7, ProtobufErrorKind::JsonRange);
    refused(PERSON, r#"{"age":4294967296}"#, 7, ProtobufErrorKind::JsonRange);
    refused(PERSON, r#"{"age":tru}"#, 7, ProtobufErrorKind::JsonSyntax);
    refused(PERSON, r#"{"age":true}"#, 7, ProtobufErrorKind::JsonType);
    refused(PERSON, "{\"name\":\"a\nb\"}", 8, ProtobufErrorKind::JsonSyntax);
    refused(PERSON, r#"{"name":"ab\ud800"}"#, 11, ProtobufErrorKind::JsonEscape);
    refused(PERSON, r#"{"nobody":1}"#, 1, ProtobufErrorKind::JsonFieldUnknown);
    refused(PERSON, r#"{"secret":"a"}"#, 10, ProtobufErrorKind::JsonBase64);
    refused(PERSON, r#"{"since":"1"}"#, 9, ProtobufErrorKind::JsonDuration);
    refused(PERSON, r#"{"phone":"1","box":2}"#, 19, ProtobufErrorKind::JsonOneof);
    refused(PERSON, r#"{"name":"a","name":"b"}"#, 12, ProtobufErrorKind::JsonDuplicate);
    refused(PERSON, r#"{"places":{"a":{},"a":{}}}"#, 18, ProtobufErrorKind::JsonDuplicate);
    refused(ITEM, r#"{"status":"STATUS_LOST"}"#, 10, ProtobufErrorKind::JsonEnumUnknown);
    refused(PERSON, r#"{"extra":{"@type":"x/none.Such"}}"#, 18, ProtobufErrorKind::AnyTypeUnknown);
    refused(PERSON, r#"{"extra":{"name":"x"}}"#, 10, ProtobufErrorKind::JsonAnyType);
    refused(
        PERSON,
        r#"{"extra":{"@type":"x/eddy.test.Person","@type":"x/eddy.test.Person"}}"#,
        39,
        ProtobufErrorKind::JsonAnyType,
    );
}

#[test]
fn a_fault_names_its_field() {
    let schema = schema();
    let fault = read(PERSON, r#"{"friends":[{"age":"x"}]}"#, FromJsonOptions::default()).unwrap_err();
    assert_eq!(
        fault.describe(&schema),
        r#"a value is not of the field's type at byte 19 (field "age" of eddy.test.Person)"#
    );
}

#[test]
fn unknown_fields_can_be_ignored() {
    let options = FromJsonOptions { unknown: Unknown::Ignore, ..FromJsonOptions::default() };
    let json = r#"{"x":[1,{"y":"\u0041"},[]],"name":"a","z":{"@type":1},"nick":null}"#;
    assert_eq!(read(PERSON, json, options).unwrap(), b"\x0a\x01a");
    let json = r#"{"id":"i","status":"STATUS_LOST","x":-1.5}"#;
    assert_eq!(read(ITEM, json, options).unwrap(), b"\x0a\x01i");
    assert_eq!(read(PERSON, r#"{"x":1.}"#, options).unwrap_err().kind, ProtobufErrorKind::JsonSyntax);
    assert_eq!(read(PERSON, r#"{"x":[}"#, options).unwrap_err().kind, ProtobufErrorKind::JsonSyntax);
}

#[test]
fn duplicates_can_be_merged() {
    let options = FromJsonOptions { duplicates: Duplicates::Merge, ..FromJsonOptions::default() };
    let json = r#"{"name":"a","name":"","places":{"k":{"city":"x"},"k":{"street":"y"}},"friends":[{}],"friends":[{}],"phone":"p","box":1}"#;
    let bytes = read(PERSON, json, options).unwrap();
    let expected = r#"{"places":{"k":{"street":"y"}},"friends":[{},{}],"box":"1"}"#;
    let found = written(PERSON, &bytes, ToJsonOptions::default()).unwrap();
    let sorted = |json: &str| json.parse::<serde_json::Value>().unwrap();
    assert_eq!(sorted(&found), sorted(expected));
}

#[test]
fn output_options_are_applied() {
    let bytes =
        read(ITEM, r#"{"isNew":true,"status":"STATUS_SOLD","size":{}}"#, FromJsonOptions::default()).unwrap();
    let with = |options| written(ITEM, &bytes, options).unwrap();
    let declared = ToJsonOptions { names: JsonFieldNaming::Declared, ..ToJsonOptions::default() };
    assert_eq!(with(declared), r#"{"is_new":true,"status":"STATUS_SOLD","size":{}}"#);
    let numbers = ToJsonOptions { enums: EnumForm::Numbers, ..ToJsonOptions::default() };
    assert_eq!(with(numbers), r#"{"isNew":true,"status":2,"size":{}}"#);
    let defaults = ToJsonOptions { prints_defaults: true, ..ToJsonOptions::default() };
    assert_eq!(
        with(defaults),
        r#"{"isNew":true,"status":"STATUS_SOLD","size":{"width":0,"height":0},"id":"","title":"","stock":"0","price":0,"tags":[],"sizes":[],"labels":{},"thumbnail":""}"#
    );
}

#[test]
fn fields_in_any_wire_order_give_the_same_message() {
    // friends, name, friends, name: the last name, and both friends.
    let bytes = b"\xfa\x7f\x03\x0a\x01x\x0a\x01a\xfa\x7f\x03\x0a\x01y\x0a\x01b";
    let json = written(PERSON, bytes, ToJsonOptions::default()).unwrap();
    assert_eq!(json, r#"{"name":"b","friends":[{"name":"x"},{"name":"y"}]}"#);
    // An address in two parts is merged, and a later phone replaces it.
    let address = b"\x32\x03\x12\x01x\x32\x03\x0a\x01y";
    assert_eq!(
        written(PERSON, address, ToJsonOptions::default()).unwrap(),
        r#"{"address":{"street":"y","city":"x"}}"#
    );
    let phone = [&address[..], b"\x2a\x01p"].concat();
    assert_eq!(written(PERSON, &phone, ToJsonOptions::default()).unwrap(), r#"{"phone":"p"}"#);
    // The value before the key, and a duplicate key.
    let labels = b"\x5a\x06\x12\x01v\x0a\x01k\x5a\x06\x0a\x01k\x12\x01w";
    assert_eq!(written(ITEM, labels, ToJsonOptions::default()).unwrap(), r#"{"labels":{"k":"w"}}"#);
}

#[test]
fn out_of_order_fields_after_written_output_are_refused() {
    let schema = schema();
    let id = schema.find_message(PERSON).unwrap();
    let limits = ProtobufLimits { held_bytes_max: 5, ..ProtobufLimits::default() };
    let mut writer = ToJson::new(schema, id, ToJsonOptions::default(), limits);
    writer.push(b"\x0a\x01a\x12\x01b").unwrap();
    assert_eq!(writer.ready(), br#"{"name":"a","email":"b""#);
    writer.take(5);
    assert_eq!(writer.ready(), br#"e":"a","email":"b""#);
    let fault = writer.push(b"\x0a\x01c").unwrap_err();
    assert_eq!(fault.kind, ProtobufErrorKind::OutOfOrder);
    writer.reset();
    writer.push(b"\x0a\x00").unwrap();
    assert_eq!(writer.ready(), b"", "it may still change");
    writer.push(b"\x0a\x01c").unwrap();
    writer.finish().unwrap();
    assert_eq!(writer.ready(), br#"{"name":"c"}"#);
    writer.take(100);
    writer.push(b"\x0a\x01n").unwrap();
    writer.finish().unwrap();
    assert_eq!(writer.ready(), br#"{"name":"n"}"#);
}

#[test]
fn a_message_can_end_within_a_chunk() {
    let schema = schema();
    let id = schema.find_message(PERSON).unwrap();
    let mut reader = FromJson::new(schema, id, FromJsonOptions::default(), ProtobufLimits::default());
    let text = br#"{"name":"a"} ,{"name":"b"}"#;
    let used = reader.push(text).unwrap();
    assert!(reader.is_done());
    assert_eq!(text[used], b',');
    assert_eq!(reader.finish().unwrap(), b"\x0a\x01a");
    reader.reset();
    assert_eq!(reader.push(&text[used + 1..]).unwrap(), text.len() - used - 1);
    assert_eq!(reader.finish().unwrap(), b"\x0a\x01b");
    assert_eq!(reader.push(b"{").unwrap_err().kind, ProtobufErrorKind::Ended);
}

#[test]
fn nesting_is_limited_in_both_directions() {
    let friends = |levels: usize| {
        format!("{}{}", r#"{"note":"#.to_owned() + &"[".repeat(levels), "]".repeat(levels) + "}")
    };
    let bytes = read(PERSON, &friends(98), FromJsonOptions::default()).unwrap();
    assert_eq!(written(PERSON, &bytes, ToJsonOptions::default()).unwrap(), friends(98));
    let fault = read(PERSON, &friends(200), FromJsonOptions::default()).unwrap_err();
    assert_eq!((fault.kind, fault.offset), (ProtobufErrorKind::DepthExceeded, 107));
    let mut nested = Vec::new();
    for _ in 0..150 {
        let mut outer = vec![0xfa, 0x7f];
        let mut length = nested.len();
        while length >= 0x80 {
            outer.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend(nested);
        nested = outer;
    }
    assert_eq!(
        written(PERSON, &nested, ToJsonOptions::default()).unwrap_err().kind,
        ProtobufErrorKind::DepthExceeded
    );
    // An Any whose type is last needs a second pass over its content; that has a limit too.
    let any = r#"{"@type":"x/google.protobuf.Any","value":"#;
    let deep = format!(r#"{{"extra":{}{{}}{}}}"#, any.repeat(60), "}".repeat(60));
    read(PERSON, &deep, FromJsonOptions::default()).unwrap();
    let last = r#"{"value":"#;
    let deep = format!(
        r#"{{"extra":{}{{}}{}}}"#,
        last.repeat(60),
        r#","@type":"x/google.protobuf.Any"}"#.repeat(60)
    );
    read(PERSON, &deep, FromJsonOptions::default()).unwrap();
}

#[test]
fn malformed_messages_have_no_json() {
    let check = |bytes: &[u8], kind| {
        assert_eq!(written(PERSON, bytes, ToJsonOptions::default()).unwrap_err().kind, kind, "{bytes:x?}");
    };
    check(b"\x0a", ProtobufErrorKind::Truncated);
    check(b"\x0a\x05a", ProtobufErrorKind::Truncated);
    check(b"\x32\x02\x12\x05", ProtobufErrorKind::PastEnd);
    check(b"\x0a\x01\xff", ProtobufErrorKind::Utf8);
    check(b"\x0a\x04\xe2\x82", ProtobufErrorKind::Truncated);
    check(b"\x00\x00", ProtobufErrorKind::FieldNumber);
    check(b"\x0f\x00", ProtobufErrorKind::WireType);
    check(b"\xa4\x06", ProtobufErrorKind::GroupEnd);
    check(b"\xa3\x06", ProtobufErrorKind::Truncated);
    check(b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ProtobufErrorKind::VarintTooLong);
    check(b"\x72\x00", ProtobufErrorKind::ValueMissing);
    check(b"\x72\x09\x11\x00\x00\x00\x00\x00\x00\xf0\x7f", ProtobufErrorKind::ValueNotFinite);
    check(b"\x62\x03\x12\x01x", ProtobufErrorKind::AnyWithoutType);
    check(b"\x6a\x0d\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", ProtobufErrorKind::DurationRange);
}

//! Values extracted by programs.

use eddy_protobuf::{MessageWalk, ProgramBuilder, ProgramError, ProtobufErrorKind, ProtobufLimits};

use super::{extracting, message, run, schema, shown};

fn check(name: &str, json: &str, expected: &[(&str, &[&str])]) {
    let schema = schema();
    let bytes = message(&schema, name, json);
    check_bytes(name, &bytes, expected);
}

fn check_bytes(name: &str, bytes: &[u8], expected: &[(&str, &[&str])]) {
    let schema = schema();
    let paths: Vec<&str> = expected.iter().map(|(path, _)| *path).collect();
    let (program, slots) = extracting(&schema, name, &paths);
    let values: Vec<&[&str]> = expected.iter().map(|(_, values)| *values).collect();
    assert_eq!(run(&program, &slots, bytes).unwrap(), values, "all paths at once");
    for (path, values) in expected {
        let (program, slots) = extracting(&schema, name, &[path]);
        assert_eq!(run(&program, &slots, bytes).unwrap(), [*values], "{path}");
    }
}

#[test]
fn scalars_of_every_kind() {
    let person = r#"{"name": "Ann", "age": 4000000000, "score": -7, "balance": "-5", "key": "18446744073709551615",
        "ratio": 0.5, "secret": "AQI=", "contact": null}"#;
    let person = person.replace(r#", "contact": null"#, "");
    check(
        "eddy.test.Person",
        &person,
        &[
            ("name", &["Ann"]),
            ("age", &["4000000000"]),
            ("score", &["-7"]),
            ("balance", &["-5"]),
            ("key", &["18446744073709551615"]),
            ("ratio", &["0.5"]),
            ("secret", &["[1, 2]"]),
            ("email", &[]),
        ],
    );
}

#[test]
fn nested_fields() {
    let catalog = r#"{"name": "all", "owner": {"name": "Ann", "address": {"city": "Ulm", "lines": ["a", "b"]}},
        "items": [{"id": "1", "tags": ["x", "y"], "sizes": [1, 2, 300], "status": "STATUS_SOLD"}, {}, {"id": "3", "tags": ["z"]}],
        "parent": {"parent": {"name": "root"}}}"#;
    check(
        "eddy.test.Catalog",
        catalog,
        &[
            ("owner.name", &["Ann"]),
            ("owner.address.city", &["Ulm"]),
            ("owner.address.lines", &["a", "b"]),
            ("items.id", &["1", "3"]),
            ("items.tags", &["x", "y", "z"]),
            ("items.sizes", &["1", "2", "300"]),
            ("items.status", &["#2"]),
            ("items.isNew", &[]),
            ("parent.parent.name", &["root"]),
            ("owner", &["18 bytes"]),
        ],
    );
}

#[test]
fn maps_by_key_and_complete() {
    let catalog = r#"{"byNumber": {"7": {"id": "seven", "labels": {"a": "1", "b": "2"}}, "-1": {"id": "minus", "labels": {"a": "3"}}}}"#;
    check(
        "eddy.test.Catalog",
        catalog,
        &[
            (r#"by_number["7"].id"#, &["seven"]),
            (r#"by_number["-1"].id"#, &["minus"]),
            (r#"by_number["8"].id"#, &[]),
            (r#"by_number["7"].labels["b"]"#, &["2"]),
            (r#"by_number["-1"].labels["b"]"#, &[]),
            ("by_number.key", &["7", "-1"]),
            ("by_number.value.labels.value", &["1", "2", "3"]),
        ],
    );
}

#[test]
fn the_last_value_counts_and_messages_are_merged() {
    // name "a", name "b"; address {city "x"}, address {street "y"}.
    let person = [&b"\x0a\x01a\x0a\x01b"[..], b"\x32\x03\x12\x01x", b"\x32\x03\x0a\x01y"].concat();
    check_bytes(
        "eddy.test.Person",
        &person,
        &[("name", &["b"]), ("address.city", &["x"]), ("address.street", &["y"])],
    );
    // An item whose id occurs twice is one item.
    let catalog = b"\x12\x06\x0a\x01a\x0a\x01b\x12\x03\x0a\x01c";
    check_bytes("eddy.test.Catalog", catalog, &[("items.id", &["b", "c"])]);
    // The last entry of a key replaces the one before, and is not merged with it.
    let entry = |value: &[u8]| {
        let content = [b"\x0a\x01k\x12", &[value.len() as u8][..], value].concat();
        [&[0x42, content.len() as u8][..], &content].concat()
    };
    let person = [entry(b"\x0a\x01s\x12\x01c"), entry(b"\x12\x01d")].concat();
    check_bytes(
        "eddy.test.Person",
        &person,
        &[(r#"places["k"].street"#, &[]), (r#"places["k"].city"#, &["d"])],
    );
}

#[test]
fn one_member_of_a_oneof_is_set() {
    let phone = b"\x2a\x01p";
    let address = b"\x32\x03\x12\x01x";
    let paths = |phone: &'static [&'static str], city: &'static [&'static str]| {
        [("phone", phone), ("address.city", city)]
    };
    check_bytes("eddy.test.Person", &[&phone[..], address].concat(), &paths(&[], &["x"]));
    check_bytes("eddy.test.Person", &[&address[..], phone].concat(), &paths(&["p"], &[]));
    // A member that is not extracted counts too.
    check_bytes("eddy.test.Person", &[&address[..], phone, b"\x38\x01"].concat(), &paths(&[], &[]));
    let friend = |content: &[u8]| [&[0xfa, 0x7f, content.len() as u8][..], content].concat();
    let friends = [friend(phone), friend(&[&phone[..], b"\x38\x01"].concat()), friend(b"\x2a\x01q")].concat();
    check_bytes("eddy.test.Person", &friends, &[("friends.phone", &["p", "q"])]);
}

#[test]
fn lists_are_packed_or_not() {
    // sizes: packed [1, 150], then 7 alone.
    let item = b"\x42\x03\x01\x96\x01\x40\x07";
    check_bytes("eddy.test.Item", item, &[("sizes", &["1", "150", "7"])]);
}

#[test]
fn map_keys_after_values_and_missing_keys() {
    let entry = |content: &[u8]| [&[0x5a, content.len() as u8][..], content].concat();
    let item = [entry(b"\x12\x01v\x0a\x01k"), entry(b"\x12\x01w"), entry(b"\x0a\x01e")].concat();
    check_bytes(
        "eddy.test.Item",
        &item,
        &[(r#"labels["k"]"#, &["v"]), (r#"labels[""]"#, &["w"]), (r#"labels["e"]"#, &[""])],
    );
}

#[test]
fn a_field_with_another_wire_type_is_unknown() {
    // name as a varint, age as bytes.
    check_bytes("eddy.test.Person", b"\x08\x05\x1a\x01x", &[("name", &[]), ("age", &[])]);
}

#[test]
fn spans_locate_values() {
    let schema = schema();
    let bytes = message(
        &schema,
        "eddy.test.Catalog",
        r#"{"name": "all", "items": [{"id": "first"}, {"id": "other"}]}"#,
    );
    let (program, slots) = extracting(&schema, "eddy.test.Catalog", &["items.id"]);
    let mut walk = MessageWalk::new(program, ProtobufLimits::default());
    let values = walk.extract(&bytes).unwrap();
    let found: Vec<&[u8]> =
        values.spans(slots[0]).map(|span| &bytes[span.offset as usize..][..span.length as usize]).collect();
    assert_eq!(found, [b"first", b"other"]);
    assert_eq!(values.get(slots[0]).unwrap().text(), Some("other"));
}

#[test]
fn malformed_messages_report_their_position() {
    let schema = schema();
    let (program, slots) = extracting(&schema, "eddy.test.Person", &["name", "address.city"]);
    let check = |bytes: &[u8], offset, kind| {
        let fault = run(&program, &slots, bytes).unwrap_err();
        assert_eq!((fault.offset, fault.kind), (offset, kind), "{bytes:x?}");
    };
    check(b"\x0a\x01a\x0a\x05ab", 3, ProtobufErrorKind::Truncated);
    check(b"\x0a\x01a\x00\x01", 3, ProtobufErrorKind::FieldNumber);
    check(b"\x0e\x01", 0, ProtobufErrorKind::WireType);
    check(b"\x0c", 0, ProtobufErrorKind::GroupEnd);
    check(b"\x0a\x02\xff\xfe", 2, ProtobufErrorKind::Utf8);
    check(b"\x32\x03\x12\x09x", 2, ProtobufErrorKind::PastEnd);
    check(b"\x32\x04\x12\x02\xc3\x28", 4, ProtobufErrorKind::Utf8);
    check(b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0, ProtobufErrorKind::VarintTooLong);
    check(b"\xa2\x06\xff\xff\xff\xff\x0f", 0, ProtobufErrorKind::LengthTooLarge);
    check(b"\xa3\x06\x08\x01\xac\x06", 4, ProtobufErrorKind::GroupEnd);
}

#[test]
fn every_truncation_is_refused_or_is_a_valid_message() {
    let schema = schema();
    let json = r#"{"name": "all", "owner": {"name": "Ann", "secret": "AQID", "places": {"k": {"city": "c"}}}, "items": [{"id": "1", "price": 1.5}]}"#;
    let bytes = message(&schema, "eddy.test.Catalog", json);
    let mut builder = ProgramBuilder::new(&schema, schema.find_message("eddy.test.Catalog").unwrap());
    builder.check_everywhere();
    let program = std::sync::Arc::new(builder.build().unwrap());
    let boundaries: Vec<usize> =
        (0..=bytes.len()).filter(|end| run(&program, &[], &bytes[..*end]).is_ok()).collect();
    // Only between fields of the outermost message.
    assert_eq!(boundaries.len(), 4, "{boundaries:?}");
}

#[test]
fn limits_are_enforced() {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message("eddy.test.Catalog").unwrap());
    let slot = builder.extract("items.tags").unwrap();
    let name = builder.extract("name").unwrap();
    builder.check_everywhere();
    let program = std::sync::Arc::new(builder.build().unwrap());
    let limits = ProtobufLimits { depth_max: 10, message_bytes_max: 1000, held_bytes_max: 20, items_max: 3 };
    let mut walk = MessageWalk::new(program, limits);
    let tags = |count: usize| {
        let item: Vec<u8> = std::iter::repeat_n(b"\x3a\x01t", count).flatten().copied().collect();
        [&[0x12, item.len() as u8][..], &item].concat()
    };
    assert_eq!(walk.extract(&tags(3)).unwrap().all(slot).len(), 3);
    assert_eq!(walk.extract(&tags(4)).unwrap_err().kind, ProtobufErrorKind::TooManyItems);
    assert_eq!(walk.extract(&[0; 1001]).unwrap_err().kind, ProtobufErrorKind::MessageTooLarge);
    let mut nested = Vec::new();
    for level in 0..10 {
        let result = walk.extract(&nested).map(|_| ()).map_err(|fault| fault.kind);
        assert_eq!(result, Ok(()), "level {level}");
        nested = [&[0xa2, 1, nested.len() as u8][..], &nested].concat();
    }
    assert_eq!(walk.extract(&nested).unwrap_err().kind, ProtobufErrorKind::DepthExceeded);
    let groups = [0xa3, 6].repeat(12);
    assert_eq!(walk.extract(&groups).unwrap_err().kind, ProtobufErrorKind::DepthExceeded);
    // A value in several pieces is buffered; one in a single piece is not, unless the message goes on.
    let long = [&[0x0a, 30][..], &[b'x'; 30]].concat();
    assert_eq!(walk.extract(&long).unwrap().get(name).unwrap().text().unwrap().len(), 30);
    walk.reset();
    walk.push(&long[..10]).unwrap_err();
}

#[test]
fn a_walk_is_reusable() {
    let schema = schema();
    let (program, slots) = extracting(&schema, "eddy.test.Person", &["name"]);
    let mut walk = MessageWalk::new(program, ProtobufLimits::default());
    assert_eq!(shown(&walk.extract(b"\x0a\x01a").unwrap(), &slots), [["a"]]);
    assert!(walk.extract(b"\x0a").is_err());
    assert_eq!(shown(&walk.extract(b"").unwrap(), &slots), [[""; 0]]);
    walk.push(b"\x0a").unwrap();
    walk.reset();
    walk.push(b"\x0a\x01b").unwrap();
    assert_eq!(shown(&walk.finish().unwrap(), &slots), [["b"]]);
    assert_eq!(walk.push(b"x").unwrap_err().kind, ProtobufErrorKind::Ended);
}

#[test]
fn paths_without_a_field_are_reported() {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message("eddy.test.Catalog").unwrap());
    let mut check = |path: &str, expected: &str| {
        assert_eq!(builder.extract(path).unwrap_err().to_string(), expected);
    };
    check("nobody", r#"path "nobody": message "eddy.test.Catalog" has no field "nobody""#);
    check("owner.x", r#"path "owner.x": message "eddy.test.Person" has no field "x""#);
    check(
        "name.x",
        r#"path "name.x": field "name" of "eddy.test.Catalog" is not a message, so it has no fields"#,
    );
    check(
        r#"name["x"]"#,
        r#"path "name["x"]": field "name" of "eddy.test.Catalog" is not a map, so it has no keys"#,
    );
    check(
        r#"by_number["x"]"#,
        r#"path "by_number["x"]": field "by_number" of "eddy.test.Catalog" has keys that are integers"#,
    );
    assert!(matches!(builder.extract("a..b"), Err(ProgramError::Syntax { at: 2, .. })));
}

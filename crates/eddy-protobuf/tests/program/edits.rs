//! Edits: dropped and masked fields, with correct lengths.

use std::sync::Arc;

use eddy_protobuf::{Mask, MessageEdit, MessageWalk, ProgramBuilder, ProtobufLimits, WalkProgram};

use super::{json, message, schema};

/// Returns the program of some edits.
fn editing(name: &str, edits: &[(&str, MessageEdit)]) -> Arc<WalkProgram> {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message(name).unwrap());
    edits.iter().for_each(|(path, edit)| builder.edit(path, edit).unwrap());
    Arc::new(builder.build().unwrap())
}

/// Edits a message as a whole and in pieces of all sizes; the results must agree.
fn rewrite(program: &Arc<WalkProgram>, message: &[u8]) -> Vec<u8> {
    let mut walk = MessageWalk::new(program.clone(), ProtobufLimits::default());
    let mut whole = Vec::new();
    walk.rewrite(message, &mut whole).unwrap();
    for step in 1..=message.len() {
        walk.reset();
        message.chunks(step).for_each(|piece| walk.push(piece).unwrap());
        walk.finish().unwrap();
        let mut out = Vec::new();
        walk.write(&mut out);
        assert_eq!(out, whole, "by {step}");
        if program.is_streamable() {
            walk.reset();
            let mut out = Vec::new();
            message.chunks(step).for_each(|piece| walk.push_masked(piece, &mut out).unwrap());
            walk.finish().unwrap();
            assert_eq!(out, whole, "masked by {step}");
        }
    }
    whole
}

fn check(name: &str, edits: &[(&str, MessageEdit)], before: &str, after: &str) {
    let schema = schema();
    let program = editing(name, edits);
    let rewritten = rewrite(&program, &message(&schema, name, before));
    let expected = json(&schema, name, &message(&schema, name, after));
    assert_eq!(json(&schema, name, &rewritten), expected);
}

const SAME: MessageEdit = MessageEdit::Mask(Mask::SameLength);

fn text(text: &str) -> MessageEdit {
    MessageEdit::Mask(Mask::Text(text.to_owned()))
}

#[test]
fn fields_are_dropped() {
    check(
        "eddy.test.Person",
        &[("email", MessageEdit::Drop)],
        r#"{"name": "a", "email": "b"}"#,
        r#"{"name": "a"}"#,
    );
    check(
        "eddy.test.Catalog",
        &[
            ("owner.address.city", MessageEdit::Drop),
            ("items.tags", MessageEdit::Drop),
            ("items.size", MessageEdit::Drop),
        ],
        r#"{"owner": {"name": "Ann", "address": {"city": "Ulm", "street": "s"}},
            "items": [{"id": "1", "tags": ["a", "b"], "size": {"width": 1}}, {"tags": ["c"]}]}"#,
        r#"{"owner": {"name": "Ann", "address": {"street": "s"}}, "items": [{"id": "1"}, {}]}"#,
    );
}

#[test]
fn lengths_of_several_bytes_change() {
    let long = "x".repeat(20_000);
    let catalog = |kept: &str, secret: &str| {
        format!(r#"{{"parent": {{"parent": {{"owner": {{"name": "{kept}"{secret}}}}}}}, "name": "n"}}"#)
    };
    check(
        "eddy.test.Catalog",
        &[("parent.parent.owner.email", MessageEdit::Drop)],
        &catalog("Ann", &format!(r#", "email": "{}""#, "y".repeat(200))),
        &catalog("Ann", ""),
    );
    let schema = schema();
    let program = editing("eddy.test.Catalog", &[("parent.parent.owner.name", text("-"))]);
    let bytes = message(&schema, "eddy.test.Catalog", &catalog(&long, ""));
    let mut out = Vec::new();
    MessageWalk::new(program, ProtobufLimits::default()).rewrite(&bytes, &mut out).unwrap();
    assert_eq!(
        json(&schema, "eddy.test.Catalog", &out).len(),
        catalog("-", "").replace(": ", ":").replace(", ", ",").len()
    );
    let grown = editing("eddy.test.Catalog", &[("parent.parent.owner.name", text(&long))]);
    let small = message(&schema, "eddy.test.Catalog", &catalog("-", ""));
    assert_eq!(rewrite(&grown, &small), bytes);
}

#[test]
fn values_are_masked_with_their_length() {
    check(
        "eddy.test.Person",
        &[("name", SAME), ("secret", SAME), ("age", SAME), ("key", SAME), ("ratio", SAME), ("score", SAME)],
        r#"{"name": "Ann é", "secret": "AQID", "age": 70000, "key": "5", "ratio": 1.5, "score": -1, "email": "e"}"#,
        r#"{"name": "******", "secret": "AAAA", "score": 0, "email": "e"}"#,
    );
    check("eddy.test.Item", &[("sizes", SAME)], r#"{"sizes": [1, 300, 5]}"#, r#"{"sizes": [0, 0, 0]}"#);
    check(
        "eddy.test.Catalog",
        &[("items.labels.value", SAME)],
        r#"{"items": [{"labels": {"k": "abc"}}]}"#,
        r#"{"items": [{"labels": {"k": "***"}}]}"#,
    );
}

#[test]
fn entries_are_edited_by_key() {
    let before =
        r#"{"places": {"home": {"city": "Ulm", "street": "s"}, "work": {"city": "Bern", "street": "t"}}}"#;
    check(
        "eddy.test.Person",
        &[(r#"places["home"]"#, MessageEdit::Drop)],
        before,
        r#"{"places": {"work": {"city": "Bern", "street": "t"}}}"#,
    );
    check(
        "eddy.test.Person",
        &[
            (r#"places["home"].city"#, text("a much longer city")),
            (r#"places["work"].street"#, MessageEdit::Drop),
        ],
        before,
        r#"{"places": {"home": {"city": "a much longer city", "street": "s"}, "work": {"city": "Bern"}}}"#,
    );
    check(
        "eddy.test.Item",
        &[(r#"labels["k"]"#, SAME)],
        r#"{"labels": {"k": "abc", "l": "def"}}"#,
        r#"{"labels": {"k": "***", "l": "def"}}"#,
    );
}

#[test]
fn edits_reach_messages_at_any_depth() {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message("eddy.test.Catalog").unwrap());
    builder
        .edit_everywhere(|message, field| {
            let is_private =
                &*message.name == "eddy.test.Person" && matches!(&*field.name, "email" | "secret");
            is_private.then_some(MessageEdit::Drop)
        })
        .unwrap();
    let program = Arc::new(builder.build().unwrap());
    let catalog = |private: &str| {
        format!(
            r#"{{"name": "c", "owner": {{"name": "a"{private}, "friends": [{{"name": "b"{private}}}, {{"friends": [{{"name": "d"{private}}}]}}]}},
                "parent": {{"owner": {{"age": 5{private}}}}}}}"#
        )
    };
    let before = message(&schema, "eddy.test.Catalog", &catalog(r#", "email": "x", "secret": "AQ==""#));
    let after = json(&schema, "eddy.test.Catalog", &rewrite(&program, &before));
    assert_eq!(
        after,
        json(&schema, "eddy.test.Catalog", &message(&schema, "eddy.test.Catalog", &catalog("")))
    );
}

#[test]
fn unknown_fields_and_groups_are_kept() {
    let program = editing("eddy.test.Person", &[("name", MessageEdit::Drop)]);
    // A group 100 that contains a field 1, which is not the name; then the name, then field 101.
    let before = b"\xa3\x06\x0a\x01x\xa4\x06\x0a\x01n\xa8\x06\x05";
    assert_eq!(rewrite(&program, before), b"\xa3\x06\x0a\x01x\xa4\x06\xa8\x06\x05");
}

#[test]
fn invalid_edits_are_reported() {
    let schema = schema();
    let mut builder = ProgramBuilder::new(&schema, schema.find_message("eddy.test.Person").unwrap());
    let mut check = |path: &str, edit: &MessageEdit, expected: &str| {
        let problem = builder.edit(path, edit).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    };
    check("address", &SAME, "is a message, which can't be masked");
    check("places", &SAME, "is a map, which can't be masked");
    check("age", &text("x"), "is not a string or bytes");
}

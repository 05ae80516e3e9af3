//! Messages from request bodies.

use crate::{frames, library, messages, route, values};

#[track_caller]
fn check(method: &str, target: &str, body: &str, expected: &[&str]) {
    let found = messages(&library(), method, target, body).unwrap();
    assert_eq!(values(&found), values(expected), "{target} {body}");
}

#[track_caller]
fn refused(method: &str, target: &str, body: &str, expected: &str) {
    assert_eq!(messages(&library(), method, target, body).unwrap_err(), expected, "{target} {body}");
}

#[test]
fn a_body_maps_to_the_message_a_field_or_nothing() {
    let create = "/v1/shelves/1/books?book_id=7";
    check(
        "POST",
        create,
        r#"{"title":"T"}"#,
        &[r#"{"book":{"title":"T"},"bookId":"7","parent":"shelves/1"}"#],
    );
    check("POST", create, " null ", &[r#"{"bookId":"7","parent":"shelves/1"}"#]);
    check("POST", create, "", &[r#"{"bookId":"7","parent":"shelves/1"}"#]);
    check(
        "PUT",
        "/v1/shelves/1/books/2/tags",
        r#"["a", "b"] "#,
        &[r#"{"tags":["a","b"],"name":"shelves/1/books/2"}"#],
    );
    check("DELETE", "/v1/shelves/1/books/2", " \n", &[r#"{"name":"shelves/1/books/2"}"#]);
    check("POST", "/v1/shelves/1/books/2:move", "", &[r#"{"name":"shelves/1/books/2"}"#]);
}

#[test]
fn path_variables_override_the_body() {
    let moved = r#"{"otherShelf":"s","name":"shelves/1/books/2"}"#;
    check("POST", "/v1/shelves/1/books/2:move", r#"{"name":"evil","otherShelf":"s"}"#, &[moved]);
    let updated = r#"{"book":{"title":"T","name":"shelves/1/books/2"}}"#;
    check("PATCH", "/v1/shelves/1/books/2", r#"{"title":"T","name":"evil"}"#, &[updated]);
}

#[test]
fn a_body_is_exactly_one_value() {
    for body in [r#"{"title":"T"},"bookId":"evil""#, r#"{"title":"T"}}"#, "{} {}", "{},{}", "{}x"] {
        let refused = messages(&library(), "POST", "/v1/shelves/1/books", body).unwrap_err();
        assert!(refused.starts_with("unexpected input after the end of the value"), "{body}: {refused}");
    }
    refused(
        "PUT",
        "/v1/shelves/1/books/2/tags",
        r#"["a"],"name":"x""#,
        "unexpected input after the end of the value at byte 5",
    );
    refused(
        "DELETE",
        "/v1/shelves/1/books/2",
        " {}",
        "unexpected input after the end of the value at byte 1",
    );
    refused("POST", "/v1/shelves/1/books", r#"{"title":"#, "the input ends within a value at byte 9");
    refused(
        "POST",
        "/v1/shelves/1/books",
        r#"{"titel":1}"#,
        "the message has no field of this name at byte 1",
    );
    refused("POST", "/v1/shelves/1/books", r#"{"title":"","title":""}"#, "duplicate field or key at byte 12");
    let long = format!(r#"{{"title":"{}"}}"#, "x".repeat(1000));
    let refused = messages(&library(), "POST", "/v1/shelves/1/books", &long).unwrap_err();
    assert!(refused.starts_with("the message is too large"), "{refused}");
}

#[test]
fn a_stream_is_an_array_or_newline_delimited_messages() {
    let import = "/v1/books:import";
    let books = [r#"{"title":"a"}"#, "{}", r#"{"title":"b"}"#];
    check("POST", import, r#" [ {"title":"a"} , {} ,{"title":"b"}] "#, &books);
    check("POST", import, "{\"title\":\"a\"}\n{}\r\n\n{\"title\":\"b\"}", &books);
    check("POST", import, r#"{"title":"a"}{}{"title":"b"}"#, &books);
    for nothing in ["", " ", "[]", " [ ] "] {
        check("POST", import, nothing, &[]);
    }
    check(
        "POST",
        "/v1/rooms/a/b",
        r#"[{"text":"x"},{"room":"evil"}]"#,
        &[r#"{"text":"x","room":"rooms/a/b"}"#, r#"{"room":"rooms/a/b"}"#],
    );
    for (bad, expected) in [
        ("[", "the input ends within a value at byte 1"),
        ("[{}", "the input ends within a value at byte 3"),
        ("[{},", "the input ends within a value at byte 4"),
        ("[{},]", "invalid JSON at byte 4"),
        ("[{} {}]", "invalid JSON at byte 4"),
        ("[{}]{}", "unexpected input after the end of the value at byte 4"),
        ("[{}] x", "unexpected input after the end of the value at byte 5"),
        ("{}]", "invalid JSON at byte 2"),
        ("[[]]", "a value is not of the field's type at byte 1"),
        (r#"[{},{"titel":1}]"#, "the message has no field of this name at byte 5"),
    ] {
        refused("POST", import, bad, expected);
    }
}

#[test]
fn path_variables_do_not_amplify_a_small_body() {
    // Each `{}` would become a message with all fields of the path.
    let target = format!("/v1/rooms/{}", "x".repeat(100));
    let index = library();
    let made = |body: &[u8]| frames(&index, route(&index, "POST", &target), (&target, ""), &[body]);
    assert_eq!(made(&b"{}".repeat(8)).map(|messages| messages.len()), Ok(8));
    let refused = made(&b"{}".repeat(100)).unwrap_err();
    assert!(refused.starts_with("the message is too large"), "{refused}");
}

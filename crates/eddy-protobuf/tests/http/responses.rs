//! JSON of responses.

use std::sync::Arc;

use eddy_protobuf::{
    CallResponse, EnumForm, Frames, FromJson, FromJsonOptions, JsonFieldNaming, ProtobufError,
    ProtobufErrorKind, ProtobufLimits, RpcStatus, StreamForm, ToJsonOptions,
};

use crate::{library, route};

/// Returns the JSON of messages, given as JSON; they are passed as a whole and in pieces, which must agree.
fn json(
    method: &str,
    path: &str,
    form: StreamForm,
    options: ToJsonOptions,
    messages: &[&str],
) -> Result<String, ProtobufError> {
    let index = library();
    let route = route(&index, method, path);
    let mut reader = FromJson::new(
        Arc::clone(index.schema()),
        route.output,
        FromJsonOptions::default(),
        ProtobufLimits::default(),
    );
    let mut body = Vec::new();
    for message in messages {
        let message = reader.convert(message.as_bytes()).unwrap();
        body.extend_from_slice(&Frames::head(u32::try_from(message.len()).unwrap(), false));
        body.extend_from_slice(message);
    }
    let made = |step: usize| {
        let mut response = CallResponse::new(&index, route, options, form, ProtobufLimits::default());
        let mut out = Vec::new();
        body.chunks(step).try_for_each(|piece| response.push(piece, &mut out))?;
        response.finish(&mut out).map(|()| String::from_utf8(out).unwrap())
    };
    let whole = made(body.len().max(1));
    for step in [1, 2, 5] {
        assert_eq!(made(step), whole, "{path} by {step}");
    }
    whole
}

const BOOK: &str = "/v1/shelves/1/books/2";
const WATCH: &str = "/v1/shelves/1/books:watch";

#[test]
fn a_message_is_an_object_formatted_by_its_options() {
    let book = r#"{"name":"n","copies":"3","kind":"KIND_ATLAS"}"#;
    let check = |options, expected: &str| {
        assert_eq!(json("GET", BOOK, StreamForm::Array, options, &[book]).unwrap(), expected);
    };
    let plain = ToJsonOptions::default();
    check(plain, r#"{"name":"n","copies":"3","kind":"KIND_ATLAS"}"#);
    check(ToJsonOptions { enums: EnumForm::Numbers, ..plain }, r#"{"name":"n","copies":"3","kind":2}"#);
    assert_eq!(
        json(
            "GET",
            WATCH,
            StreamForm::Array,
            ToJsonOptions { names: JsonFieldNaming::Declared, ..plain },
            &[r#"{"paperGrams":1}"#]
        )
        .unwrap(),
        r#"[{"paper_grams":1}]"#
    );
    assert_eq!(json("DELETE", BOOK, StreamForm::Array, plain, &["{}"]).unwrap(), "{}");
}

#[test]
fn one_field_can_be_the_response_body() {
    let pages = |message: &str| {
        json("GET", &format!("{BOOK}/pages"), StreamForm::Array, ToJsonOptions::default(), &[message])
            .unwrap()
    };
    assert_eq!(
        pages(r#"{"title":"\"pages\":","pages":[{"number":1,"text":"]}"}],"tags":["pages"]}"#),
        r#"[{"number":1,"text":"]}"}]"#
    );
    assert_eq!(pages("{}"), "[]");
}

#[test]
fn a_stream_has_the_requested_form() {
    let two = [r#"{"title":"a\nb"}"#, "{}"];
    let check = |form, messages: &[&str], expected: &str| {
        assert_eq!(json("GET", WATCH, form, ToJsonOptions::default(), messages).unwrap(), expected);
    };
    check(StreamForm::Array, &two, r#"[{"title":"a\nb"},{}]"#);
    check(StreamForm::Array, &[], "[]");
    check(StreamForm::Lines, &two, "{\"title\":\"a\\nb\"}\n{}\n");
    check(StreamForm::Lines, &[], "");
    check(StreamForm::Events, &two, "data: {\"title\":\"a\\nb\"}\n\ndata: {}\n\n");
}

#[test]
fn an_unexpected_number_of_messages_is_a_fault() {
    for messages in [&[][..], &["{}", "{}"]] {
        let fault = json("GET", BOOK, StreamForm::Array, ToJsonOptions::default(), messages).unwrap_err();
        assert_eq!(fault.kind, ProtobufErrorKind::MessageCount);
    }
}

#[test]
fn a_failed_stream_ends_with_its_status() {
    let index = library();
    let route = route(&index, "GET", WATCH);
    let status = RpcStatus::new(14, "gone").to_json(
        index.schema(),
        ToJsonOptions::default(),
        ProtobufLimits::default(),
    );
    for (form, first, expected) in [
        (StreamForm::Array, true, r#"[{},{"error":{"code":14,"message":"gone"}}]"#),
        (StreamForm::Array, false, r#"[{"error":{"code":14,"message":"gone"}}]"#),
        (StreamForm::Lines, true, "{}\n{\"error\":{\"code\":14,\"message\":\"gone\"}}\n"),
        (StreamForm::Events, false, "event: error\ndata: {\"error\":{\"code\":14,\"message\":\"gone\"}}\n\n"),
    ] {
        let mut response =
            CallResponse::new(&index, route, ToJsonOptions::default(), form, ProtobufLimits::default());
        let mut out = Vec::new();
        if first {
            response.push(&[0; 5], &mut out).unwrap();
        }
        response.finish_failed(&status, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn a_large_message_is_written_incrementally() {
    let index = library();
    let route = route(&index, "GET", BOOK);
    let limits = ProtobufLimits { held_bytes_max: 1000, ..ProtobufLimits::default() };
    let mut response = CallResponse::new(&index, route, ToJsonOptions::default(), StreamForm::Array, limits);
    let title = "x".repeat(100_000);
    // Field 2 with a three-byte length.
    let message = [&[0x12, 0xa0, 0x8d, 0x06][..], title.as_bytes()].concat();
    let body = [&Frames::head(u32::try_from(message.len()).unwrap(), false)[..], &message].concat();
    let (mut out, mut most) = (Vec::new(), 0);
    let mut all = String::new();
    for piece in body.chunks(2000) {
        response.push(piece, &mut out).unwrap();
        most = most.max(out.len());
        all.push_str(std::str::from_utf8(&out).unwrap());
        out.clear();
    }
    response.finish(&mut out).unwrap();
    assert!(most < 5000, "{most}");
    assert_eq!(all, format!(r#"{{"title":"{title}"}}"#));
}

#[test]
fn statuses_are_written_with_their_details() {
    let schema = Arc::clone(library().schema());
    let check = |message: &str, details: Option<&str>, expected: &str| {
        let status = RpcStatus::from_trailers(b"5", Some(message.as_bytes()), details.map(str::as_bytes));
        assert_eq!(status.http_status(), 404);
        let json = status.to_json(&schema, ToJsonOptions::default(), ProtobufLimits::default());
        assert_eq!(String::from_utf8(json).unwrap(), expected);
    };
    check("no%20%22book%22 %zz%", None, r#"{"code":5,"message":"no \"book\" %zz%"}"#);
    // A google.rpc.ErrorInfo, which the schema does not have.
    let info = "CAUSBG5vcGUaTAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIgCgdNSVNTSU5HEgxsaWJyYXJ5LnRlc3QaBwoBaxICdjE";
    let expected = r#"{"code":5,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"MISSING","domain":"library.test","metadata":{"k":"v1"}}]}"#;
    check("m", Some(info), expected);
    // Unknown types, and invalid details.
    check(
        "m",
        Some("GgsKBXgveS5aEgIIAQ=="),
        r#"{"code":5,"message":"m","details":[{"@type":"x/y.Z","value":"CAE="}]}"#,
    );
    for bad in ["", "***", "/////w", "GgsK"] {
        check("m", Some(bad), r#"{"code":5,"message":"m"}"#);
    }
    assert_eq!(RpcStatus::from_trailers(b"x", None, None).code, 2);
    let codes = (0..18).map(|code| RpcStatus::new(code, "").http_status()).collect::<Vec<_>>();
    assert_eq!(
        codes,
        [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401, 500]
    );
}

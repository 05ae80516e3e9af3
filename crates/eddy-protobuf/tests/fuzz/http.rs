//! Properties that hold for any request and response with JSON.

use std::sync::{Arc, LazyLock};

use eddy_protobuf::{
    CallRequest, CallResponse, Compressed, FrameEvent, Frames, FromJson, FromJsonOptions, HttpIndex,
    HttpIndexOptions, HttpRoute, HttpRouteLookup, ProtobufLimits, Schema, StreamForm, ToJson, ToJsonOptions,
};

const LIMITS: ProtobufLimits =
    ProtobufLimits { depth_max: 100, message_bytes_max: 65_536, held_bytes_max: 65_536, items_max: 1024 };

static INDEX: LazyLock<HttpIndex> = LazyLock::new(|| {
    let descriptors = include_bytes!("../../../../examples/transcoding/library.binpb");
    let schema = Schema::from_descriptors(descriptors).expect("the descriptors are sound");
    HttpIndex::new(Arc::new(schema), HttpIndexOptions::default()).expect("the rules are sound")
});

/// Result of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No method matches.
    Unknown,
    /// It is invalid for the method.
    Refused,
    /// It was converted.
    Taken,
}

/// Input: a line with method and target, then a body. The result must be the same as a whole and in pieces, and the
/// messages must survive the conversion to JSON and back.
pub(crate) fn request(data: &[u8]) -> Fate {
    let (line, body) = split(data, b'\n');
    let (method, target) = split(line, b' ');
    let at = split(target, b'?');
    let Ok(method) = std::str::from_utf8(method) else { return Fate::Unknown };
    let HttpRouteLookup::Route(route) = INDEX.find(method, at.0) else { return Fate::Unknown };
    let whole = frames(route, at, body, body.len());
    for step in [1, 3, 7] {
        assert_eq!(frames(route, at, body, step), whole, "cut every {step} bytes");
    }
    let Some(whole) = whole else { return Fate::Refused };
    let mut write = ToJson::new(
        Arc::clone(INDEX.schema()),
        route.input,
        ToJsonOptions::default(),
        ProtobufLimits::default(),
    );
    let mut read = FromJson::new(
        Arc::clone(INDEX.schema()),
        route.input,
        FromJsonOptions::default(),
        ProtobufLimits::default(),
    );
    for message in messages(&whole) {
        let json = write.convert(&message).expect("it was made of JSON").to_vec();
        let back = read.convert(&json).expect("it is JSON").to_vec();
        assert_eq!(write.convert(&back).expect("it was made of JSON"), json);
    }
    Fate::Taken
}

/// Input: a byte that selects a method and a form, then a response body. The output must be valid JSON, the same as a
/// whole and in pieces.
pub(crate) fn response(data: &[u8]) -> Fate {
    let Some((choice, body)) = data.split_first() else { return Fate::Unknown };
    let (path, form) = (PATHS[usize::from(choice % 3)], FORMS[usize::from(choice / 3 % 3)]);
    let HttpRouteLookup::Route(route) = INDEX.find("GET", path) else { return Fate::Unknown };
    let made = |step: usize| {
        let mut response = CallResponse::new(&INDEX, route, ToJsonOptions::default(), form, LIMITS);
        let mut out = Vec::new();
        body.chunks(step.max(1)).try_for_each(|piece| response.push(piece, &mut out)).ok()?;
        response.finish(&mut out).ok()?;
        Some(out)
    };
    let whole = made(body.len());
    for step in [1, 3, 7] {
        let pieces = made(step);
        assert_eq!(pieces.is_some(), whole.is_some(), "cut every {step} bytes");
        pieces.into_iter().for_each(|json| check_json(route, form, &json));
    }
    whole.map_or(Fate::Refused, |json| {
        check_json(route, form, &json);
        Fate::Taken
    })
}

fn check_json(route: &HttpRoute, form: StreamForm, json: &[u8]) {
    let is_json = |json: &[u8]| serde_json::from_slice::<serde_json::Value>(json).is_ok();
    let is_right = match form {
        StreamForm::Lines if route.is_server_streaming => {
            json.split_inclusive(|byte| *byte == b'\n').all(is_json)
        }
        StreamForm::Events if route.is_server_streaming => {
            let text = String::from_utf8_lossy(json);
            let mut events = text.split_terminator("\n\n");
            events.all(|event| event.strip_prefix("data: ").is_some_and(|json| is_json(json.as_bytes())))
        }
        StreamForm::Array | StreamForm::Lines | StreamForm::Events => is_json(json),
    };
    assert!(is_right, "{}", String::from_utf8_lossy(json));
}

fn frames(route: &HttpRoute, at: (&[u8], &[u8]), body: &[u8], step: usize) -> Option<Vec<u8>> {
    let mut request = CallRequest::new(&INDEX, route, at, FromJsonOptions::default(), LIMITS).ok()?;
    let (mut out, mut all) = (Vec::new(), Vec::new());
    for piece in body.chunks(step.max(1)) {
        request.push(piece, &mut out).ok()?;
        all.append(&mut out);
    }
    request.finish(&mut out).ok()?;
    all.append(&mut out);
    Some(all)
}

fn messages(frames: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = Frames::new(Compressed::Refuse, &LIMITS);
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let mut rest = frames;
    while let Some(event) = reader.next(&mut rest).expect("frames were written") {
        match event {
            FrameEvent::Start { .. } => messages.push(Vec::new()),
            FrameEvent::Data(data) => messages.last_mut().expect("it has begun").extend_from_slice(data),
            FrameEvent::End => {}
        }
    }
    reader.finish().expect("frames are whole");
    messages
}

fn split(bytes: &[u8], mark: u8) -> (&[u8], &[u8]) {
    let at = bytes.iter().position(|byte| *byte == mark);
    at.map_or((bytes, &[]), |at| (&bytes[..at], &bytes[at + 1..]))
}

const PATHS: [&[u8]; 3] =
    [b"/v1/shelves/1/books/2", b"/v1/shelves/1/books:watch", b"/v1/shelves/1/books/2/pages"];
const FORMS: [StreamForm; 3] = [StreamForm::Array, StreamForm::Lines, StreamForm::Events];

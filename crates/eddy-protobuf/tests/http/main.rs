//! HTTP mapping of methods: lookup of the method, its request messages, its responses.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod bodies;
mod descriptors;
mod mutated;
mod requests;
mod responses;
mod rules;

use std::sync::Arc;

use eddy_protobuf::{
    CallRequest, FrameEvent, Frames, FromJsonOptions, HttpIndex, HttpIndexOptions, HttpRoute,
    HttpRouteLookup, ProtobufLimits, Schema, ToJson, ToJsonOptions,
};

/// Returns the methods of `examples/transcoding/library.proto`.
fn library() -> HttpIndex {
    library_with(HttpIndexOptions::default())
}

fn library_with(options: HttpIndexOptions) -> HttpIndex {
    let descriptors = include_bytes!("../../../../examples/transcoding/library.binpb");
    HttpIndex::new(Arc::new(Schema::from_descriptors(descriptors).unwrap()), options).unwrap()
}

fn route<'i>(index: &'i HttpIndex, method: &str, path: &str) -> &'i Arc<HttpRoute> {
    match index.find(method, path.as_bytes()) {
        HttpRouteLookup::Route(route) => route,
        other @ (HttpRouteLookup::Methods(_) | HttpRouteLookup::None) => panic!("{method} {path}: {other:?}"),
    }
}

/// Returns the messages of a request as JSON, or the error; the body is passed as a whole and in pieces, which must
/// agree.
fn messages(index: &HttpIndex, method: &str, target: &str, body: &str) -> Result<Vec<String>, String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let route = route(index, method, path);
    let whole = frames(index, route, (path, query), &[body.as_bytes()]);
    for step in [1, 2, 3, 7] {
        let pieces: Vec<&[u8]> = body.as_bytes().chunks(step).collect();
        assert_eq!(frames(index, route, (path, query), &pieces), whole, "{target} by {step}: {body}");
    }
    let mut json = ToJson::new(
        Arc::clone(index.schema()),
        route.input,
        ToJsonOptions::default(),
        ProtobufLimits::default(),
    );
    let text = |message: &Vec<u8>| String::from_utf8(json.convert(message).unwrap().to_vec()).unwrap();
    whole.map(|messages| messages.iter().map(text).collect())
}

/// Parses JSON, whose members have no order.
fn values<T: AsRef<str>>(texts: &[T]) -> Vec<serde_json::Value> {
    texts.iter().map(|text| serde_json::from_str(text.as_ref()).unwrap()).collect()
}

fn frames(
    index: &HttpIndex,
    route: &HttpRoute,
    (path, query): (&str, &str),
    pieces: &[&[u8]],
) -> Result<Vec<Vec<u8>>, String> {
    let at = (path.as_bytes(), query.as_bytes());
    let limits = ProtobufLimits { message_bytes_max: 1000, ..ProtobufLimits::default() };
    let request = CallRequest::new(index, route, at, FromJsonOptions::default(), limits);
    let mut request = request.map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    let mut messages = Vec::new();
    let mut frames = Frames::new(eddy_protobuf::Compressed::Refuse, &limits);
    let mut made = pieces.iter().try_for_each(|piece| {
        request.push(piece, &mut out)?;
        take(&mut frames, &mut out, &mut messages);
        Ok(())
    });
    made = made.and_then(|()| request.finish(&mut out));
    take(&mut frames, &mut out, &mut messages);
    made.map(|()| messages).map_err(|fault: eddy_protobuf::ProtobufError| fault.to_string())
}

fn take(frames: &mut Frames, out: &mut Vec<u8>, messages: &mut Vec<Vec<u8>>) {
    let mut rest = out.as_slice();
    while let Some(event) = frames.next(&mut rest).unwrap() {
        match event {
            FrameEvent::Start { .. } => messages.push(Vec::new()),
            FrameEvent::Data(data) => messages.last_mut().unwrap().extend_from_slice(data),
            FrameEvent::End => {}
        }
    }
    out.clear();
}

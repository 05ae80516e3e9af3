use std::sync::Arc;

use eddy_filter::{FilterLibrary, LoadError, LoadResult, Phase, Verdict};

use super::*;
use crate::tests::support::{TestExchange, TestFilterResult, TestServices, context, enter_piece};
use crate::{BuiltinConfig, make};

const LIBRARY: &[u8] = include_bytes!("../../../../examples/transcoding/library.binpb");

fn try_made(change: impl FnOnce(&mut GrpcJsonConfig), file: &[u8]) -> LoadResult<Arc<dyn FilterLibrary>> {
    let mut config = GrpcJsonConfig::new("library.binpb".into());
    change(&mut config);
    let services = TestServices::with_file("library.binpb", file);
    make(&BuiltinConfig::GrpcJson(config), &context(1, services).0).map(|(library, _)| library)
}

fn made() -> Arc<dyn FilterLibrary> {
    try_made(|_| {}, LIBRARY).unwrap()
}

fn request(line: &str) -> TestExchange {
    let mut stage = TestExchange::request(&format!("{line} HTTP/1.1\nhost: a"));
    stage.is_end = true;
    stage
}

fn with_body(line: &str, kind: &str) -> TestExchange {
    TestExchange::request(&format!(
        "{line} HTTP/1.1\nhost: a\ncontent-type: {kind}\ntransfer-encoding: chunked"
    ))
}

/// Starts a call whose response has this head.
fn answered(library: &dyn FilterLibrary, line: &str, head: &str) -> (TestExchange, TestFilterResult) {
    let mut stage = request(line);
    assert_eq!(stage.enter(library, Phase::RequestHead).verdict, Verdict::Continue);
    let mut stage = stage.response(head);
    stage.is_end = false;
    let said = stage.enter(library, Phase::ResponseHead);
    (stage, said)
}

const GRPC: &str = "HTTP/1.1 200 OK\ncontent-type: application/grpc+proto\ntransfer-encoding: chunked";
/// Message for a shelf with the theme `x`.
const SHELF: &[u8] = b"\x00\x00\x00\x00\x03\x12\x01x";

#[test]
fn a_request_becomes_a_grpc_call() {
    let library = made();
    let mut stage = request("GET /v1/shelves/1?");
    let said = stage.enter(&*library, Phase::RequestHead);
    assert_eq!(said.verdict, Verdict::Continue);
    assert_eq!(
        said.edits,
        [
            "method POST",
            "target /library.v1.Library/GetShelf",
            "set content-type: application/grpc",
            "set te: trailers",
            "set grpc-accept-encoding: identity",
            "remove accept-encoding",
            "remove content-length",
            "body \\x00\\x00\\x00\\x00\\x0b\\n\\tshelves/1",
        ]
    );
}

#[test]
fn requests_without_a_grpc_method_pass_unchanged() {
    let library = made();
    for line in ["GET /v2", "POST /v1/shelves/1", "HEAD /v1/shelves/1"] {
        let mut stage = request(line);
        let said = stage.enter(&*library, Phase::RequestHead);
        assert_eq!((said.verdict, said.edits.len(), stage.state), (Verdict::Continue, 0, 0), "{line}");
        let said = stage.response(GRPC).enter(&*library, Phase::ResponseHead);
        assert_eq!((said.verdict, said.edits.len()), (Verdict::Continue, 0), "{line}");
    }
    for kind in ["application/grpc", "application/grpc+proto", "application/grpc;x=y"] {
        let mut stage = with_body("POST /v1/shelves/1/books", kind);
        assert_eq!(stage.enter(&*library, Phase::RequestHead).edits.len(), 0, "{kind}");
    }
    let library = try_made(|config| config.unknown_requests = UnknownRequests::Refuse, LIBRARY).unwrap();
    let said = request("GET /v2").enter(&*library, Phase::RequestHead);
    assert_eq!(said.edits, ["reply 404 grpc_json", "reply field content-type: application/json"]);
    let said = request("POST /v1/shelves/1").enter(&*library, Phase::RequestHead);
    assert_eq!(
        said.edits,
        ["reply 405 grpc_json", "reply field content-type: application/json", "reply field allow: GET",]
    );
}

#[test]
fn invalid_requests_are_refused_before_they_are_forwarded() {
    let library = made();
    let refused = |line: &str, kind: &str, status: u16| {
        let said = with_body(line, kind).enter(&*library, Phase::RequestHead);
        said.assert_has(&format!("reply {status} grpc_json"));
        assert_eq!(said.verdict, Verdict::Reply);
    };
    request("GET /v1/shelves/1?x=1").enter(&*library, Phase::RequestHead).assert_has("reply 400 grpc_json");
    refused("POST /v1/shelves/1/books", "text/plain", 415);
    refused("POST /v1/shelves/1/books", "application/grpc-web", 415);
    refused("POST /v1/shelves/1/books", "application/x-ndjson", 415);
    refused("POST /v1/shelves/1/books", "application/json\ncontent-encoding: gzip", 415);
    for (piece, status) in [("{\"titel\":1}", 400), ("{}{}", 400), ("{", 400)] {
        let mut stage = with_body("POST /v1/shelves/1/books", "application/json; charset=utf-8");
        assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Hold);
        let said = enter_piece(&mut stage, &*library, Phase::RequestBody, piece.as_bytes(), true);
        assert_eq!(said.verdict, Verdict::Reply, "{piece}");
        said.assert_has(&format!("reply {status} grpc_json"));
    }
    let small = try_made(|config| config.message_bytes_max = 20, LIBRARY).unwrap();
    let mut stage = with_body("POST /v1/shelves/1/books", "application/json");
    assert_eq!(stage.enter(&*small, Phase::RequestHead).verdict, Verdict::Hold);
    let said =
        enter_piece(&mut stage, &*small, Phase::RequestBody, b"{\"title\":\"more than twenty bytes\"}", true);
    said.assert_has("reply 413 grpc_json");
}

#[test]
fn the_request_head_waits_for_its_message_and_the_stream_follows() {
    let library = made();
    let mut stage = with_body("PATCH /v1/shelves/1/books/2", "application/merge-patch+json");
    assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Hold);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"{\"copies\":", false);
    assert_eq!((said.verdict, said.edits), (Verdict::Hold, vec!["body ".to_owned()]));
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"1}", true);
    assert_eq!(said.verdict, Verdict::Continue);
    said.assert_has("body \\x00\\x00\\x00\\x00\\x19\\n\\x02\\x18\\x01\\n\\x13\\n\\x11shelves/1/books/2");

    let mut stage = with_body("POST /v1/books:import", "application/x-ndjson");
    assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Hold);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"[{\"copies\"", false);
    assert_eq!(said.verdict, Verdict::Hold);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b":1},", false);
    assert_eq!(
        (said.verdict, said.edits),
        (Verdict::Continue, vec!["body \\x00\\x00\\x00\\x00\\x02\\x18\\x01".to_owned()])
    );
    // If trailers follow, the last piece is not marked as the end.
    let mut stage = stage.trailers("x: y");
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"{}]", false);
    assert_eq!(said.edits, ["body \\x00\\x00\\x00\\x00\\x00"]);
}

#[test]
fn a_response_becomes_json_once_the_grpc_status_is_received() {
    let library = made();
    let (mut stage, said) = answered(&*library, "GET /v1/shelves/1", GRPC);
    assert_eq!(said.verdict, Verdict::Hold);
    said.assert_has("set content-type: application/json");
    said.assert_has("remove content-length");
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, SHELF, false);
    assert_eq!((said.verdict, said.edits), (Verdict::Hold, vec!["body ".to_owned()]));
    let mut stage = stage.trailers("grpc-status: 0");
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"", false);
    assert_eq!(
        (said.verdict, said.edits),
        (Verdict::Continue, vec!["body {\\\"theme\\\":\\\"x\\\"}".to_owned()])
    );
    let said = stage.enter(&*library, Phase::ResponseTrailers);
    assert_eq!(said.edits, ["remove grpc-status", "remove grpc-message", "remove grpc-status-details-bin"]);
}

#[test]
fn a_failed_call_sets_the_http_status() {
    let library = made();
    // After a message, too: its head has not been sent yet.
    let (mut stage, _) = answered(&*library, "GET /v1/shelves/1", GRPC);
    let _ = enter_piece(&mut stage, &*library, Phase::ResponseBody, SHELF, false);
    let mut stage = stage.trailers("grpc-status: 5\ngrpc-message: no%20shelf");
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"", false);
    assert_eq!(
        said.edits,
        [
            "set content-type: application/json",
            "status 404",
            "body {\\\"code\\\":5,\\\"message\\\":\\\"no shelf\\\"}",
        ]
    );
    // Without a body, the status is in the head.
    let mut stage = request("GET /v1/shelves/1");
    let _ = stage.enter(&*library, Phase::RequestHead);
    let head = "HTTP/1.1 200 OK\ncontent-type: application/grpc\ncontent-length: 0\ngrpc-status: 16\ngrpc-message: who";
    let mut stage = stage.response(head);
    stage.is_end = true;
    let said = stage.enter(&*library, Phase::ResponseHead);
    assert_eq!(said.verdict, Verdict::Continue);
    said.assert_has("status 401");
    said.assert_has("body {\\\"code\\\":16,\\\"message\\\":\\\"who\\\"}");
    said.assert_has("remove grpc-status");
}

#[test]
fn an_invalid_grpc_response_is_reported() {
    let library = made();
    for (piece, status) in
        [(&b"\x02"[..], 502), (b"\x01\x00\x00\x00\x00", 502), (b"\x00\x00\x00\x00\x02\x12\x01", 502)]
    {
        let (mut stage, _) = answered(&*library, "GET /v1/shelves/1", GRPC);
        let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, piece, false);
        assert_eq!(said.verdict, Verdict::Reply, "{piece:?}");
        said.assert_has(&format!("reply {status} grpc_json"));
        // The filter's own reply passes through it again; it is JSON already.
        let mut stage =
            stage.response("HTTP/1.1 502 Bad Gateway\ncontent-type: application/json\ncontent-length: 1");
        assert_eq!(stage.enter(&*library, Phase::ResponseHead).edits.len(), 0);
        assert_eq!(enter_piece(&mut stage, &*library, Phase::ResponseBody, b"x", true).edits.len(), 0);
    }
    // A response without message and status.
    let (stage, _) = answered(&*library, "GET /v1/shelves/1", GRPC);
    let said = enter_piece(&mut stage.trailers("grpc-status: 0"), &*library, Phase::ResponseBody, b"", false);
    said.assert_has("reply 502 grpc_json");
    let (mut stage, _) = answered(&*library, "GET /v1/shelves/1", GRPC);
    enter_piece(&mut stage, &*library, Phase::ResponseBody, SHELF, true).assert_has("status 500");
    // Responses other than gRPC are not changed.
    let (_, said) = answered(&*library, "GET /v1/shelves/1", "HTTP/1.1 503 No\ncontent-type: text/html");
    assert_eq!((said.verdict, said.edits.len()), (Verdict::Continue, 0));
}

#[test]
fn a_stream_continues_with_its_first_message() {
    let library = made();
    let book = b"\x00\x00\x00\x00\x02\x18\x01";
    let watch = "GET /v1/shelves/1/books:watch";
    let check = |accept: &str, kind: &str, first: &str, end: &str| {
        let mut stage = TestExchange::request(&format!("{watch} HTTP/1.1\nhost: a\naccept: {accept}"));
        stage.is_end = true;
        let said = stage.enter(&*library, Phase::RequestHead);
        assert_eq!(said.verdict, Verdict::Continue, "{said:?}");
        let mut stage = stage.response(GRPC);
        stage.is_end = false;
        let said = stage.enter(&*library, Phase::ResponseHead);
        assert_eq!(said.verdict, Verdict::Hold);
        said.assert_has(&format!("set content-type: {kind}"));
        let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, book, false);
        assert_eq!((said.verdict, said.edits), (Verdict::Continue, vec![format!("body {first}")]));
        let mut stage = stage.trailers("grpc-status: 14");
        let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"", false);
        assert_eq!((said.verdict, said.edits), (Verdict::Continue, vec![format!("body {end}")]));
    };
    let error = r#"{\"error\":{\"code\":14,\"message\":\"\"}}"#;
    check("*/*", "application/json", r#"[{\"copies\":\"1\"}"#, &format!(",{error}]"));
    check("application/jsonl", "application/x-ndjson", r#"{\"copies\":\"1\"}\n"#, &format!("{error}\\n"));
    check(
        "text/html, text/event-stream;q=1",
        "text/event-stream",
        r#"data: {\"copies\":\"1\"}\n\n"#,
        &format!("event: error\\ndata: {error}\\n\\n"),
    );
    // Before the first message, a failure has a status of its own.
    let (stage, _) = answered(&*library, watch, GRPC);
    let said = enter_piece(&mut stage.trailers("grpc-status: 7"), &*library, Phase::ResponseBody, b"", false);
    said.assert_has("status 403");
    let (stage, _) = answered(&*library, watch, GRPC);
    let said = enter_piece(&mut stage.trailers("grpc-status: 0"), &*library, Phase::ResponseBody, b"", false);
    assert_eq!(said.edits, ["body []"]);
}

#[test]
fn unusable_descriptors_are_reported() {
    let refused = |change: fn(&mut GrpcJsonConfig), file: &[u8]| {
        let Err(LoadError::Refused { message }) = try_made(change, file) else { panic!("it is taken") };
        message
    };
    let message = refused(|_| {}, b"x");
    assert!(message.starts_with("descriptors in library.binpb: the descriptors can't be read"), "{message}");
    let message = refused(|config| config.services = vec!["library.v1.Shop".into()], LIBRARY);
    assert!(message.ends_with("they define: library.v1.Library"), "{message}");
    let without = include_bytes!("../../../eddy-protobuf/tests/schema/eddy.binpb");
    assert!(refused(|_| {}, without).contains("no method has an HTTP rule"));
    let message = refused(|config| config.descriptors = "other.binpb".into(), LIBRARY);
    assert_eq!(message, "descriptors in other.binpb: there is no such file");
}

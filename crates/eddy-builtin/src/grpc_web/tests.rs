use std::sync::Arc;

use eddy_filter::{FilterLibrary, Phase, Verdict};

use super::GrpcWebConfig;
use crate::BuiltinConfig;
use crate::tests::support::{TestExchange, enter_piece, made};

fn library(has_text: bool) -> Arc<dyn FilterLibrary> {
    made(&BuiltinConfig::GrpcWeb(GrpcWebConfig { has_text })).0
}

fn request(kind: &str, more: &str) -> TestExchange {
    TestExchange::request(&format!(
        "POST /a.B/C HTTP/1.1\nhost: a\ncontent-type: {kind}\ntransfer-encoding: chunked{more}"
    ))
}

const GRPC: &str = "HTTP/1.1 200 OK\ncontent-type: application/grpc+proto\ntransfer-encoding: chunked";

#[test]
fn a_call_is_forwarded_as_grpc_and_its_trailers_return_as_a_frame() {
    let library = library(true);
    let mut stage = request("application/grpc-web+proto", "");
    let said = stage.enter(&*library, Phase::RequestHead);
    assert_eq!(said.verdict, Verdict::Continue);
    assert_eq!(said.edits, ["set content-type: application/grpc+proto", "set te: trailers"]);
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"\0\0\0\0\0", true);
    assert_eq!((said.verdict, said.edits.len()), (Verdict::Continue, 0));

    let mut stage = stage.response(GRPC);
    stage.is_end = false;
    let said = stage.enter(&*library, Phase::ResponseHead);
    assert_eq!(said.edits, ["set content-type: application/grpc-web+proto", "remove content-length"]);
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"\0\0\0\0\0", false);
    assert_eq!((said.verdict, said.edits.len()), (Verdict::Continue, 0));
    let mut stage = stage.trailers("Grpc-Status: 0\nx-more-bin: AA==");
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"x", false);
    let frame =
        "BodyAppend([128, 0, 0, 0, 32, 103, 114, 112, 99, 45, 115, 116, 97, 116, 117, 115, 58, 48, 13, 10";
    assert!(said.edits.len() == 1 && said.edits[0].starts_with(frame), "{said:?}");
    let said = stage.enter(&*library, Phase::ResponseTrailers);
    assert_eq!(said.edits, ["remove Grpc-Status", "remove x-more-bin"]);
}

#[test]
fn base64_is_used_where_the_client_uses_it() {
    let library = library(true);
    let mut stage = request("application/grpc-web-text", "");
    let said = stage.enter(&*library, Phase::RequestHead);
    assert_eq!(said.verdict, Verdict::Hold);
    assert_eq!(
        said.edits,
        ["set content-type: application/grpc", "set te: trailers", "remove content-length"]
    );
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"AAAAA", false);
    assert_eq!((said.verdict, said.edits), (Verdict::Continue, vec![r"body \x00\x00\x00".to_owned()]));
    let said = enter_piece(&mut stage, &*library, Phase::RequestBody, b"AA=eHk=", true);
    assert_eq!((said.verdict, said.edits), (Verdict::Continue, vec![r"body \x00\x00xy".to_owned()]));

    let mut stage = stage.response(GRPC);
    stage.is_end = false;
    let said = stage.enter(&*library, Phase::ResponseHead);
    assert_eq!(said.edits[0], "set content-type: application/grpc-web-text+proto");
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"xy", false);
    assert_eq!(said.edits, ["body eHk="]);
    let mut stage = stage.trailers("grpc-status: 0");
    let said = enter_piece(&mut stage, &*library, Phase::ResponseBody, b"x", false);
    assert_eq!(said.edits, ["body eA==gAAAAA9ncnBjLXN0YXR1czowDQo="]);
}

#[test]
fn the_accept_header_selects_the_response_encoding() {
    let library = library(true);
    let check = |kind: &str, accept: &str, expected: &str| {
        let mut stage = request(kind, &format!("\naccept: {accept}"));
        let _ = stage.enter(&*library, Phase::RequestHead);
        let mut stage = stage.response(GRPC);
        let said = stage.enter(&*library, Phase::ResponseHead);
        assert_eq!(said.edits[0], format!("set content-type: {expected}+proto"), "{kind} {accept}");
    };
    check("application/grpc-web", "*/*", "application/grpc-web");
    check("application/grpc-web", "text/html, application/grpc-web-text", "application/grpc-web-text");
    check("application/grpc-web-text", "*/*", "application/grpc-web-text");
    check("application/grpc-web-text", "application/grpc-web+proto", "application/grpc-web");
}

#[test]
fn invalid_base64_is_refused() {
    let check = |pieces: &[&[u8]]| {
        let library = library(true);
        let mut stage = request("application/grpc-web-text", "");
        let _ = stage.enter(&*library, Phase::RequestHead);
        let last = pieces.len() - 1;
        for (at, piece) in pieces.iter().enumerate() {
            let said = enter_piece(&mut stage, &*library, Phase::RequestBody, piece, at == last);
            if at == last {
                assert_eq!(
                    (said.verdict, said.edits),
                    (Verdict::Reply, vec!["reply 400 grpc_web".to_owned()])
                );
            } else {
                assert_eq!(said.verdict, Verdict::Continue);
            }
        }
    };
    check(&[b"AA*A"]);
    check(&[b"AAAA", b"A"]);
    check(&[b"AAAAA", b""]);
    let none = library(false);
    let said = request("application/grpc-web-text", "").enter(&*none, Phase::RequestHead);
    assert_eq!((said.verdict, said.edits), (Verdict::Reply, vec!["reply 415 grpc_web".to_owned()]));
    assert_eq!(
        request("application/grpc-web", "").enter(&*none, Phase::RequestHead).verdict,
        Verdict::Continue
    );
}

#[test]
fn other_content_types_pass_unchanged() {
    let library = library(true);
    for kind in ["application/grpc", "application/json", "application/grpc-webx"] {
        let mut stage = request(kind, "");
        let said = stage.enter(&*library, Phase::RequestHead);
        assert_eq!((said.verdict, said.edits.len(), stage.state), (Verdict::Continue, 0, 0), "{kind}");
        let said = stage.response(GRPC).enter(&*library, Phase::ResponseHead);
        assert_eq!(said.edits.len(), 0, "{kind}");
    }
    // An error page of another proxy is passed unchanged.
    let mut stage = request("application/grpc-web-text", "");
    let _ = stage.enter(&*library, Phase::RequestHead);
    let mut stage = stage.response("HTTP/1.1 502 Bad Gateway\ncontent-type: text/html\ncontent-length: 1");
    assert_eq!(stage.enter(&*library, Phase::ResponseHead).edits.len(), 0);
    assert_eq!(enter_piece(&mut stage, &*library, Phase::ResponseBody, b"x", true).edits.len(), 0);
    // A call without a response body has its status in the head.
    let mut stage = request("application/grpc-web", "");
    let _ = stage.enter(&*library, Phase::RequestHead);
    let mut stage =
        stage.response("HTTP/1.1 200 OK\ncontent-type: application/grpc\ngrpc-status: 5\ncontent-length: 0");
    stage.is_end = true;
    let said = stage.enter(&*library, Phase::ResponseHead);
    assert_eq!(said.edits, ["set content-type: application/grpc-web"]);
}

//! Tests of the upstream client: responses, limits and ends of connections, over both versions.

use std::time::Duration;

use eddy_http::{FieldId, GrpcEnd, GrpcStatus, HeadFault, Method, Version};
use eddy_io::{Buffer, Stream};
use eddy_model::LinkProtocol;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::{
    Conversation, ConversationFault, DedicatedConnection, INTERIM_MAX, ResponseProgress, WholeRequest,
    WholeResponse,
};
use crate::http_version;

const HEAD: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const BODY_BYTES_MAX: usize = 1000;

/// Sends a request to a peer that sends `pieces` once it has received `awaited` bytes, and then ends its side. Returns
/// the outcome, and the bytes that the peer received.
async fn converse(
    version: Version,
    body: &[u8],
    awaited: usize,
    pieces: Vec<Vec<u8>>,
) -> (Result<WholeResponse, ConversationFault>, Vec<u8>) {
    let (near, mut far) = UnixStream::pair().expect("a pair of sockets");
    let peer: JoinHandle<Vec<u8>> = tokio::spawn(async move {
        let mut received = Vec::new();
        while received.len() < awaited && far.read_buf(&mut received).await.is_ok_and(|count| count > 0) {}
        for piece in pieces {
            // The client may have seen enough.
            let _ = far.write_all(&piece).await;
            tokio::task::yield_now().await;
        }
        let _ = far.shutdown().await;
        let _ = far.read_to_end(&mut received).await;
        received
    });
    let mut stream = Stream::Unix(near);
    let mut input = Buffer::default();
    let bytes = [HEAD.as_bytes(), body].concat();
    let request = WholeRequest { method: Method::Get, bytes: &bytes, head_bytes: HEAD.len() };
    let mut connection = DedicatedConnection::new(&mut stream, version);
    let mut conversation = Conversation::new(&mut connection, &mut input);
    let response = timeout(Duration::from_secs(10), conversation.response(&request, BODY_BYTES_MAX));
    let response = response.await.expect("an outcome in time");
    drop(stream);
    (response, peer.await.expect("the peer does not fail"))
}

async fn http1(text: impl AsRef<[u8]>) -> Result<WholeResponse, ConversationFault> {
    converse(Version::Http11, b"", HEAD.len(), vec![text.as_ref().to_vec()]).await.0
}

async fn http2(frames: &[Vec<u8>]) -> Result<WholeResponse, ConversationFault> {
    converse(Version::Http2, b"", 1, vec![[&[SETTINGS.to_vec()], frames].concat().concat()]).await.0
}

/// Returns an HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Returns a HEADERS frame of the fields `block`.
fn headers(is_last: bool, block: &[u8]) -> Vec<u8> {
    frame(1, if is_last { 5 } else { 4 }, 1, block)
}

fn data(is_last: bool, payload: &[u8]) -> Vec<u8> {
    frame(0, u8::from(is_last), 1, payload)
}

const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
/// `:status: 200` and `:status: 103`, in HPACK.
const OK: &[u8] = &[0x88];
const HINTS: &[u8] = b"\x08\x03103";
/// `grpc-status: 5`, in HPACK.
const TRAILERS: &[u8] = b"\x00\x0bgrpc-status\x015";

#[tokio::test]
async fn a_response_is_read_with_any_framing() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
    ] {
        let whole = http1(text).await.expect("a response");
        assert_eq!((whole.head.status, whole.body.as_slice()), (200, b"hello".as_slice()), "{text:?}");
        // However slowly the bytes arrive.
        let pieces = text.bytes().map(|byte| vec![byte]).collect();
        let slow = converse(Version::Http11, b"", HEAD.len(), pieces).await.0.expect("a response");
        assert_eq!((slow.body, slow.head_bytes), (whole.body, whole.head_bytes), "{text:?}");
    }
    let frames = [headers(false, HINTS), headers(false, OK), data(false, b"hello"), headers(true, TRAILERS)];
    let whole = http2(&frames).await.expect("a response");
    assert_eq!((whole.head.status, whole.body.as_slice()), (200, b"hello".as_slice()));
    assert_eq!(whole.grpc_end, GrpcEnd::Status(GrpcStatus::NotFound));
    // A response that consists of its head.
    let whole = http2(&[headers(true, &[OK, TRAILERS].concat())]).await.expect("a response");
    assert_eq!((whole.body.len(), whole.grpc_end), (0, GrpcEnd::Status(GrpcStatus::NotFound)));
    assert!(whole.head.fields(&whole.head_bytes).first(FieldId::ContentType).is_none());
}

#[tokio::test]
async fn a_request_respects_the_flow_control_windows() {
    let body = vec![b'x'; 100_000];
    // The first 65,535 bytes use up the windows; the preface, the frames and the head add fewer than 1,000.
    let wider = 200_000_u32.to_be_bytes();
    let pieces = [SETTINGS.to_vec(), frame(8, 0, 0, &wider), frame(8, 0, 1, &wider)].concat();
    let (near, mut far) = UnixStream::pair().expect("a pair of sockets");
    let peer = tokio::spawn(async move {
        let mut received = Vec::new();
        while received.len() < 65_535 {
            assert!(far.read_buf(&mut received).await.expect("bytes") > 0);
        }
        assert!(received.len() < 66_535 && received.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        far.write_all(&pieces).await.expect("the client reads");
        while received.len() < 100_000 {
            assert!(far.read_buf(&mut received).await.expect("bytes") > 0);
        }
        far.write_all(&headers(true, OK)).await.expect("the client reads");
        let _ = far.read_to_end(&mut received).await;
    });
    let mut stream = Stream::Unix(near);
    let mut input = Buffer::default();
    let bytes = [HEAD.as_bytes(), &body].concat();
    let request = WholeRequest { method: Method::Post, bytes: &bytes, head_bytes: HEAD.len() };
    let mut connection = DedicatedConnection::new(&mut stream, Version::Http2);
    let response = Conversation::new(&mut connection, &mut input).response(&request, BODY_BYTES_MAX).await;
    assert_eq!(response.expect("a response").head.status, 200);
    drop(stream);
    peer.await.expect("the peer does not fail");
    // Over HTTP/1.1 it is sent as it is.
    let answer = b"HTTP/1.1 204 Fine\r\n\r\n".to_vec();
    let awaited = HEAD.len() + body.len();
    let (response, received) = converse(Version::Http11, &body, awaited, vec![answer]).await;
    assert!(response.is_ok() && received == [HEAD.as_bytes(), &body].concat());
}

#[tokio::test]
async fn a_response_has_limits() {
    let hints = "HTTP/1.1 103 Hints\r\n\r\n".repeat(INTERIM_MAX.into());
    assert!(http1(format!("{hints}HTTP/1.1 204 Fine\r\n\r\n")).await.is_ok());
    let hints = hints + "HTTP/1.1 103 Hints\r\n\r\n";
    assert!(matches!(http1(hints).await, Err(ConversationFault::InterimFlood)));
    let flood = vec![headers(false, HINTS); usize::from(INTERIM_MAX) + 1];
    assert!(matches!(http2(&flood).await, Err(ConversationFault::InterimFlood)));
    let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(64 * 1024));
    assert!(matches!(http1(long).await, Err(ConversationFault::HeadTooLong)));
    for framing in ["A: b", "Content-Length: 2000", "Transfer-Encoding: chunked"] {
        let endless = format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n7d0\r\n{}", "x".repeat(2000));
        assert!(matches!(http1(endless).await, Err(ConversationFault::BodyTooLong)), "{framing}");
    }
    let endless = [headers(false, OK), data(false, &[0; 2000])];
    assert!(matches!(http2(&endless).await, Err(ConversationFault::BodyTooLong)));
    let broken = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    assert!(matches!(http1(broken).await, Err(ConversationFault::Chunk(_))));
    let fault = http1("SSH-2.0-eddy\r\n").await.expect_err("not a response");
    assert!(matches!(fault, ConversationFault::Head(HeadFault::BadStatusLine)), "{fault:?}");
    assert_eq!(fault.to_string(), "invalid response: bad_status_line");
}

#[tokio::test]
async fn an_incomplete_response_is_distinguished_from_a_missing_one() {
    let check = |response: Result<WholeResponse, ConversationFault>, has_begun: bool, text: &str| {
        let fault = response.expect_err("no complete response");
        let (ConversationFault::Closed(progress) | ConversationFault::Broken(progress, _)) = fault else {
            panic!("{fault:?}")
        };
        assert_eq!((progress == ResponseProgress::Begun, fault.to_string().as_str()), (has_begun, text));
    };
    let closed = "connection closed before a response";
    check(http1("").await, false, closed);
    check(http1("HTTP/1.1 200").await, true, closed);
    check(http1("HTTP/1.1 103 Hints\r\n\r\n").await, true, closed);
    check(http1("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").await, true, closed);
    check(http2(&[]).await, false, closed);
    check(http2(&[headers(false, OK), data(false, b"hell")]).await, true, closed);
    // A connection that the endpoint gives up at once, and a stream that it resets.
    let reset = "connection closed before a response: connection reset";
    check(http2(&[frame(7, 0, 0, &[0; 8])]).await, false, reset);
    check(http2(&[frame(3, 0, 1, &[0, 0, 0, 2])]).await, false, reset);
}

#[test]
fn the_version_is_negotiated_with_tls() {
    let facts = |protocol: Option<&str>| eddy_io::TlsFacts {
        version: "TLSv1.3",
        suite: "",
        server_name: None,
        protocol: protocol.map(|protocol| protocol.as_bytes().into()),
        peer_certificate: None,
        is_resumed: false,
    };
    let (h2, none) = (facts(Some("h2")), facts(None));
    for (protocol, plain, declined, agreed) in [
        (LinkProtocol::Http1, Some(Version::Http11), Some(Version::Http11), Some(Version::Http11)),
        (LinkProtocol::Http2, Some(Version::Http2), None, Some(Version::Http2)),
        (LinkProtocol::Auto, Some(Version::Http11), Some(Version::Http11), Some(Version::Http2)),
    ] {
        let found = [None, Some(&none), Some(&h2)].map(|tls| http_version(protocol, tls));
        assert_eq!(found, [plain, declined, agreed], "{protocol:?}");
    }
}

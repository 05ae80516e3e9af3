//! Request heads: as text, rejected or refused, and tunnels.

use super::client::{GET, client};
use crate::head::{HeadFault, HeadLimits};
use crate::http2::test_frames::{ENDS, OPEN, block, frame};
use crate::http2::{BodyReadResult, ErrorCode, frame};

#[test]
fn a_request_is_received_as_text_and_its_response_sent_as_frames() {
    let mut client = client();
    let fields = [GET.as_slice(), &[("cookie", "a=1"), ("x-y", "z"), ("cookie", "b=2")]].concat();
    let head = client.asks(1, ENDS, &fields).unwrap();
    let text = "GET /a?b HTTP/1.1\r\nhost: x.example\r\nx-y: z\r\ncookie: a=1; b=2\r\n\r\n";
    assert_eq!((str::from_utf8(&head.text), head.fault, head.has_body), (Ok(text), None, false));
    let answer = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nDate: now\r\nConnection: close\r\nX-A: b\r\n\r\nbody";
    let interim = client.server.send_head(1, answer, false).unwrap();
    let length = client.server.send_head(1, &answer[interim..], false).unwrap();
    assert_eq!(&answer[interim + length..], b"body");
    assert_eq!(client.server.send_data(1, b"bo", b"dy", true), Ok(4));
    client.server.finish(1, ErrorCode::Internal);
    let expected =
        ["head 1 end=0 :status=103 link=</a>", "head 1 end=0 :status=200 date=now x-a=b", "data 1 4 end=1"];
    assert_eq!(client.hears(), expected);
    assert!(!client.server.has_streams());
}

#[test]
fn invalid_heads_are_reset() {
    let with = |more: &[(&'static str, &'static str)]| [GET.as_slice(), more].concat();
    let broken = [
        with(&[("X", "y")]),
        with(&[("", "y")]),
        with(&[("a b", "y")]),
        with(&[("a", " y")]),
        with(&[("a", "y\t")]),
        with(&[("a", "y\r\nb: c")]),
        with(&[("a", "\0")]),
        with(&[("connection", "close")]),
        with(&[("transfer-encoding", "chunked")]),
        with(&[("upgrade", "h2c")]),
        with(&[("keep-alive", "1")]),
        with(&[("proxy-connection", "x")]),
        with(&[("te", "gzip")]),
        with(&[(":path", "/b")]),
        with(&[(":status", "200")]),
        with(&[(":odd", "x")]),
        with(&[("a", "b"), (":authority", "x")]),
        with(&[("content-length", "1")]),
        with(&[("content-length", "0"), ("content-length", "0")]),
        with(&[("content-length", "+0")]),
        GET[1..].to_vec(),
        GET[..1].to_vec(),
        vec![GET[0], GET[1], (":path", ""), GET[3]],
        vec![(":method", "CONNECT"), (":path", "/"), (":authority", "x")],
        vec![(":method", "CONNECT"), (":authority", "x:1"), ("content-length", "0")],
        vec![GET[0], (":scheme", ""), GET[2], GET[3]],
        vec![GET[0], (":scheme", "http://x/a?"), GET[2], GET[3]],
        vec![GET[0], (":scheme", "1http"), GET[2], GET[3]],
        vec![GET[0], (":scheme", "ht tp"), GET[2], GET[3]],
        with(&[(":protocol", "websocket")]),
        vec![(":method", "CONNECT"), (":protocol", "websocket"), GET[3]],
        vec![(":method", "CONNECT"), (":protocol", "websocket"), GET[1], GET[2], GET[3], ("upgrade", "x")],
    ];
    for (index, fields) in broken.iter().enumerate() {
        let mut client = client();
        assert_eq!(client.asks(1, ENDS, fields), None, "{fields:?}");
        assert_eq!(client.hears(), ["reset 1 1"], "{index}: {fields:?}");
    }
}

#[test]
fn refused_heads_get_a_response() {
    let with = |more: &[(&'static str, &'static str)]| [GET.as_slice(), more].concat();
    let many: Vec<_> = std::iter::repeat_n(("cookie", "a=1"), 129).collect();
    for (fields, fault) in [
        (with(&[("host", "y.example")]), HeadFault::BadHost),
        (with(&[("host", "x.example"), ("host", "x.example")]), HeadFault::HostRepeated),
        (GET[..3].to_vec(), HeadFault::HostMissing),
        (vec![GET[0], GET[1], (":path", "a"), GET[3]], HeadFault::BadTarget),
        (vec![GET[0], (":scheme", "ftp"), GET[2], GET[3]], HeadFault::BadTarget),
        (vec![GET[0], (":scheme", "httpss"), GET[2], GET[3]], HeadFault::BadTarget),
        (with(&many), HeadFault::TooManyFields),
        (
            vec![(":method", "CONNECT"), (":protocol", "connect-udp"), GET[1], GET[2], GET[3]],
            HeadFault::ConnectRefused,
        ),
    ] {
        let head = client().asks(1, ENDS, &fields).unwrap();
        assert_eq!(head.fault, Some(fault), "{fields:?}");
    }
    for scheme in ["http", "https", "HTTPS"] {
        let head = client().asks(1, ENDS, &[GET[0], (":scheme", scheme), GET[2], GET[3]]).unwrap();
        assert_eq!(head.fault, None, "{scheme}");
    }
}

#[test]
fn an_extended_connect_reads_as_an_http1_upgrade() {
    let websocket = [(":method", "CONNECT"), (":protocol", "websocket"), GET[1], GET[2], GET[3], ("a", "b")];
    let connect = [(":method", "CONNECT"), (":authority", "x.example:1")];
    let as_upgrade =
        "GET /a?b HTTP/1.1\r\nhost: x.example\r\nconnection: upgrade\r\nupgrade: websocket\r\na: b\r\n\r\n";
    let as_connect = "CONNECT x.example:1 HTTP/1.1\r\nhost: x.example:1\r\n\r\n";
    for (fields, text) in [(websocket.as_slice(), as_upgrade), (connect.as_slice(), as_connect)] {
        let mut client = client();
        let head = client.asks(1, OPEN, fields).unwrap();
        assert_eq!((str::from_utf8(&head.text), head.fault), (Ok(text), None));
        assert!(head.has_body && head.is_tunnel);
        let mut read = crate::RequestHead::new();
        read.parse_http2(&head.text, &HeadLimits::default(), head.has_body && !head.is_tunnel).unwrap();
        assert!(read.wants_tunnel() && read.body.is_empty());
        let is_upgrade = read.method == crate::Method::Get;
        assert!(read.upgrades(&head.text).eq(is_upgrade.then_some(b"websocket".as_slice())));
        // Further data goes through the tunnel, which has no trailers.
        client.says(&frame(frame::DATA, 0, 1, b"hello")).unwrap();
        let mut room = [0; 9];
        assert_eq!(client.server.read(1, &mut room), Ok(BodyReadResult::Bytes(5)));
        client.says(&frame(frame::HEADERS, ENDS, 1, &block(&[("a", "b")]))).unwrap();
        assert_eq!(client.hears(), ["reset 1 1"]);
    }
}

//! Tests of HTTP/2 connections, frame by frame.

use super::code::{ErrorCode, Http2Fault};
use super::fields::FieldList;
use super::frame::{self, FrameHead};
use super::hpack::Decoder;
use super::test_frames::{
    ENDS, OPEN, PREFACE, block, fields_with_repeats, frame, head_with_repeats, repeats, words,
};
use super::{Abuse, BodyReadResult, Gone, H2Head, Http2, Http2Limits};
use crate::head::{HeadFault, HeadLimits};

/// Client that sends arbitrary frames.
struct Http2TestClient {
    server: Http2,
    decoder: Decoder,
}

const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "http"), (":path", "/a?b"), (":authority", "x.example")];

impl Http2TestClient {
    fn new(limits: Http2Limits) -> Self {
        let mut client = Self { server: Http2::new(limits, 0), decoder: Decoder::new() };
        client.says(PREFACE).unwrap();
        client.says(&frame(frame::SETTINGS, 0, 0, &[])).unwrap();
        client.hears();
        client
    }

    fn says(&mut self, bytes: &[u8]) -> Result<(), Http2Fault> {
        let taken = self.server.receive(bytes, 0)?;
        assert_eq!(taken, bytes.len(), "whole frames are taken");
        Ok(())
    }

    /// Returns the frames to be written, in readable form.
    fn hears(&mut self) -> Vec<String> {
        let out = self.server.output().to_vec();
        self.server.written(out.len());
        words(&out, &mut self.decoder)
    }

    /// Sends a request; returns its head as the exchange sees it.
    fn asks(&mut self, stream: u32, flags: u8, fields: &[(&str, &str)]) -> Option<H2Head> {
        self.says(&frame(frame::HEADERS, flags, stream, &block(fields))).unwrap();
        let opened = self.server.next_opened()?;
        assert_eq!(opened, stream);
        self.server.take_head(stream)
    }

    fn reads(&mut self, stream: u32, count: usize) -> Result<(Vec<u8>, BodyReadResult), Gone> {
        let mut room = vec![0; count];
        let reading = self.server.read(stream, &mut room)?;
        if let BodyReadResult::Bytes(count) = reading {
            room.truncate(count);
        } else {
            room.clear();
        }
        Ok((room, reading))
    }
}

fn client() -> Http2TestClient {
    Http2TestClient::new(Http2Limits::default())
}

#[test]
fn a_request_comes_as_text_and_its_answer_goes_as_frames() {
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
fn heads_that_break_the_rules_are_reset() {
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
fn heads_that_are_not_taken_are_answered() {
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
fn a_request_for_a_tunnel_reads_as_one_of_http1() {
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
        read.parse_framed(&head.text, &HeadLimits::default(), head.has_body && !head.is_tunnel).unwrap();
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

#[test]
fn a_small_block_does_not_become_a_large_head() {
    let mut client = client();
    let mut bomb = block(&GET);
    // One field of nearly 4 KiB that is added to the dynamic table, then referenced with one byte each.
    bomb.extend_from_slice(b"\x40\x01a\x7f\x81\x1e");
    bomb.extend_from_slice(&[b'b'; 127 + 1 + 30 * 128]);
    let payload: Vec<u8> = bomb.into_iter().chain(std::iter::repeat_n(0xbe, 40)).collect();
    client.says(&frame(frame::HEADERS, ENDS, 1, &payload)).unwrap();
    let id = client.server.next_opened().unwrap();
    let head = client.server.take_head(id).unwrap();
    assert_eq!((head.fault, head.text.len()), (Some(HeadFault::HeadTooLarge), 0));
    let mut fields = FieldList::default();
    (0..12_000).for_each(|_| fields.add(b"a", &[b'b'; 3968], &HeadLimits::default()));
    assert!(fields.lines_capacity() <= 128 * 1024, "{}", fields.lines_capacity());
}

/// Returns the number of accepted requests that repeat a header of 3.9 KB this often in their head, before the
/// connection ends.
fn bombed(limits: Http2Limits, repeats_each: usize) -> (usize, Http2Fault) {
    let mut client = Http2TestClient::new(limits);
    client.says(&frame(frame::HEADERS, ENDS, 1, &head_with_repeats(3_900, 0))).unwrap();
    assert_eq!(client.server.next_opened(), Some(1));
    let mut taken = 0;
    for id in (3..2_000).step_by(2) {
        if let Err(fault) = client.says(&frame(frame::HEADERS, ENDS, id, &repeats(repeats_each))) {
            assert!(client.hears().last().unwrap().starts_with("goaway"));
            return (taken, fault);
        }
        taken += usize::from(client.server.next_opened().is_some());
    }
    panic!("the connection does not end")
}

#[test]
fn heads_out_of_proportion_to_what_came_end_the_connection() {
    let limits = Http2Limits::default();
    let spent = Http2Fault::Abuse(Abuse::Heads);
    // 16 times 3.9 KB are below the maximum head, 17 times are above; of 16,000 times only what the budget covers is
    // decoded.
    for (repeats, taken_max) in [(2, 70), (16, 3), (17, 3), (100, 0), (16_000, 0)] {
        let (taken, fault) = bombed(limits, repeats);
        assert!(fault == spent && taken <= taken_max, "{repeats}: {taken} {fault:?}");
        assert!(taken > 0 || taken_max == 0, "{repeats}");
    }
}

#[test]
fn heads_out_of_proportion_are_held_for_few_requests_at_once() {
    let mut client = Http2TestClient::new(Http2Limits { budget: 1_000_000, ..Http2Limits::default() });
    client.says(&frame(frame::HEADERS, ENDS, 1, &head_with_repeats(3_900, 0))).unwrap();
    assert_eq!(client.server.next_opened(), Some(1));
    let ask = |client: &mut Http2TestClient, id| {
        client.says(&frame(frame::HEADERS, ENDS, id, &repeats(16))).unwrap();
        client.server.next_opened()
    };
    let taken = (3..99).step_by(2).filter(|id| ask(&mut client, *id).is_some()).count();
    assert_eq!(taken, 4);
    assert_eq!(client.hears().last().unwrap(), "reset 97 7", "it may be sent again");
    // A normal request is served beside them.
    assert!(client.asks(99, ENDS, &GET).is_some());
    client.server.finish(3, ErrorCode::Internal);
    assert_eq!(ask(&mut client, 101), Some(101), "an end gives room back");
}

#[test]
fn trailers_out_of_proportion_end_the_connection() {
    let mut client = client();
    let mut count = 0;
    let fault = loop {
        let id = 1 + 2 * count;
        client.asks(id, OPEN, &GET).unwrap();
        let fields = if count == 0 { fields_with_repeats(3_900, 15) } else { vec![0xbe; 16] };
        match client.says(&frame(frame::HEADERS, ENDS, id, &fields)) {
            Ok(()) => count += 1,
            Err(fault) => break fault,
        }
    };
    assert!(fault == Http2Fault::Abuse(Abuse::Heads) && count <= 4, "{count} {fault:?}");
}

#[test]
fn cookies_by_index_cost_nothing() {
    let mut client = client();
    client.says(&frame(frame::HEADERS, ENDS, 1, &head_with_repeats(4_000, 0))).unwrap();
    assert_eq!(client.server.next_opened(), Some(1));
    client.server.finish(1, ErrorCode::Internal);
    for round in 0..30_u32 {
        let ids: Vec<u32> = (0..100).map(|number| 3 + 2 * (100 * round + number)).collect();
        for id in &ids {
            // Ten bytes each reference the whole table; a hundred at once.
            client.says(&frame(frame::HEADERS, ENDS, *id, &repeats(1))).unwrap();
            assert_eq!(client.server.next_opened(), Some(*id));
            assert!(client.server.take_head(*id).unwrap().text.len() > 4_000);
        }
        for id in ids {
            client.server.send_head(id, b"HTTP/1.1 204 No Content\r\n\r\n", true).unwrap();
            client.server.finish(id, ErrorCode::Internal);
        }
        client.hears();
    }
}

/// Blocks of an encoder that uses the dynamic table as much as possible, and each header once per block, cost only
/// their requests.
#[test]
fn what_honest_encoders_write_costs_nothing() {
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let universe: Vec<(String, String)> =
        (0..60).map(|number| (format!("x-{number}"), "v".repeat([0, 1, 3, 20, 100][random(5)]))).collect();
    let mut client = client();
    // The latest first, as with indices.
    let mut table: Vec<usize> = Vec::new();
    let cost = |at: usize| universe[at].0.len() + universe[at].1.len() + 32;
    for request in 0..3_000_u32 {
        let mut block = block(&GET);
        let mut wanted: Vec<usize> = (0..random(50)).map(|_| random(universe.len())).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for at in wanted {
            if let Some(place) = table.iter().position(|known| *known == at) {
                block.extend(if place < 127 - 62 {
                    vec![0x80 | u8::try_from(62 + place).unwrap()]
                } else {
                    vec![0xff, u8::try_from(62 + place - 127).unwrap()]
                });
                continue;
            }
            let (name, value) = &universe[at];
            block.push(0x40);
            for text in [name, value] {
                block.push(u8::try_from(text.len()).unwrap());
                block.extend_from_slice(text.as_bytes());
            }
            table.insert(0, at);
            while table.iter().map(|known| cost(*known)).sum::<usize>() > 4096 {
                table.pop();
            }
        }
        let id = 1 + 2 * request;
        client.says(&frame(frame::HEADERS, ENDS, id, &block)).unwrap();
        assert_eq!(client.server.next_opened(), Some(id));
        let head = client.server.take_head(id).unwrap();
        assert_eq!(head.fault, None);
        client.server.send_head(id, b"HTTP/1.1 204 No Content\r\n\r\n", true).unwrap();
        client.server.finish(id, ErrorCode::Internal);
        client.hears();
    }
}

#[test]
fn heads_that_are_refused_cost_budget() {
    let mut client = client();
    let fields: Vec<_> = std::iter::repeat_n(("a", "b"), 129).chain(GET).collect();
    let mut answered = 0;
    let fault = loop {
        let id = 1 + 2 * answered;
        let refused = block(&[GET.as_slice(), &fields[..129]].concat());
        if let Err(fault) = client.says(&frame(frame::HEADERS, ENDS, id, &refused)) {
            break fault;
        }
        assert_eq!(client.server.next_opened(), Some(id));
        assert_eq!(client.server.take_head(id).unwrap().fault, Some(HeadFault::TooManyFields));
        client.server.send_head(id, b"HTTP/1.1 431 Too Large\r\n\r\n", true).unwrap();
        client.server.finish(id, ErrorCode::Internal);
        client.hears();
        answered += 1;
        assert!(answered < 1_000, "the budget is used up before");
    };
    assert_eq!(fault, Http2Fault::Abuse(Abuse::Heads));
    assert!((90..200).contains(&answered), "{answered}");
}

#[test]
fn a_body_is_held_up_to_its_window() {
    let mut client = client();
    let head = client.asks(1, OPEN, &[GET.as_slice(), &[("content-length", "70000")]].concat()).unwrap();
    assert!(head.has_body);
    let piece = vec![7; 16 * 1024];
    (0..4).for_each(|_| client.says(&frame(frame::DATA, 0, 1, &piece)).unwrap());
    assert_eq!(client.hears(), Vec::<String>::new(), "nobody has read, so nothing more may come");
    let (read, _) = client.reads(1, 40_000).unwrap();
    assert_eq!(read, vec![7; 40_000]);
    assert_eq!(client.hears(), ["window 1 40000"]);
    client.says(&frame(frame::DATA, 1, 1, &[8; 70_000 - 4 * 16 * 1024])).unwrap();
    let mut left = 0;
    while let (read, BodyReadResult::Bytes(_)) = client.reads(1, 1000).unwrap() {
        left += read.len();
    }
    assert_eq!((left, client.reads(1, 10).unwrap().1), (30_000, BodyReadResult::End));
    // More than the window.
    client.asks(3, OPEN, &GET).unwrap();
    (0..4).for_each(|_| client.says(&frame(frame::DATA, 0, 3, &piece)).unwrap());
    client.hears();
    client.says(&frame(frame::DATA, 0, 3, b"x")).unwrap();
    assert_eq!(client.hears(), ["reset 3 3"]);
    assert_eq!(client.reads(3, 10), Err(Gone));
}

#[test]
fn the_window_of_the_connection_comes_back_whatever_becomes_of_streams() {
    let mut client = Http2TestClient::new(Http2Limits {
        connection_window: 65_535,
        budget: 100_000,
        ..Http2Limits::default()
    });
    let piece = vec![7; 16_000];
    for id in (1..2001).step_by(2) {
        client.asks(id, OPEN, &GET).unwrap();
        client.says(&frame(frame::DATA, 0x8, id, &[b"\x04", piece.as_slice()].concat())).unwrap();
        match id % 10 {
            1 => client.says(&frame(frame::RST_STREAM, 0, id, &[0; 4])).unwrap(),
            3 => drop(client.reads(id, 100)),
            5 => drop(client.reads(id, 100_000)),
            7 => client.says(&frame(frame::WINDOW_UPDATE, 0, id, &[0; 4])).unwrap(),
            _ => {}
        }
        client.server.finish(id, ErrorCode::Cancel);
        client.hears();
    }
}

#[test]
fn data_that_is_not_what_was_announced_resets_its_stream() {
    for (data, flags) in [(vec![b"abcd".as_slice()], 1), (vec![b"abc", b"abc"], 0), (vec![b""], 1)] {
        let mut client = client();
        client.asks(1, OPEN, &[GET.as_slice(), &[("content-length", "5")]].concat()).unwrap();
        for piece in data {
            client.says(&frame(frame::DATA, flags, 1, piece)).unwrap();
        }
        assert_eq!(client.hears(), ["reset 1 1"]);
    }
}

#[test]
fn trailers_go_both_ways() {
    let mut client = client();
    client.asks(1, OPEN, &GET).unwrap();
    client.says(&frame(frame::DATA, 0, 1, b"abc")).unwrap();
    client.says(&frame(frame::HEADERS, ENDS, 1, &block(&[("x-sum", "1")]))).unwrap();
    assert_eq!(client.reads(1, 10), Ok((b"abc".to_vec(), BodyReadResult::Bytes(3))));
    assert_eq!(client.reads(1, 10).unwrap().1, BodyReadResult::End);
    assert_eq!(client.server.trailers(1), b"0\r\nx-sum: 1\r\n\r\n");
    client.server.send_head(1, b"HTTP/1.1 200 OK\r\n\r\n", false).unwrap();
    client.server.send_end(1, b"0\r\nGrpc-Status: 0\r\n\r\n").unwrap();
    assert_eq!(client.hears(), ["head 1 end=0 :status=200", "head 1 end=1 grpc-status=0"]);
    for (flags, fields) in [(OPEN, ("a", "b")), (ENDS, (":path", "/")), (ENDS, ("A", "b"))] {
        client.asks(3, OPEN, &GET).unwrap();
        client.says(&frame(frame::HEADERS, flags, 3, &block(&[fields]))).unwrap();
        assert_eq!(client.hears(), ["reset 3 1"]);
        client = self::client();
    }
}

#[test]
fn an_answer_keeps_to_the_windows() {
    let mut client = client();
    for id in [1, 3] {
        client.asks(id, ENDS, &GET).unwrap();
        client.server.send_head(id, b"HTTP/1.1 200 OK\r\n\r\n", false).unwrap();
    }
    client.hears();
    let body = vec![1; 100_000];
    assert_eq!(client.server.send_data(1, &[], &body, true), Ok(65_535));
    client.hears();
    assert_eq!(client.server.send_data(1, &[], &body[65_535..], true), Ok(0));
    assert_eq!(client.server.send_data(3, b"x", &[], true), Ok(0));
    while client.server.next_woken().is_some() {}
    client.says(&frame(frame::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 10])).unwrap();
    assert_eq!(client.server.next_woken(), Some(3), "the first still has no window of its own");
    assert_eq!(client.server.send_data(3, b"x", &[], true), Ok(1));
    client.says(&frame(frame::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 100])).unwrap();
    assert_eq!(client.server.next_woken(), Some(1));
    assert_eq!(client.server.send_data(1, &[], &body[65_535..], true), Ok(9));
    // A smaller initial window is subtracted from the current one, which may become negative.
    client.says(&frame(frame::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])).unwrap();
    client.says(&frame(frame::WINDOW_UPDATE, 0, 0, &[0, 1, 0, 0])).unwrap();
    assert_eq!(client.server.send_data(1, &[], &body[65_544..], true), Ok(0));
}

#[test]
fn what_is_to_be_written_is_bounded() {
    let mut client = client();
    client.asks(1, ENDS, &GET).unwrap();
    client.says(&frame(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 0, 0, 0])).unwrap();
    client.says(&frame(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 0, 0, 0])).unwrap();
    client.server.send_head(1, b"HTTP/1.1 200 OK\r\n\r\n", false).unwrap();
    let body = vec![0; 1_000_000];
    let sent = client.server.send_data(1, &[], &body, true).unwrap();
    assert!((64 * 1024..96 * 1024).contains(&sent) && client.server.is_full(), "{sent}");
    while client.server.next_woken().is_some() {}
    client.hears();
    assert_eq!(client.server.next_woken(), Some(1));
    // The output does not grow either when the client never reads all of it.
    client.server.send_data(1, &[], &body, false).unwrap();
    for _ in 0..1_000 {
        client.server.written(20_000);
        client.server.send_data(1, &[], &body, false).unwrap();
    }
    assert!(client.server.out.capacity() < 512 * 1024, "{}", client.server.out.capacity());
}

#[test]
fn streams_are_limited_until_their_exchanges_are_over() {
    let mut client = Http2TestClient::new(Http2Limits { streams_max: 2, ..Http2Limits::default() });
    for id in [1, 3] {
        client.asks(id, ENDS, &GET).unwrap();
    }
    // The client has reset it, but its exchange is still active.
    client.says(&frame(frame::RST_STREAM, 0, 1, &[0, 0, 0, 8])).unwrap();
    assert_eq!(client.server.next_woken(), Some(1));
    assert_eq!(client.asks(5, ENDS, &GET), None);
    assert_eq!(client.hears(), ["reset 5 7"]);
    assert_eq!(client.server.send_head(1, b"HTTP/1.1 200 OK\r\n\r\n", true), Err(Gone));
    client.server.finish(1, ErrorCode::Cancel);
    client.asks(7, ENDS, &GET).unwrap();
    assert_eq!(client.hears(), Vec::<String>::new());
}

#[test]
fn an_answer_before_the_end_of_the_request_ends_it_without_error() {
    let mut client = client();
    client.asks(1, OPEN, &GET).unwrap();
    client.server.send_head(1, b"HTTP/1.1 413 Content Too Large\r\n\r\n", true).unwrap();
    client.server.finish(1, ErrorCode::Internal);
    assert_eq!(client.hears(), ["head 1 end=1 :status=413", "reset 1 0"]);
    client.says(&frame(frame::DATA, 1, 1, b"was on its way")).unwrap();
    client.asks(3, ENDS, &GET).unwrap();
    client.server.send_head(3, b"HTTP/1.1 200 OK\r\n\r\n", false).unwrap();
    client.server.finish(3, ErrorCode::Internal);
    assert_eq!(client.hears(), ["head 3 end=0 :status=200", "reset 3 2"]);
}

#[test]
fn the_end_is_announced_twice() {
    let mut client = client();
    client.asks(1, ENDS, &GET).unwrap();
    client.server.leave();
    assert_eq!(client.hears(), ["goaway 2147483647 0", "ping ack=0"]);
    // It was in flight.
    client.asks(3, ENDS, &GET).unwrap();
    client.says(&frame(frame::PING, 1, 0, b"eddy.bye")).unwrap();
    assert_eq!(client.hears(), ["goaway 3 0"]);
    assert_eq!(client.asks(5, ENDS, &GET), None);
    for id in [1, 3] {
        assert!(!client.server.is_over());
        client.server.send_head(id, b"HTTP/1.1 204 No Content\r\n\r\n", true).unwrap();
        client.server.finish(id, ErrorCode::Internal);
    }
    assert!(client.server.is_over());
}

#[test]
fn floods_end_the_connection_and_have_a_name() {
    for (flood, abuse) in [
        (frame(frame::PING, 0, 0, &[0; 8]), Abuse::Pings),
        (frame(frame::SETTINGS, 0, 0, &[]), Abuse::Settings),
        (frame(frame::PRIORITY, 0, 1, &[0; 5]), Abuse::Priorities),
        (frame(frame::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), Abuse::WindowUpdates),
        (frame(0x42, 0, 0, &[]), Abuse::Others),
        (frame(frame::DATA, 0, 1, &[]), Abuse::EmptyData),
    ] {
        let mut client = client();
        client.asks(1, OPEN, &GET).unwrap();
        let mut count = 0;
        let fault = loop {
            match client.server.receive(&flood, 0) {
                Ok(_) => count += 1,
                Err(fault) => break fault,
            }
        };
        assert_eq!(fault, Http2Fault::Abuse(abuse));
        assert!(count <= 1000, "{abuse:?} {count}");
        assert_eq!(client.hears().last().unwrap(), "goaway 1 11");
        assert!(client.server.is_over() && client.server.is_gone(1));
    }
}

#[test]
fn requests_that_are_taken_back_or_broken_are_counted() {
    type Attack = fn(&mut Http2TestClient, u32) -> Result<(), Http2Fault>;
    let attacks: [Attack; 3] = [
        |client, id| client.says(&frame(frame::RST_STREAM, 0, id, &[0, 0, 0, 8])),
        |client, id| client.says(&frame(frame::WINDOW_UPDATE, 0, id, &[0; 4])),
        |client, id| client.says(&frame(frame::PRIORITY, 0, id, &[&id.to_be_bytes()[..], &[1]].concat())),
    ];
    for attack in attacks {
        let mut client = client();
        let (mut id, mut begun) = (1, 0);
        let fault = loop {
            let request = frame(frame::HEADERS, ENDS, id, &block(&GET));
            if let Err(fault) = client.says(&request).and_then(|()| attack(&mut client, id)) {
                break fault;
            }
            while let Some(opened) = client.server.next_opened() {
                begun += 1;
                client.server.finish(opened, ErrorCode::Cancel);
            }
            id += 2;
        };
        assert_eq!(fault, Http2Fault::Abuse(Abuse::Resets));
        assert!(begun <= 200, "{begun}");
    }
}

#[test]
fn fields_without_end_are_not_gathered() {
    for (piece, count_max) in [(vec![0; 16 * 1024], 8), (vec![0; 1], 41), (Vec::new(), 41)] {
        let mut client = client();
        client.says(&frame(frame::HEADERS, 0, 1, &block(&GET))).unwrap();
        assert!(client.server.is_in_block());
        let mut count = 0;
        let fault = loop {
            match client.says(&frame(frame::CONTINUATION, 0, 1, &piece)) {
                Ok(()) => count += 1,
                Err(fault) => break fault,
            }
        };
        assert_eq!(fault.code(), ErrorCode::EnhanceYourCalm);
        assert!(count < count_max, "{count}");
    }
}

/// Random splits and changes of frames cause neither a panic nor a response without a request.
#[test]
fn no_bytes_make_it_panic() {
    let mut state = 42_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut faults = 0;
    for _ in 0..20_000 {
        let mut bytes = [PREFACE, &frame(frame::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 9])].concat();
        for _ in 0..random(8) + 1 {
            let stream = u32::try_from(random(4) * 2 + random(8) / 7 + 1).unwrap();
            let kind = u8::try_from(random(11)).unwrap();
            let flags = u8::try_from(random(64)).unwrap();
            let payload = match random(4) {
                0 => block(&GET),
                1 => vec![0; usize::try_from(random(12)).unwrap()],
                2 => vec![0, 0, 0, 8],
                _ => (0..random(20)).map(|_| u8::try_from(random(256)).unwrap()).collect(),
            };
            let of_connection = matches!(kind, 4 | 6 | 7);
            bytes.extend(frame(kind, flags, if of_connection { 0 } else { stream }, &payload));
        }
        if random(4) == 0 {
            let at = usize::try_from(random(bytes.len() as u64)).unwrap();
            bytes[at] = u8::try_from(random(256)).unwrap();
        }
        let mut server = Http2::new(Http2Limits { streams_max: 2, ..Http2Limits::default() }, 0);
        let (mut start, mut end) = (0, 0);
        while end < bytes.len() {
            end = (end + usize::try_from(random(60)).unwrap() + 1).min(bytes.len());
            match server.receive(&bytes[start..end], 0) {
                Ok(taken) => start += taken,
                Err(_) => {
                    faults += 1;
                    break;
                }
            }
            while let Some(id) = server.next_opened() {
                let head = server.take_head(id).unwrap();
                assert!(head.fault.is_some() || head.text.ends_with(b"\r\n\r\n"));
                if random(2) == 0 {
                    let _ = server.send_head(id, b"HTTP/1.1 200 OK\r\na: b\r\n\r\n", false);
                    let _ = server.send_data(id, b"abc", b"def", random(2) == 0);
                    let _ = server.read(id, &mut [0; 5]);
                }
                if random(3) == 0 {
                    server.finish(id, ErrorCode::Cancel);
                }
            }
            while server.next_woken().is_some() {}
        }
        let out = server.output().to_vec();
        let mut rest = out.as_slice();
        while let Some(head) = FrameHead::parse(rest) {
            assert!(head.kind <= frame::CONTINUATION && head.length <= 16 * 1024);
            rest = &rest[9 + head.length..];
        }
        assert!(rest.is_empty(), "whole frames are written");
    }
    assert!((5_000..20_000).contains(&faults), "{faults}");
}

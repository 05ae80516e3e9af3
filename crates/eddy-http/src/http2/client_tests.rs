//! Tests of the client side of HTTP/2, frame by frame.

use eddy_ids::WorkerTime;

use super::hpack::Decoder;
use super::test_frames::{
    ENDS, OPEN, PREFACE, block, check_whole_frames, damage, fields_with_repeats, frame, push_frame,
    random_bytes, random_numbers, until_fault, words,
};
use super::{Abuse, BodyReadResult, ErrorCode, Gone, Http2, Http2Fault, Http2Limits, Loss, frame};
use crate::head::HeadFault;

const GET: &[u8] = b"GET /a?b HTTP/1.1\r\nHost: x.example\r\n\r\n";
const POST: &[u8] = b"POST /a HTTP/1.1\r\nHost: x.example\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Server that sends arbitrary frames.
struct Http2TestServer {
    client: Http2,
    decoder: Decoder,
}

fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(frame::GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(frame::RST_STREAM, 0, stream, &code.to_be_bytes())
}

fn head(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(frame::HEADERS, flags, stream, &block(fields))
}

impl Http2TestServer {
    fn new(limits: Http2Limits) -> Self {
        let mut server =
            Self { client: Http2::client("http", limits, WorkerTime::ZERO), decoder: Decoder::new() };
        assert!(server.client.output().starts_with(PREFACE));
        server.client.written(PREFACE.len());
        assert!(!server.client.is_settled());
        server.says(&frame(frame::SETTINGS, 0, 0, &[])).unwrap();
        assert!(server.client.is_settled());
        server.hears();
        server
    }

    fn says(&mut self, bytes: &[u8]) -> Result<(), Http2Fault> {
        let taken = self.client.receive(bytes, WorkerTime::ZERO)?;
        assert_eq!(taken, bytes.len(), "whole frames are taken");
        Ok(())
    }

    /// Returns the frames to be written, in readable form.
    fn hears(&mut self) -> Vec<String> {
        let out = self.client.output().to_vec();
        self.client.written(out.len());
        words(&out, &mut self.decoder)
    }

    fn asks(&mut self, text: &[u8], ends: bool) -> u32 {
        let opened = self.client.open(text, ends).unwrap();
        assert_eq!(opened.length, text.len());
        self.hears();
        opened.stream
    }

    /// Returns all of a response that can be read now, and the result after it.
    fn reads(&mut self, stream: u32) -> Result<(String, BodyReadResult), Gone> {
        let mut all = Vec::new();
        let mut room = [0; 1000];
        loop {
            let reading = self.client.read(stream, &mut room)?;
            let BodyReadResult::Bytes(count) = reading else {
                return Ok((String::from_utf8(all).unwrap(), reading));
            };
            all.extend_from_slice(&room[..count]);
        }
    }
}

fn server() -> Http2TestServer {
    Http2TestServer::new(Http2Limits::default())
}

#[test]
fn a_request_is_sent_as_frames_and_its_response_received_as_text() {
    let mut client = Http2::client("https", Http2Limits::default(), WorkerTime::ZERO);
    let own = client.output()[PREFACE.len()..].to_vec();
    let settings = [0, 2, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 6, 0, 1, 0, 0];
    assert!(own.starts_with(&frame(frame::SETTINGS, 0, 0, &settings)), "no pushes are taken: {own:?}");
    client.written(client.output().len());
    let text = b"PUT /a?b HTTP/1.1\r\nX-A: b\r\nHost: x.example:1\r\nTE: trailers\r\nConnection: TE\r\nTransfer-Encoding: chunked\r\nCookie: c\r\n\r\nbody";
    let opened = client.open(text, false).unwrap();
    let mut server = Http2TestServer { client, decoder: Decoder::new() };
    assert_eq!((&text[opened.length..], opened.stream), (b"body".as_slice(), 1));
    let words =
        "head 1 end=0 :method=PUT :scheme=https :authority=x.example:1 :path=/a?b x-a=b te=trailers cookie=c";
    assert_eq!(server.hears(), [words]);
    assert_eq!(server.client.send_data(1, b"bo", b"dy", false), Ok(4));
    server.client.send_end(1, b"0\r\nX-Sum: 1\r\n\r\n").unwrap();
    assert_eq!(server.hears(), ["data 1 4 end=0", "head 1 end=1 x-sum=1"]);
    server.says(&frame(frame::SETTINGS, 0, 0, &[])).unwrap();
    server.says(&head(1, OPEN, &[(":status", "103"), ("link", "</a>")])).unwrap();
    server.says(&head(1, OPEN, &[(":status", "200"), ("x-y", "z"), ("content-length", "5")])).unwrap();
    server.says(&frame(frame::DATA, 0, 1, b"hello")).unwrap();
    let heads = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nx-y: z\r\ncontent-length: 5\r\n\r\n";
    assert_eq!(server.reads(1), Ok((format!("{heads}hello"), BodyReadResult::Nothing)));
    server.says(&head(1, ENDS, &[("grpc-status", "0")])).unwrap();
    assert_eq!(server.reads(1), Ok((String::new(), BodyReadResult::End)));
    assert_eq!(server.client.trailers(1), b"0\r\ngrpc-status: 0\r\n\r\n");
    assert!(server.client.has_body(1));
    server.client.finish(1, ErrorCode::Cancel);
    assert_eq!(server.hears(), ["settings ack=1"]);
    assert_eq!(server.client.open(GET, true).unwrap().stream, 3);
}

#[test]
fn a_response_without_a_body_ends_with_its_head() {
    for (text, fields) in [
        (GET, vec![(":status", "200")]),
        (GET, vec![(":status", "304"), ("content-length", "9")]),
        (b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", vec![(":status", "200"), ("content-length", "9")]),
    ] {
        let mut server = server();
        let id = server.asks(text, true);
        server.says(&head(id, ENDS, &fields)).unwrap();
        assert!(!server.client.has_body(id));
        assert_eq!(server.reads(id).unwrap().1, BodyReadResult::End, "{fields:?}");
    }
}

#[test]
fn invalid_responses_are_reset() {
    let good = [(":status", "200")];
    let with = |more: &[(&'static str, &'static str)]| [good.as_slice(), more].concat();
    let cases = [
        head(1, ENDS, &[]),
        head(1, ENDS, &[(":status", "20")]),
        head(1, ENDS, &[(":status", "099")]),
        head(1, ENDS, &[(":status", "600")]),
        head(1, ENDS, &[(":status", "999")]),
        head(1, ENDS, &[(":status", "2xx")]),
        head(1, OPEN, &[(":status", "101")]),
        head(1, ENDS, &[(":status", "103")]),
        head(1, ENDS, &with(&[(":status", "200")])),
        head(1, ENDS, &with(&[(":path", "/")])),
        head(1, ENDS, &[("a", "b"), (":status", "200")]),
        head(1, ENDS, &with(&[("A", "b")])),
        head(1, ENDS, &with(&[("a", "b\r\nc: d")])),
        head(1, ENDS, &with(&[("a", "\0")])),
        head(1, ENDS, &with(&[("connection", "close")])),
        head(1, ENDS, &with(&[("transfer-encoding", "chunked")])),
        head(1, ENDS, &with(&[("content-length", "1")])),
        head(1, ENDS, &with(&[("content-length", "0"), ("content-length", "0")])),
        frame(frame::DATA, 0, 1, b"x"),
        [head(1, OPEN, &good), head(1, OPEN, &[("a", "b")])].concat(),
        [head(1, OPEN, &good), head(1, ENDS, &[(":status", "200")])].concat(),
        [head(1, OPEN, &with(&[("content-length", "2")])), frame(frame::DATA, 1, 1, b"x")].concat(),
        [head(1, OPEN, &with(&[("content-length", "2")])), frame(frame::DATA, 0, 1, b"xyz")].concat(),
        [head(1, OPEN, &[(":status", "204")]), frame(frame::DATA, 0, 1, b"x")].concat(),
    ];
    for (index, case) in cases.iter().enumerate() {
        let mut server = server();
        server.asks(GET, true);
        server.says(case).unwrap();
        assert_eq!(server.hears(), ["reset 1 1"], "{index}");
        assert_eq!((server.reads(1), server.client.loss(1)), (Err(Gone), Loss::Broken), "{index}");
        server.client.finish(1, ErrorCode::Cancel);
        // Frames that cross the reset are ignored.
        server.says(&frame(frame::DATA, 1, 1, b"late")).unwrap();
        assert_eq!(server.hears(), Vec::<String>::new(), "{index}");
    }
}

#[test]
fn frames_that_a_server_must_not_send_end_the_connection() {
    let cases = [
        frame(frame::PUSH_PROMISE, OPEN, 1, &[0, 0, 0, 2]),
        head(2, ENDS, &[(":status", "200")]),
        head(3, ENDS, &[(":status", "200")]),
        frame(frame::DATA, 0, 3, b"x"),
        frame(frame::RST_STREAM, 0, 2, &[0; 4]),
        reset(3, 0),
        frame(frame::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 1]),
        frame(frame::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1]),
        frame(frame::SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1]),
        frame(frame::GOAWAY, 0, 0, &[0; 7]),
        goaway(2, 0),
        [goaway(1, 0), goaway(3, 0)].concat(),
        frame(frame::PING, 0, 0, &[0; 7]),
        frame(frame::HEADERS, OPEN, 1, &[0xff, 0xff]),
    ];
    for (index, case) in cases.iter().enumerate() {
        let mut server = server();
        server.asks(GET, true);
        server.client.receive(case, WorkerTime::ZERO).unwrap_err();
        assert!(server.hears().last().unwrap().starts_with("goaway 0 "), "{index}");
        assert!(server.client.is_over() && !server.client.may_open(), "{index}");
        assert_eq!(server.client.loss(1), Loss::Broken, "{index}");
    }
    let mut strange = Http2::client("http", Http2Limits::default(), WorkerTime::ZERO);
    strange.receive(b"HTTP/1.1 400 Bad Request\r\n\r\n", WorkerTime::ZERO).unwrap_err();
    assert!(!strange.is_settled());
}

#[test]
fn concurrent_requests_follow_the_limit_of_the_server() {
    let mut server = server();
    server.says(&frame(frame::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 2])).unwrap();
    assert_eq!(server.client.streams_max(), 2);
    let ids = [server.asks(GET, true), server.asks(GET, true)];
    assert_eq!(ids, [1, 3]);
    assert_eq!(server.client.open(GET, true), Err(Gone));
    server.says(&head(1, ENDS, &[(":status", "204")])).unwrap();
    server.client.finish(1, ErrorCode::Cancel);
    assert_eq!(server.asks(GET, true), 5);
}

#[test]
fn unprocessed_streams_are_known_after_goaway() {
    let mut server = server();
    for _ in 0..4 {
        server.asks(GET, true);
    }
    server.says(&reset(1, 7)).unwrap();
    server.says(&reset(3, 2)).unwrap();
    server.says(&goaway(5, 0)).unwrap();
    let losses = [1, 3, 7].map(|id| server.client.loss(id));
    assert_eq!(losses, [Loss::Refused, Loss::Reset, Loss::GoawayBeforeProcessing]);
    assert!(!server.client.may_open() && !server.client.is_over());
    assert_eq!(server.client.open(GET, true), Err(Gone));
    server.says(&head(5, ENDS, &[(":status", "204")])).unwrap();
    assert_eq!(server.reads(5).unwrap().1, BodyReadResult::End);
    for id in [1, 3, 5, 7] {
        assert_eq!(server.reads(id).is_err(), id != 5);
        server.client.finish(id, ErrorCode::Cancel);
    }
    assert!(server.client.is_over());
    assert_eq!(server.hears(), Vec::<String>::new(), "nothing is left to be called off");
    // REFUSED_STREAM after the start of a response does not count as refusal.
    let mut server = self::server();
    server.asks(GET, true);
    server.says(&head(1, OPEN, &[(":status", "200")])).unwrap();
    server.says(&reset(1, 7)).unwrap();
    assert_eq!(server.client.loss(1), Loss::Reset);
}

#[test]
fn a_complete_response_is_read_even_if_the_request_is_reset() {
    type ServerEnd = fn(&mut Http2TestServer);
    let ends: [ServerEnd; 3] = [
        |server| server.says(&reset(1, 0)).unwrap(),
        |server| server.client.cut(),
        |server| server.client.end(ErrorCode::Protocol),
    ];
    for end in ends {
        let mut server = server();
        server.asks(POST, false);
        server.says(&head(1, OPEN, &[(":status", "413")])).unwrap();
        server.says(&frame(frame::DATA, 1, 1, b"no")).unwrap();
        end(&mut server);
        assert_eq!(server.client.send_data(1, b"more", &[], false), Err(Gone));
        assert_eq!(
            server.reads(1),
            Ok(("HTTP/1.1 413 Content Too Large\r\n\r\nno".to_owned(), BodyReadResult::End))
        );
        server.hears();
        server.client.finish(1, ErrorCode::Cancel);
        assert_eq!(server.hears(), Vec::<String>::new());
    }
    let mut server = server();
    server.asks(GET, true);
    server.says(&head(1, OPEN, &[(":status", "200")])).unwrap();
    server.client.cut();
    assert_eq!((server.reads(1), server.client.loss(1)), (Err(Gone), Loss::ConnectionEnded));
}

#[test]
fn a_cancelled_request_is_reset() {
    let mut server = server();
    server.asks(GET, true);
    server.client.finish(1, ErrorCode::Cancel);
    server.asks(POST, false);
    server.says(&head(3, ENDS, &[(":status", "200")])).unwrap();
    server.client.finish(3, ErrorCode::Cancel);
    assert_eq!(server.hears(), ["reset 3 8"]);
    // Everything except the end has arrived: the end arrives by itself.
    server.asks(GET, true);
    server.says(&head(5, OPEN, &[(":status", "200"), ("content-length", "2")])).unwrap();
    server.says(&frame(frame::DATA, 0, 5, b"ab")).unwrap();
    server.client.finish(5, ErrorCode::Cancel);
    assert_eq!(server.hears(), Vec::<String>::new());
    server.says(&frame(frame::DATA, 1, 5, b"")).unwrap();
    // Cancellations of long ago have no effect on other streams.
    for _ in 0..300 {
        let id = server.asks(GET, true);
        server.says(&head(id, ENDS, &[(":status", "204")])).unwrap();
        server.client.finish(id, ErrorCode::Cancel);
    }
    server.says(&frame(frame::DATA, 1, 1, b"late")).unwrap();
    server.says(&head(1, ENDS, &[(":status", "200")])).unwrap();
}

#[test]
fn closing_waits_for_the_last_response() {
    let mut server = server();
    server.asks(GET, true);
    server.client.leave();
    assert!(!server.client.may_open() && !server.client.is_over());
    assert_eq!(server.hears(), Vec::<String>::new());
    server.says(&head(1, ENDS, &[(":status", "204")])).unwrap();
    server.client.finish(1, ErrorCode::Cancel);
    assert_eq!(server.hears(), ["goaway 0 0"]);
    assert!(server.client.is_over());
}

#[test]
fn a_response_is_buffered_up_to_its_window() {
    let mut server = server();
    server.asks(GET, true);
    server.says(&head(1, OPEN, &[(":status", "200")])).unwrap();
    let piece = vec![b'7'; 16 * 1024];
    (0..4).for_each(|_| server.says(&frame(frame::DATA, 0, 1, &piece)).unwrap());
    assert_eq!(server.hears(), Vec::<String>::new(), "nobody has read, so nothing more may come");
    let (read, _) = server.reads(1).unwrap();
    assert_eq!(read.len(), "HTTP/1.1 200 OK\r\n\r\n".len() + 64 * 1024);
    // The head does not count towards a window.
    let given: u32 =
        server.hears().iter().filter_map(|word| word.strip_prefix("window 1 ")?.parse::<u32>().ok()).sum();
    assert!((32 * 1024..=64 * 1024).contains(&given), "{given}");
    (0..5).for_each(|_| server.says(&frame(frame::DATA, 0, 1, &piece)).unwrap());
    assert_eq!(server.hears(), ["reset 1 3"]);
}

#[test]
fn a_hostile_server_exhausts_its_budget() {
    for (flood, abuse) in [
        (frame(frame::PING, 0, 0, &[0; 8]), Abuse::Pings),
        (frame(frame::SETTINGS, 0, 0, &[]), Abuse::Settings),
        (frame(frame::DATA, 0, 1, &[]), Abuse::EmptyData),
        (frame(frame::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), Abuse::WindowUpdates),
        (reset(1, 8), Abuse::Resets),
        (goaway(0x7fff_ffff, 0), Abuse::OtherFrames),
        (frame(0x42, 0, 0, &[]), Abuse::OtherFrames),
        (head(1, OPEN, &[(":status", "103")]), Abuse::Resets),
    ] {
        let mut server = server();
        server.asks(GET, true);
        if abuse == Abuse::EmptyData {
            server.says(&head(1, OPEN, &[(":status", "200")])).unwrap();
        }
        let (count, fault) = until_fault(|_| {
            let received = server.client.receive(&flood, WorkerTime::ZERO)?;
            server.reads(1).ok();
            Ok(received)
        });
        assert_eq!(fault, Http2Fault::Abuse(abuse));
        assert!(count <= 1000, "{abuse:?} {count}");
        assert_eq!(server.hears().last().unwrap(), "goaway 0 11");
    }
    // The server may refuse as many requests as the client sends.
    let mut server = server();
    for _ in 0..5_000 {
        let id = server.asks(GET, true);
        server.says(&reset(id, 7)).unwrap();
        server.client.finish(id, ErrorCode::Cancel);
    }
}

#[test]
fn oversized_heads_are_not_buffered() {
    let mut server = server();
    server.asks(GET, true);
    let many: Vec<_> = std::iter::repeat_n(("a", "b"), 129).collect();
    server.says(&head(1, ENDS, &[[(":status", "200")].as_slice(), &many].concat())).unwrap();
    assert_eq!(server.client.loss(1), Loss::Head(HeadFault::TooManyFields));
    // Unread interim responses are limited as well.
    let mut server = self::server();
    server.asks(GET, true);
    let long = "x".repeat(120);
    let interim: Vec<_> =
        [(":status", "103")].into_iter().chain(std::iter::repeat_n(("link", &*long), 120)).collect();
    let mut count = 0;
    while !server.client.is_gone(1) {
        server.says(&head(1, OPEN, &interim)).unwrap();
        count += 1;
    }
    assert!(count < 12, "{count}");
    assert_eq!(server.hears(), ["reset 1 11"]);
}

#[test]
fn response_heads_out_of_proportion_to_their_encoding_end_the_link() {
    // Final heads, interim heads and trailers.
    for purpose in ["head", "interim", "trailers"] {
        let mut server = server();
        let (count, fault) = until_fault(|count| {
            let id = server.asks(GET, true);
            let status: &[u8] = if purpose == "interim" { b"\x08\x03103" } else { b"\x88" };
            let fields = if count == 0 { fields_with_repeats(3_900, 15) } else { vec![0xbe; 16] };
            if purpose == "trailers" {
                server.says(&frame(frame::HEADERS, OPEN, id, status)).unwrap();
                server.says(&frame(frame::HEADERS, ENDS, id, &fields))
            } else {
                let flags = if purpose == "interim" { OPEN } else { ENDS };
                server.says(&frame(frame::HEADERS, flags, id, &[status, fields.as_slice()].concat()))
            }
        });
        assert_eq!(fault, Http2Fault::Abuse(Abuse::Heads), "{purpose}");
        assert!((1..=4).contains(&count), "{purpose}: {count}");
    }
}

#[test]
fn response_heads_out_of_proportion_are_held_for_few_concurrent_requests() {
    let mut server = Http2TestServer::new(Http2Limits { budget: 1_000_000, ..Http2Limits::default() });
    let mut taken = Vec::new();
    for round in 0..20 {
        let id = server.asks(GET, true);
        let fields = if round == 0 { fields_with_repeats(3_900, 15) } else { vec![0xbe; 16] };
        server.says(&frame(frame::HEADERS, ENDS, id, &[b"\x88", fields.as_slice()].concat())).unwrap();
        if server.client.is_gone(id) {
            assert_eq!(server.client.loss(id), Loss::Head(HeadFault::HeadTooLarge));
            assert_eq!(server.hears(), [format!("reset {id} 11")]);
        } else {
            taken.push(id);
        }
    }
    assert!((4..=5).contains(&taken.len()), "{taken:?}");
}

/// Random splits and changes of a server's bytes cause neither a panic nor invalid frames.
#[test]
fn arbitrary_bytes_do_not_panic() {
    let mut random = random_numbers(7);
    let (mut faults, mut answers) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = frame(frame::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 9]);
        for _ in 0..random(8) + 1 {
            let stream = u32::try_from(random(3) * 2 + random(8) / 7 + 1).unwrap();
            // Mostly valid server frames, with invalid ones in between.
            let kind = match random(4) {
                0 => u8::try_from(random(11)).unwrap(),
                1 => frame::DATA,
                _ => frame::HEADERS,
            };
            let flags = if random(4) == 0 {
                u8::try_from(random(64)).unwrap()
            } else {
                [1, 4, 5, 0][usize::try_from(random(2)).unwrap() + usize::from(kind == frame::HEADERS)]
            };
            let payload = match random(5) {
                _ if kind == frame::HEADERS && random(4) > 0 => block(&[(":status", "200"), ("a", "b")]),
                0 | 1 => block(&[(":status", if random(3) == 0 { "103" } else { "200" }), ("a", "b")]),
                2 => vec![0; usize::try_from(random(12)).unwrap()],
                3 => vec![0, 0, 0, 8],
                _ => random_bytes(&mut random),
            };
            push_frame(&mut bytes, kind, flags, stream, &payload);
        }
        damage(&mut bytes, &mut random);
        let mut client =
            Http2::client("http", Http2Limits { streams_max: 3, ..Http2Limits::default() }, WorkerTime::ZERO);
        client.written(PREFACE.len());
        for text in [GET, POST, GET] {
            client.open(text, random(2) == 0).unwrap();
        }
        let (mut start, mut end) = (0, 0);
        while end < bytes.len() {
            end = (end + usize::try_from(random(60)).unwrap() + 1).min(bytes.len());
            match client.receive(&bytes[start..end], WorkerTime::ZERO) {
                Ok(taken) => start += taken,
                Err(_) => {
                    faults += 1;
                    break;
                }
            }
            while let Some(id) = client.next_woken() {
                let mut room = [0; 50];
                if let Ok(BodyReadResult::Bytes(count)) = client.read(id, &mut room) {
                    answers += usize::from(room[..count].starts_with(b"HTTP/1.1 "));
                }
                let _ = client.send_data(id, b"abc", b"def", random(2) == 0);
                if random(3) == 0 {
                    client.finish(id, ErrorCode::Cancel);
                }
            }
        }
        check_whole_frames(client.output());
    }
    assert!((2_000..20_000).contains(&faults) && answers > 1_000, "{faults} {answers}");
}

/// RFC 8441: an HTTP/1.1 upgrade is sent as an extended `CONNECT`, and 200 is read as 101.
#[test]
fn a_websocket_is_requested_by_extended_connect_and_accepted_as_a_switch() {
    let ask = b"GET /chat HTTP/1.1\r\nHost: x.example\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let mut server = server();
    assert!(!server.client.supports_tunnels());
    assert_eq!(server.client.open(ask, true), Err(Gone), "a server that takes none is asked for none");
    server.says(&frame(frame::SETTINGS, 0, 0, &[0, 8, 0, 0, 0, 1])).unwrap();
    assert!(server.client.supports_tunnels());
    server.hears();
    let other = b"GET /chat HTTP/1.1\r\nHost: x.example\r\nConnection: Upgrade\r\nUpgrade: spdy/3.1\r\n\r\n";
    assert_eq!(server.client.open(other, true), Err(Gone));
    assert_eq!(server.client.open(ask, true).unwrap().stream, 1);
    let head = "head 1 end=0 :method=CONNECT :scheme=http :authority=x.example :path=/chat :protocol=websocket sec-websocket-version=13";
    assert_eq!(server.hears(), [head]);
    server.says(&head_of(1, "200", &[])).unwrap();
    server.says(&frame(frame::DATA, 0, 1, b"hello")).unwrap();
    let agreed = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello";
    assert_eq!(server.reads(1), Ok((agreed.to_owned(), BodyReadResult::Nothing)));
    assert_eq!(server.client.send_data(1, b"and back", b"", false), Ok(8));
    assert_eq!(server.hears(), ["data 1 8 end=0"]);
    // A rejection is an ordinary response; an acceptance has no length.
    assert_eq!(server.client.open(ask, true).unwrap().stream, 3);
    server.says(&head_of(3, "403", &[("content-length", "2")])).unwrap();
    server.says(&frame(frame::DATA, 1, 3, b"no")).unwrap();
    let (refused, _) = server.reads(3).unwrap();
    assert!(refused.starts_with("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n"), "{refused}");
    assert_eq!(server.client.open(ask, true).unwrap().stream, 5);
    server.says(&head_of(5, "200", &[("content-length", "2")])).unwrap();
    assert_eq!(server.client.loss(5), Loss::Broken);
    assert!(server.says(&frame(frame::SETTINGS, 0, 0, &[0, 8, 0, 0, 0, 2])).is_err());
}

fn head_of(stream: u32, status: &str, more: &[(&str, &str)]) -> Vec<u8> {
    head(stream, OPEN, &[&[(":status", status)], more].concat())
}

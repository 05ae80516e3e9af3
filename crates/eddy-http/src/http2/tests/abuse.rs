//! Floods and invalid bytes.

use eddy_ids::WorkerTime;

use super::client::{GET, Http2TestClient, client};
use crate::http2::test_frames::{
    ENDS, OPEN, PREFACE, block, check_whole_frames, damage, frame, push_frame, random_bytes, random_numbers,
    until_fault,
};
use crate::http2::{Abuse, ErrorCode, Http2, Http2Fault, Http2Limits, frame};

#[test]
fn floods_end_the_connection_and_have_a_name() {
    for (flood, abuse) in [
        (frame(frame::PING, 0, 0, &[0; 8]), Abuse::Pings),
        (frame(frame::SETTINGS, 0, 0, &[]), Abuse::Settings),
        (frame(frame::PRIORITY, 0, 1, &[0; 5]), Abuse::Priorities),
        (frame(frame::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), Abuse::WindowUpdates),
        (frame(0x42, 0, 0, &[]), Abuse::OtherFrames),
        (frame(frame::DATA, 0, 1, &[]), Abuse::EmptyData),
    ] {
        let mut client = client();
        client.asks(1, OPEN, &GET).unwrap();
        let (count, fault) = until_fault(|_| client.server.receive(&flood, WorkerTime::ZERO));
        assert_eq!(fault, Http2Fault::Abuse(abuse));
        assert!(count <= 1000, "{abuse:?} {count}");
        assert_eq!(client.hears().last().unwrap(), "goaway 1 11");
        assert!(client.server.is_over() && client.server.is_gone(1));
    }
}

#[test]
fn cancelled_and_malformed_requests_are_counted() {
    type Attack = fn(&mut Http2TestClient, u32) -> Result<(), Http2Fault>;
    let attacks: [Attack; 3] = [
        |client, id| client.says(&frame(frame::RST_STREAM, 0, id, &[0, 0, 0, 8])),
        |client, id| client.says(&frame(frame::WINDOW_UPDATE, 0, id, &[0; 4])),
        |client, id| client.says(&frame(frame::PRIORITY, 0, id, &[&id.to_be_bytes()[..], &[1]].concat())),
    ];
    for attack in attacks {
        let mut client = client();
        let mut begun = 0;
        let (_, fault) = until_fault(|count| {
            let id = 1 + 2 * count;
            client.says(&frame(frame::HEADERS, ENDS, id, &block(&GET)))?;
            attack(&mut client, id)?;
            while let Some(opened) = client.server.next_opened() {
                begun += 1;
                client.server.finish(opened, ErrorCode::Cancel);
            }
            Ok(())
        });
        assert_eq!(fault, Http2Fault::Abuse(Abuse::Resets));
        assert!(begun <= 200, "{begun}");
    }
}

#[test]
fn endless_header_blocks_are_not_buffered() {
    for (piece, count_max) in [(vec![0; 16 * 1024], 8), (vec![0; 1], 41), (Vec::new(), 41)] {
        let mut client = client();
        client.says(&frame(frame::HEADERS, 0, 1, &block(&GET))).unwrap();
        assert!(client.server.is_in_block());
        let (count, fault) = until_fault(|_| client.says(&frame(frame::CONTINUATION, 0, 1, &piece)));
        assert_eq!(fault.code(), ErrorCode::EnhanceYourCalm);
        assert!(count < count_max, "{count}");
    }
}

/// Random splits and changes of frames cause neither a panic nor a response without a request.
#[test]
fn arbitrary_bytes_do_not_panic() {
    let mut random = random_numbers(42);
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
                _ => random_bytes(&mut random),
            };
            push_frame(&mut bytes, kind, flags, stream, &payload);
        }
        damage(&mut bytes, &mut random);
        let mut server =
            Http2::new(Http2Limits { streams_max: 2, ..Http2Limits::default() }, WorkerTime::ZERO);
        let (mut start, mut end) = (0, 0);
        while end < bytes.len() {
            end = (end + usize::try_from(random(60)).unwrap() + 1).min(bytes.len());
            match server.receive(&bytes[start..end], WorkerTime::ZERO) {
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
        check_whole_frames(server.output());
    }
    assert!((5_000..20_000).contains(&faults), "{faults}");
}

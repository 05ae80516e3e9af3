//! Bodies and trailers: windows, lengths and output.

use super::client::{GET, Http2TestClient, client};
use crate::http2::test_frames::{ENDS, OPEN, block, frame};
use crate::http2::{BodyReadResult, ErrorCode, Gone, Http2Limits, frame};

#[test]
fn a_body_is_buffered_up_to_its_window() {
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
fn the_connection_window_is_restored_however_streams_end() {
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
fn data_that_differs_from_its_content_length_resets_its_stream() {
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
fn trailers_pass_in_both_directions() {
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
fn a_response_respects_the_flow_control_windows() {
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
fn the_write_buffer_is_bounded() {
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

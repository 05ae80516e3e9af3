//! Number and end of streams, and the end of a connection.

use super::client::{GET, Http2TestClient, client};
use crate::http2::test_frames::{ENDS, OPEN, frame};
use crate::http2::{ErrorCode, Gone, Http2Limits, frame};

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
fn a_stream_that_both_sides_have_ended_leaves_room_for_the_next() {
    let mut client = Http2TestClient::new(Http2Limits { streams_max: 2, ..Http2Limits::default() });
    // Their exchanges go on, although the client has the whole responses.
    for id in [1, 3] {
        client.asks(id, ENDS, &GET).unwrap();
        client.server.send_head(id, b"HTTP/1.1 204 No Content\r\n\r\n", true).unwrap();
    }
    client.hears();
    for id in [5, 7] {
        client.asks(id, ENDS, &GET).unwrap();
    }
    assert_eq!(client.asks(9, ENDS, &GET), None, "two streams are open");
    for id in [5, 7] {
        client.server.send_head(id, b"HTTP/1.1 204 No Content\r\n\r\n", true).unwrap();
    }
    assert_eq!(client.asks(11, ENDS, &GET), None, "no more than twice as many are held");
    client.server.finish(1, ErrorCode::Internal);
    client.asks(13, ENDS, &GET).unwrap();
}

#[test]
fn an_early_response_ends_the_request_without_error() {
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
fn a_drain_sends_two_goaways() {
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

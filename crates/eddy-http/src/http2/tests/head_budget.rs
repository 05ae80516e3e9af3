//! Price and limits of heads that are large in proportion to their received bytes.

use super::client::{GET, Http2TestClient, client};
use crate::head::{HeadFault, HeadLimits};
use crate::http2::fields::FieldList;
use crate::http2::test_frames::{
    ENDS, OPEN, block, fields_with_repeats, frame, head_with_repeats, random_numbers, repeats, until_fault,
};
use crate::http2::{Abuse, ErrorCode, Http2Fault, Http2Limits, frame};

#[test]
fn a_small_header_block_does_not_become_a_large_head() {
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
fn heads_out_of_proportion_to_their_encoding_end_the_connection() {
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
fn heads_out_of_proportion_are_held_for_few_concurrent_requests() {
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
    let (count, fault) = until_fault(|count| {
        let id = 1 + 2 * count;
        client.asks(id, OPEN, &GET).unwrap();
        let fields = if count == 0 { fields_with_repeats(3_900, 15) } else { vec![0xbe; 16] };
        client.says(&frame(frame::HEADERS, ENDS, id, &fields))
    });
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
fn headers_of_common_encoders_cost_no_budget() {
    let mut numbers = random_numbers(7);
    let mut random = |below: usize| usize::try_from(numbers(below as u64)).unwrap();
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
    let (answered, fault) = until_fault(|answered| {
        let id = 1 + 2 * answered;
        let refused = block(&[GET.as_slice(), &fields[..129]].concat());
        client.says(&frame(frame::HEADERS, ENDS, id, &refused))?;
        assert_eq!(client.server.next_opened(), Some(id));
        assert_eq!(client.server.take_head(id).unwrap().fault, Some(HeadFault::TooManyFields));
        client.server.send_head(id, b"HTTP/1.1 431 Too Large\r\n\r\n", true).unwrap();
        client.server.finish(id, ErrorCode::Internal);
        client.hears();
        Ok(())
    });
    assert_eq!(fault, Http2Fault::Abuse(Abuse::Heads));
    assert!((90..200).contains(&answered), "{answered}");
}

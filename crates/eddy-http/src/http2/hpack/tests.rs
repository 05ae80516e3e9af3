//! Test vectors of RFC 7541, appendix C, and invalid input.

use std::ops::ControlFlow;

use super::integer::Unreadable;
use super::{Decoder, encode_field, encode_status, huffman, huffman_encode};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<String, Unreadable> {
    let mut text = String::new();
    decoder.decode(block, |name, value| {
        text += &format!("{}: {}\n", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
        ControlFlow::Continue(())
    })?;
    Ok(text)
}

#[test]
fn the_rfc_7541_appendix_examples_are_decoded() {
    let expected = [
        ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n",
        ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache\n",
        ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value\n",
    ];
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let coded = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::new();
        for (block, expected) in blocks.iter().zip(expected) {
            assert_eq!(decode(&mut decoder, &bytes(block)), Ok(expected.to_owned()), "{block}");
        }
    }
}

#[test]
fn the_dynamic_table_evicts_the_oldest_entry() {
    let mut decoder = Decoder::new();
    // A table of 64 bytes has room for one small field.
    let block = [bytes("3f21"), bytes("40 01 61 01 62"), bytes("40 01 63 01 64"), bytes("be")].concat();
    assert_eq!(decode(&mut decoder, &block), Ok("a: b\nc: d\nc: d\n".to_owned()));
    assert_eq!(decode(&mut decoder, &bytes("bf")), Err(Unreadable));
}

#[test]
fn invalid_header_blocks_are_refused() {
    for broken in [
        "80",                      // index 0
        "be",                      // the dynamic table is empty
        "7f",                      // incomplete integer
        "ffffffffffff01",          // integer too large
        "0001",                    // missing string
        "00 01 61 05 61",          // truncated string
        "82 20",                   // table size update after a field
        "3fe2 1f",                 // table size above 4096
        "00 01 61 81 ff",          // padding of eight bits
        "00 01 61 81 f8 ",         // not padding: '&' is f8, so this is valid
        "00 01 61 84 ff ff ff ff", // end-of-string symbol
    ] {
        let decoded = decode(&mut Decoder::new(), &bytes(broken));
        if broken.contains("f8 ") {
            assert_eq!(decoded, Ok("a: &\n".to_owned()));
        } else {
            assert_eq!(decoded, Err(Unreadable), "{broken}");
        }
    }
    // Padding of zeros.
    assert_eq!(decode(&mut Decoder::new(), &bytes("00 01 61 81 18")), Err(Unreadable));
}

#[test]
fn every_byte_round_trips_through_huffman_coding() {
    let all: Vec<u8> = (0..=255).collect();
    for length in 0..=256 {
        let (mut coded, mut text) = (Vec::new(), Vec::new());
        huffman_encode(&mut coded, &all[..length]);
        assert_eq!(coded.len(), huffman::length(&all[..length]));
        huffman::decode(&mut text, &coded).unwrap();
        assert_eq!(text, &all[..length]);
    }
}

#[test]
fn encoded_headers_are_decoded_unchanged() {
    let mut decoder = Decoder::new();
    for (index, status) in [200, 404, 418, 999].into_iter().enumerate() {
        let mut block = Vec::new();
        encode_status(&mut block, status, index == 0);
        encode_field(&mut block, b"content-type", b"text/plain");
        encode_field(&mut block, b"set-cookie", b"a=\xff");
        encode_field(&mut block, b"x", b"");
        encode_field(&mut block, &[b'n'; 300], &[b'\\'; 300]);
        let names = format!("{}: {}\n", "n".repeat(300), "\\".repeat(300));
        let expected =
            format!(":status: {status}\ncontent-type: text/plain\nset-cookie: a=\u{fffd}\nx: \n{names}");
        assert_eq!(decode(&mut decoder, &block), Ok(expected));
    }
}

#[test]
fn arbitrary_bytes_do_not_panic() {
    let mut state = 1_u64;
    let mut decoder = Decoder::new();
    for _ in 0..20_000 {
        let block: Vec<u8> = (0..state % 40)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_be_bytes()[0]
            })
            .collect();
        state = state.wrapping_add(1);
        let mut bytes = 0;
        let decoded = decoder.decode(&block, |name, value| {
            bytes += name.len() + value.len();
            ControlFlow::Continue(())
        });
        assert!(bytes < 40 * 5000, "a byte of a block names a field of the table at most");
        if decoded.is_err() {
            decoder = Decoder::new();
        }
    }
}

use super::*;
use crate::Fields;

/// Decodes `input` split after each of `cuts`; returns the data, the number of bytes consumed and the trailers.
fn decode(input: &[u8], cuts: &[usize]) -> Result<(Vec<u8>, usize, String), ChunkFault> {
    let mut decoder = ChunkDecoder::new(LIMITS);
    let mut data = Vec::new();
    let mut at = 0;
    let ends = cuts.iter().copied().chain([input.len()]);
    for end in ends {
        while at < end {
            decoder.check_invariants();
            match decoder.decode(&input[at..end])? {
                ChunkStep::Data { skip, len } => {
                    assert!(len > 0);
                    data.extend_from_slice(&input[at + skip..at + skip + len]);
                    at += skip + len;
                }
                ChunkStep::More { consumed } => {
                    assert_eq!(consumed, end - at, "more is asked for only when all is taken");
                    at = end;
                }
                ChunkStep::Done { consumed } => {
                    assert!(decoder.is_done());
                    at += consumed;
                    assert_eq!(decoder.decode(b"next"), Ok(ChunkStep::Done { consumed: 0 }));
                    let trailers = decoder.trailers();
                    let lines = trailers.iter().map(|field| {
                        format!(
                            "{}={};",
                            String::from_utf8_lossy(field.name),
                            String::from_utf8_lossy(field.value)
                        )
                    });
                    return Ok((data, at, lines.collect()));
                }
            }
        }
    }
    assert!(!decoder.is_done() && decoder.trailers().is_empty());
    Ok((data, at, String::from("unfinished")))
}

const LIMITS: ChunkLimits =
    ChunkLimits { extension_bytes_max: 24, trailer_bytes_max: 40, trailer_fields_max: 2 };

#[track_caller]
fn check(input: &str, expected: Result<(&str, usize, &str), ChunkFault>) {
    let expected =
        expected.map(|(data, taken, trailers)| (data.as_bytes().to_vec(), taken, String::from(trailers)));
    let every: Vec<usize> = (0..input.len()).collect();
    assert_eq!(decode(input.as_bytes(), &[]), expected, "{input:?} at once");
    assert_eq!(decode(input.as_bytes(), &every), expected, "{input:?} byte by byte");
}

#[track_caller]
fn refuse(input: &str, expected: ChunkFault) {
    check(input, Err(expected));
}

#[test]
fn data_is_decoded_without_chunk_framing() {
    check("0\r\n\r\n", Ok(("", 5, "")));
    check("3\r\nabc\r\n0\r\n\r\n", Ok(("abc", 13, "")));
    check("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET /", Ok(("abcde", 20, "")));
    check("A\r\n0123456789\r\n000\r\n\r\n", Ok(("0123456789", 22, "")));
    check("0000000000000003\r\nabc\r\n0\r\n\r\n", Ok(("abc", 28, "")));
    check("2\r\n\r\n\r\n0\r\n\r\n", Ok(("\r\n", 12, "")));
    check("3\r\nab", Ok(("ab", 5, "unfinished")));
    check("7fffffffffffffff\r\nab", Ok(("ab", 20, "unfinished")));
}

#[test]
fn extensions_are_checked_and_dropped() {
    for extension in
        [";a", ";a=b", " ; a = b", ";a=\"b;\\\"c\"", ";a;b=c;d", ";a =\"\" ;b", "\t;a", ";a=\"\t \u{e4}\""]
    {
        let input = format!("1{extension}\r\nx\r\n0\r\n\r\n");
        check(&input, Ok(("x", input.len(), "")));
    }
    for extension in [
        ";",
        ";;",
        ";=",
        ";a=",
        ";a=;",
        "; ",
        " ",
        "\t",
        " a",
        ";a b",
        ";a=b c",
        ";a=\"b\"c",
        ";a=b\"c\"",
        ";(",
        ";a=\u{e4}",
    ] {
        refuse(&format!("1{extension}\r\nx\r\n0\r\n\r\n"), ChunkFault::BadExtension);
    }
    for control in ["\n", "\0", "\x0b", "\x7f"] {
        refuse(&format!("1;a{control}\r\nx\r\n0\r\n\r\n"), ChunkFault::BadExtension);
        refuse(&format!("1;a=\"b{control}\"\r\nx\r\n0\r\n\r\n"), ChunkFault::BadExtension);
    }
    refuse("1;a=\"\r\n\"\r\nx\r\n0\r\n\r\n", ChunkFault::BadExtension);
    refuse("1;a\rx\r\n0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1;aaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n0\r\n\r\n", ChunkFault::ExtensionsTooLarge);
    refuse(&"1;aaaa\r\nx\r\n".repeat(9), ChunkFault::ExtensionsTooLarge);
}

#[test]
fn chunk_sizes_are_hex_digits_only() {
    for size in [
        "",
        "0x1",
        "+1",
        "-1",
        "1_0",
        "g",
        "\u{b9}",
        "1.0",
        ",1",
        "\n1",
        "\0",
        "00000000000000001",
        "10000000000000000",
        "8000000000000000",
        "ffffffffffffffff",
    ] {
        refuse(&format!("{size}\r\nx\r\n0\r\n\r\n"), ChunkFault::BadSize);
    }
    // White space that leads to no extension is rejected with the byte after it.
    refuse(" 1\r\nx\r\n0\r\n\r\n", ChunkFault::BadSize);
    refuse("1 \r\nx\r\n0\r\n\r\n", ChunkFault::BadExtension);
}

#[test]
fn line_ends_are_cr_lf() {
    refuse("1\nx\r\n0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1\rx\r\n0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1\r\r\nx\r\n0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1\r\nx\n0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1\r\nxy\r\n0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1\r\nx\r0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("1\r\nx0\r\n\r\n", ChunkFault::BadLineEnd);
    refuse("0\n\n", ChunkFault::BadLineEnd);
    refuse("0\r\n\n", ChunkFault::BadTrailer);
    refuse("0\r\n\rx", ChunkFault::BadTrailer);
}

#[test]
fn trailers_are_parsed_as_fields() {
    check("0\r\na: b\r\n\r\n", Ok(("", 11, "a=b;")));
    check("0\r\nA:b\r\nc:  d \r\n\r\nrest", Ok(("", 18, "A=b;c=d;")));
    for trailer in ["a : b", " a: b", "a", ": b", "a: b\r\n c", "a: b\nc: d", "a: b\rc", "a: \0", "a\x7f: b"]
    {
        refuse(&format!("0\r\n{trailer}\r\n\r\n"), ChunkFault::BadTrailer);
    }
    refuse("0\r\na: 1\r\nb: 2\r\nc: 3\r\n\r\n", ChunkFault::TrailersTooLarge);
    refuse(&format!("0\r\na: {}", "b".repeat(40)), ChunkFault::TrailersTooLarge);
}

#[test]
fn a_decoder_is_reusable_after_any_body() {
    let mut decoder = ChunkDecoder::new(LIMITS);
    decoder.decode(b"0\r\na: b\r\n\r\n").unwrap();
    assert_eq!(decoder.trailers().len(), 1);
    decoder.reset();
    assert!(decoder.trailers().is_empty() && !decoder.is_done());
    decoder.decode(b"1;aaaaaaaaaa\r\nx\r\nz").unwrap();
    decoder.reset();
    assert_eq!(decoder.decode(b"2;aaaaaaaaaaaaaa\r\nxy"), Ok(ChunkStep::Data { skip: 18, len: 2 }));
    assert_eq!(decoder.decode(b""), Ok(ChunkStep::More { consumed: 0 }));
}

#[test]
fn chunk_headers_are_sizes_in_hexadecimal() {
    for len in [1, 9, 10, 15, 16, 255, 256, 4096, 65535, 65536, usize::MAX] {
        let mut out = Vec::new();
        write_chunk_header(&mut out, len);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{len:x}\r\n"));
    }
}

#[test]
fn only_trailers_that_mean_the_same_after_the_body_are_passed_on() {
    let lines = b"Content-Length: 1\r\nHost: a\r\nGrpc-Status: 0\r\nX-Sum:  5 \r\nAuthorization: x\r\n\
        transfer_encoding: chunked\r\nSet-Cookie: c\r\nX-Forwarded-User: u\r\nETag: e\r\nConnection: x\r\nTrailer: y\r\n\r\n";
    let mut decoder = ChunkDecoder::new(ChunkLimits::default());
    decoder.decode(&[b"0\r\n", &lines[..]].concat()).unwrap();
    let mut out = Vec::new();
    write_trailers(&mut out, decoder.trailers());
    assert_eq!(String::from_utf8(out).unwrap(), "0\r\nGrpc-Status: 0\r\nX-Sum: 5\r\nETag: e\r\n\r\n");
    let mut none = Vec::new();
    write_trailers(&mut none, Fields::default());
    assert_eq!(none, LAST_CHUNK);
}

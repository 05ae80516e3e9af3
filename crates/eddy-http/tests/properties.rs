//! Properties that hold for any bytes, and for nearly or completely valid messages.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod fuzz;

use eddy_http::{
    ChunkDecoder, ChunkLimits, HeadLimits, HeadScanner, Method, RequestHead, ResponseHead, format_date,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Building blocks of messages, some of them invalid.
const PIECES: &[&[u8]] = &[
    b"GET ",
    b"POST ",
    b"OPTIONS ",
    b"CONNECT ",
    b"PRI ",
    b"/",
    b"/a?b",
    b"*",
    b"http://a.b:80/c",
    b"//",
    b"#",
    b" ",
    b" HTTP/1.1",
    b" HTTP/1.0",
    b" HTTP/2.0",
    b"HTTP/1.1 200 OK",
    b"HTTP/1.1 204",
    b"\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"\0",
    b"\t",
    b":",
    b": ",
    b"Host: a\r\n",
    b"Host: b.c:80\r\n",
    b"Host: [::1]\r\n",
    b"Content-Length: ",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"transfer-encoding: x, chunked\r\n",
    b"Connection: close, x-a\r\n",
    b"X-A: 1\r\n",
    b"x_forwarded_for: 2\r\n",
    b"X-Forwarded-For: 3\r\n",
    b"Forwarded: for=4\r\n",
    b"TE: trailers\r\n",
    b"Expect: 100-continue\r\n",
    b"X-My-Id: 5\r\n",
    b"x_user: 6\r\n",
    b"Cookie: a=b\r\n",
    b"Via: 1.0 x\r\n",
    b"abc",
    b"\x80\xff",
    b"0",
    b"3",
    b"a\r\n",
    b"ffffffffffffffff",
    b"Upgrade: WebSocket\r\n",
    b"Sec-WebSocket-Key1: 1\r\n",
    b"Host: 0.0.0.0=5000\r\n",
    b"HTTP/1.1 600 OK\r\n",
    b";e=\"f\"",
    b"_",
];

/// Concatenates building blocks and random bytes.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => (0..PIECES.len()).prop_map(|index| PIECES[index].to_vec()),
        1 => vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}",
        Just(String::from("X-Forwarded-For")),
        Just(String::from("cookie"))
    ]
}

/// Valid field lines without framing fields.
fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    let value = "[!-~\u{e0}-\u{ff}]([ -~\t]{0,20}[!-~])?|";
    vec((token(), value), 0..12).prop_map(|mut fields| {
        fields.retain(|(name, _)| {
            let name = name.to_ascii_lowercase();
            !["host", "content-length", "transfer-encoding", "connection", "expect", "te"]
                .contains(&name.as_str())
        });
        fields
    })
}

fn lines(fields: &[(String, String)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_judged_alike_in_any_chunking(data in vec(any::<u8>(), 0..300)) {
        fuzz::request_head(&data);
        fuzz::response_head(&data);
        fuzz::chunked(&data);
        fuzz::egress(&data);
        fuzz::forwarding(&data);
    }

    #[test]
    fn near_valid_messages_are_judged_alike_in_any_chunking(data in messages()) {
        fuzz::request_head(&data);
        fuzz::response_head(&data);
        fuzz::chunked(&data);
        fuzz::egress(&data);
        fuzz::forwarding(&data);
    }

    #[test]
    fn valid_requests_are_read_as_written(
        method in token(),
        path in "/[!-\"$->@-~]{0,30}",
        query in proptest::option::of("[!-\"$-~]{0,20}"),
        host in "[a-z0-9!$&'()*+;=_~-]{1,10}(\\.[a-z0-9=;]{1,10}){0,3}(:[1-9][0-9]{0,3})?",
        fields in fields(),
        choice in any::<u8>(),
    ) {
        let target = query.as_ref().map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
        let text = format!("{method} {target} HTTP/1.1\r\n{}Host: {host}\r\n\r\n", lines(&fields));
        let bytes = text.as_bytes();
        let limits = HeadLimits::default();
        prop_assert_eq!(HeadScanner::new().scan(bytes, &limits), Ok(Some(bytes.len())));
        let mut head = RequestHead::new();
        head.parse(bytes, &limits).unwrap();
        prop_assert_eq!(head.method_name(bytes), method.as_bytes());
        prop_assert_eq!(head.target.of(bytes), target.as_bytes());
        prop_assert_eq!(head.path.of(bytes), path.as_bytes());
        prop_assert_eq!(head.query.map(|query| query.of(bytes)), query.as_deref().map(str::as_bytes));
        prop_assert_eq!(head.authority.of(bytes), host.as_bytes());
        let read: Vec<_> = head.fields(bytes).iter().map(|field| (field.name, field.value)).collect();
        let mut written: Vec<_> = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        written.push((b"Host", host.as_bytes()));
        prop_assert_eq!(read, written);
        fuzz::request_head(bytes);
        fuzz::forwarding(&[&[choice], bytes].concat());
    }

    #[test]
    fn valid_responses_are_read_as_written(
        status in 102..600_u16,
        reason in "[ -~\u{e0}-\u{ff}]{0,20}",
        fields in fields(),
        length in any::<u32>(),
    ) {
        let text = format!("HTTP/1.1 {status} {reason}\r\nContent-Length: {length}\r\n{}\r\n", lines(&fields));
        let bytes = text.as_bytes();
        let mut head = ResponseHead::new();
        head.parse(bytes, &HeadLimits::default(), Method::Get).unwrap();
        prop_assert_eq!(head.status, status);
        prop_assert_eq!(head.reason.of(bytes), reason.as_bytes());
        prop_assert_eq!(head.content_length, Some(length.into()));
        prop_assert_eq!(head.fields(bytes).len(), fields.len() + 1);
        fuzz::response_head(bytes);
    }

    #[test]
    fn chunks_are_read_as_written(chunks in vec(vec(any::<u8>(), 1..40), 0..8), fields in fields(), step in any::<u8>()) {
        let mut body = Vec::new();
        for chunk in &chunks {
            eddy_http::write_chunk_header(&mut body, chunk.len());
            body.extend_from_slice(chunk);
            body.extend_from_slice(eddy_http::CHUNK_END);
        }
        body.extend_from_slice(format!("0\r\n{}\r\n", lines(&fields)).as_bytes());
        let mut decoder = ChunkDecoder::new(ChunkLimits::default());
        let mut rest = body.as_slice();
        let mut data = Vec::new();
        while let eddy_http::ChunkStep::Data { skip, len } = decoder.decode(rest).unwrap() {
            data.extend_from_slice(&rest[skip..skip + len]);
            rest = &rest[skip + len..];
        }
        prop_assert!(decoder.is_done());
        prop_assert_eq!(data, chunks.concat());
        prop_assert_eq!(decoder.trailers().len(), fields.len());
        fuzz::chunked(&[&[step], body.as_slice()].concat());
    }

    #[test]
    fn dates_have_their_form(seconds in any::<u64>()) {
        let date = String::from_utf8(format_date(seconds).to_vec()).unwrap();
        prop_assert!(date.ends_with(" GMT") && date.is_char_boundary(29));
        let day: u32 = date[5..7].parse().unwrap();
        prop_assert!((1..=31).contains(&day));
    }
}

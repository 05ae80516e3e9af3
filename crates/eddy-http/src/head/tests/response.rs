use crate::head::{HeadFault, HeadLimits, ResponseBody, ResponseContext, ResponseHead};
use crate::method::{Method, Version};

fn parse(text: &[u8], method: Method) -> Result<ResponseHead, HeadFault> {
    let mut head = ResponseHead::new();
    head.parse(text, &HeadLimits::default(), method).map(|()| head)
}

#[track_caller]
fn accept(text: &str) -> ResponseHead {
    accept_for(text, Method::Get)
}

#[track_caller]
fn accept_for(text: &str, method: Method) -> ResponseHead {
    parse(text.as_bytes(), method).unwrap_or_else(|fault| panic!("{text:?} is refused: {fault}"))
}

#[track_caller]
fn refuse(text: &str, expected: HeadFault) {
    assert_eq!(parse(text.as_bytes(), Method::Get).err(), Some(expected), "{text:?}");
}

#[test]
fn status_lines_are_parsed() {
    for (line, status, reason) in [
        ("HTTP/1.1 200 OK", 200, "OK"),
        ("HTTP/1.1 200 ", 200, ""),
        ("HTTP/1.1 200", 200, ""),
        ("HTTP/1.1 404 Not  Found\there", 404, "Not  Found\there"),
        ("HTTP/1.0 500 Fehler \u{e4}", 500, "Fehler \u{e4}"),
        ("HTTP/1.1 599 x", 599, "x"),
        ("HTTP/1.1 100 Continue", 100, "Continue"),
    ] {
        let text = format!("{line}\r\n\r\n");
        let head = accept(&text);
        assert_eq!((head.status, head.reason.of(text.as_bytes())), (status, reason.as_bytes()));
    }
}

#[test]
fn status_lines_are_read_strictly() {
    for line in [
        "HTTP/1.1  200 OK",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 099 OK",
        "HTTP/1.1 000 OK",
        "HTTP/1.1 600 OK",
        "HTTP/1.1 999 OK",
        "HTTP/1.1 2x0 OK",
        "HTTP/1.1 +20 OK",
        "HTTP/1.2 200 OK",
        "HTTP/2.0 200 OK",
        "http/1.1 200 OK",
        "HTTP/1.1\t200 OK",
        "HTTP/1.1 200\tOK",
        "HTTP/1.1 200OK",
        " HTTP/1.1 200 OK",
        "ICY 200 OK     ",
        "HTTP/1.1 -10 OK",
        "HTTP/1.1 OK        ",
    ] {
        refuse(&format!("{line}\r\n\r\n"), HeadFault::BadStatusLine);
    }
    refuse("\r\nHTTP/1.1 200 OK\r\n\r\n", HeadFault::BadStatusLine);
    refuse("HTTP/1.1 200 OK\n\r\n", HeadFault::BareLf);
    refuse("HTTP/1.1 200\n\r\n", HeadFault::BareLf);
    refuse("HTTP/1.1 200 O\rK\r\n\r\n", HeadFault::BareCr);
    refuse("HTTP/1.1 200 O\0K\r\n\r\n", HeadFault::Control);
    refuse("HTTP/1.1 200 OK\r\n", HeadFault::Truncated);
    refuse("HTTP/1.1 200", HeadFault::Truncated);
    refuse("HTTP", HeadFault::Truncated);
    refuse("HTTP/1.1 200 OK\r\n\r\nx", HeadFault::Excess);
    refuse("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", HeadFault::UnaskedSwitch);
}

#[test]
fn response_fields_are_parsed_as_strictly_as_request_fields() {
    refuse("HTTP/1.1 200 OK\r\na : b\r\n\r\n", HeadFault::BadFieldName);
    refuse("HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n", HeadFault::FieldFold);
    refuse("HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n", HeadFault::BareLf);
    refuse("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", HeadFault::LengthRepeated);
    refuse("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", HeadFault::BadLength);
    refuse(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        HeadFault::LengthAndCoding,
    );
    refuse("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", HeadFault::BadCoding);
    refuse("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", HeadFault::CodingInHttp10);
}

#[test]
fn a_head_at_the_start_of_more_is_found_without_a_scan() {
    let mut head = ResponseHead::new();
    let limits = HeadLimits { head_bytes_max: 25, ..HeadLimits::default() };
    let mut check = |text: &str, expected: Result<Option<usize>, HeadFault>| {
        assert_eq!(head.parse_start(text.as_bytes(), &limits, Method::Get), expected, "{text:?}");
    };
    let text = "HTTP/1.1 200 OK\r\na: b\r\n\r\n";
    for end in 0..text.len() {
        check(&text[..end], Ok(None));
    }
    check(text, Ok(Some(25)));
    check(&format!("{text}body"), Ok(Some(25)));
    check("HTTP/1.1 200 OK\r\na: bc\r\n\r\n", Err(HeadFault::HeadTooLarge));
    check("HTTP/1.1 2x", Ok(None));
    check("HTTP/1.1 2x0", Err(HeadFault::BadStatusLine));
    check("HTTP/2.0 ", Err(HeadFault::BadStatusLine));
}

#[test]
fn response_body_framing_follows_the_rules_in_order() {
    let length = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let nothing = "HTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(accept(length).body, ResponseBody::Length(7));
    assert_eq!(accept(chunked).body, ResponseBody::Chunked);
    assert_eq!(accept(nothing).body, ResponseBody::UntilClose);
    for text in [length, chunked, nothing] {
        assert_eq!(accept_for(text, Method::Head).body, ResponseBody::None);
        for status in ["204", "304", "100", "103"] {
            assert_eq!(accept(&text.replace("200", status)).body, ResponseBody::None);
        }
    }
    assert_eq!(accept_for(length, Method::Head).content_length, Some(7));
    assert_eq!(accept(chunked).content_length, None);
}

#[test]
fn ambiguous_responses_end_keep_alive() {
    let keeps = |head: &str| accept(&format!("{head}\r\n\r\n")).keep_alive;
    assert!(keeps("HTTP/1.1 200 OK\r\nContent-Length: 0"));
    assert!(!keeps("HTTP/1.1 200 OK"));
    assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0"));
    assert!(!keeps("HTTP/1.0 200 OK\r\nContent-Length: 0"));
    assert!(keeps("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0"));
    assert!(keeps("HTTP/1.1 204 x\r\nContent-Length: 0"));
    assert!(keeps("HTTP/1.1 304 x\r\nContent-Length: 5"));
    assert!(!keeps("HTTP/1.1 204 x\r\nContent-Length: 5"));
    assert!(!keeps("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked"));
    assert!(!keeps("HTTP/1.1 103 x\r\nContent-Length: 5"));
    assert!(accept("HTTP/1.1 103 x\r\n\r\n").is_interim());
    assert!(!accept("HTTP/1.1 200 x\r\n\r\n").is_interim());
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
    assert!(accept_for(text, Method::Head).keep_alive);
}

#[test]
fn a_body_without_length_is_sent_as_the_client_can_read_it() {
    use ResponseBody::{Chunked, Length, None, UntilClose};
    for body in [Chunked, UntilClose] {
        assert_eq!(body.towards(Version::Http11), Chunked);
        assert_eq!(body.towards(Version::Http10), UntilClose);
    }
    for body in [None, Length(1)] {
        assert_eq!(body.towards(Version::Http11), body);
        assert_eq!(body.towards(Version::Http10), body);
    }
}

#[test]
fn a_switch_is_accepted_only_if_it_was_requested() {
    let parse = |text: &str, asked: ResponseContext| {
        let mut head = ResponseHead::new();
        let parsed = head.parse(text.as_bytes(), &HeadLimits::default(), asked);
        parsed.map(|()| (head.status, head.body, head.keep_alive, head.is_interim()))
    };
    let upgrade = ResponseContext::upgrade(Method::Get);
    let both = "Connection: Upgrade\r\nUpgrade: x\r\n";
    let switched = Ok((101, ResponseBody::None, false, false));
    assert_eq!(parse(&format!("HTTP/1.1 101 S\r\n{both}\r\n"), upgrade), switched);
    assert_eq!(parse(&format!("HTTP/1.1 101 S\r\n{both}Content-Length: 0\r\n\r\n"), upgrade), switched);
    for fields in [
        "",
        "Connection: Upgrade\r\n",
        "Upgrade: x\r\n",
        "Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 1\r\n",
        "Connection: Upgrade\r\nUpgrade: x\r\nTransfer-Encoding: chunked\r\n",
    ] {
        let text = format!("HTTP/1.1 101 S\r\n{fields}\r\n");
        assert_eq!(parse(&text, upgrade), Err(HeadFault::BadSwitch), "{text:?}");
        assert_eq!(parse(&text, Method::Get.into()), Err(HeadFault::UnaskedSwitch), "{text:?}");
        assert_eq!(parse(&text, Method::Connect.into()), Err(HeadFault::UnaskedSwitch), "{text:?}");
    }
    // Any other response is framed as usual, and further responses may follow.
    assert_eq!(
        parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", upgrade),
        Ok((200, ResponseBody::Length(3), true, false))
    );
    assert_eq!(parse("HTTP/1.1 100 C\r\n\r\n", upgrade), Ok((100, ResponseBody::None, true, true)));
    let tunnel = Method::Connect.into();
    assert_eq!(parse("HTTP/1.1 204 x\r\n\r\n", tunnel), Ok((204, ResponseBody::None, false, false)));
    assert_eq!(parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", tunnel), Err(HeadFault::BadSwitch));
    assert_eq!(
        parse("HTTP/1.1 403 no\r\nContent-Length: 3\r\n\r\n", tunnel),
        Ok((403, ResponseBody::Length(3), true, false))
    );
}

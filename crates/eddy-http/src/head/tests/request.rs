use crate::head::{HeadFault, HeadLimits, RequestBody, RequestHead, TargetForm};
use crate::method::{METHOD_BYTES_MAX, Method, Version};

fn parse(text: &[u8]) -> Result<RequestHead, HeadFault> {
    let mut head = RequestHead::new();
    head.parse(text, &HeadLimits::default()).map(|()| head)
}

#[track_caller]
fn accept(text: &str) -> RequestHead {
    parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{text:?} is refused: {fault}"))
}

#[track_caller]
fn refuse(text: &str, expected: HeadFault) {
    assert_eq!(parse(text.as_bytes()).err(), Some(expected), "{text:?}");
}

/// Checks a request line in an otherwise valid head.
#[track_caller]
fn refuse_line(line: &str, expected: HeadFault) {
    refuse(&format!("{line}\r\nHost: a\r\n\r\n"), expected);
}

/// Checks fields after a valid request line and host.
#[track_caller]
fn refuse_fields(fields: &str, expected: HeadFault) {
    refuse(&format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n"), expected);
}

#[track_caller]
fn accept_fields(fields: &str) -> RequestHead {
    accept(&format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n"))
}

/// Checks path, query, authority and host of a valid head with this target.
#[track_caller]
fn check_target(line: &str, host: &str, form: TargetForm, expected: [&str; 4], origin: &str) {
    let text = format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let head = accept(&text);
    let bytes = text.as_bytes();
    let of = |span: crate::Span| String::from_utf8(span.of(bytes).to_vec()).unwrap();
    let query = head.query.map(of).unwrap_or_else(|| String::from("none"));
    assert_eq!([of(head.path), query, of(head.authority), of(head.host)], expected, "{text:?}");
    assert_eq!(head.form, form, "{text:?}");
    let mut scratch = Vec::new();
    assert_eq!(String::from_utf8(head.origin_target(bytes, &mut scratch).to_vec()).unwrap(), origin);
}

#[test]
fn targets_are_parsed() {
    use TargetForm::{Absolute, Asterisk, Origin};
    check_target("GET /", "a.b", Origin, ["/", "none", "a.b", "a.b"], "/");
    check_target("GET /p/q?x=1&y=2", "a.b:80", Origin, ["/p/q", "x=1&y=2", "a.b:80", "a.b"], "/p/q?x=1&y=2");
    check_target("GET /p?", "a", Origin, ["/p", "", "a", "a"], "/p?");
    check_target("GET /p?q?r", "a", Origin, ["/p", "q?r", "a", "a"], "/p?q?r");
    check_target("GET //p/../%2e?/", "a", Origin, ["//p/../%2e", "/", "a", "a"], "//p/../%2e?/");
    check_target("GET /|{}\"<>\\^`", "a", Origin, ["/|{}\"<>\\^`", "none", "a", "a"], "/|{}\"<>\\^`");
    check_target("GET http://b:81/p?q", "a", Absolute, ["/p", "q", "b:81", "b"], "/p?q");
    check_target("GET HTTPS://b/p", "a", Absolute, ["/p", "none", "b", "b"], "/p");
    check_target("GET http://b", "a", Absolute, ["", "none", "b", "b"], "/");
    check_target("GET http://b?q=/x", "a", Absolute, ["", "q=/x", "b", "b"], "/?q=/x");
    check_target("OPTIONS http://b", "a", Absolute, ["", "none", "b", "b"], "*");
    check_target("OPTIONS http://b/", "a", Absolute, ["/", "none", "b", "b"], "/");
    check_target("OPTIONS *", "a", Asterisk, ["*", "none", "a", "a"], "*");
    check_target("GET http://[::1]:80/", "a", Absolute, ["/", "none", "[::1]:80", "[::1]"], "/");
}

#[test]
fn hosts_are_checked() {
    for host in
        ["a", "a.b.c", "a.b.c.", "A-b_c~d.e", "127.0.0.1", "[::1]", "[2001:db8::1]", "xn--bcher-kva.example"]
    {
        let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(accept(&text).host.of(text.as_bytes()), host.as_bytes());
        for port in ["1", "80", "65535", "00080"] {
            let text = format!("GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
            let head = accept(&text);
            assert_eq!(head.host.of(text.as_bytes()), host.as_bytes());
            assert_eq!(head.authority.of(text.as_bytes()), format!("{host}:{port}").as_bytes());
        }
        // A colon without a port means no port (RFC 3986 §3.2.3).
        let text = format!("GET / HTTP/1.1\r\nHost: {host}:\r\n\r\n");
        assert_eq!(accept(&text).authority.of(text.as_bytes()), host.as_bytes());
    }
    let long = "a".repeat(256);
    for host in [
        "",
        ":80",
        "a,b",
        "a b",
        "u@a",
        "u:p@a",
        "a:b",
        "a:80:80",
        "a:0",
        "a:65536",
        "a:123456",
        "a:+80",
        "a:-1",
        "a/",
        "http://a",
        "a?b",
        "a#b",
        "a\\b",
        "a%62",
        "a\"",
        "a..b",
        ".a",
        "..",
        ".",
        "[::1",
        "::1",
        "[::1]a",
        "[::g]",
        "[]",
        "[v1.a]",
        "[::1%25eth0]",
        "[127.0.0.1]",
        "a]",
        "\u{e4}",
        "a\tb",
        "a%2eb",
        &long,
    ] {
        refuse(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), HeadFault::BadHost);
        if !["a/", "http://a", "a?b", "a#b", "a b", "a\tb", "\u{e4}"].contains(&host) {
            refuse(&format!("GET http://{host}/ HTTP/1.1\r\nHost: a\r\n\r\n"), HeadFault::BadTarget);
        }
    }
    refuse("GET / HTTP/1.1\r\n\r\n", HeadFault::HostMissing);
    refuse("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", HeadFault::HostRepeated);
    refuse("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", HeadFault::HostRepeated);
    refuse("GET http://a/ HTTP/1.1\r\n\r\n", HeadFault::HostMissing);
    refuse("GET http://a/ HTTP/1.1\r\nHost: a b\r\n\r\n", HeadFault::BadHost);
}

#[test]
fn a_host_allows_reg_name_characters_except_commas_and_escapes() {
    for host in ["0.0.0.0=5000", "(a)", "*", "a*", "a=b", "!$&'()*+;=", "a;b:81", "x=~_-.y"] {
        for text in [
            format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            format!("GET http://{host}/ HTTP/1.1\r\nHost: other\r\n\r\n"),
        ] {
            assert_eq!(accept(&text).authority.of(text.as_bytes()), host.as_bytes(), "{text:?}");
        }
    }
    let text = "CONNECT a=b:443 HTTP/1.1\r\nHost: a=b:443\r\n\r\n";
    assert_eq!(accept(text).host.of(text.as_bytes()), b"a=b");
}

#[test]
fn a_host_is_optional_where_target_or_version_allow_it() {
    for text in
        ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost:\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: \r\n\r\n"]
    {
        let head = accept(text);
        assert!(head.host.is_empty() && head.authority.is_empty(), "{text:?}");
    }
    let text = "GET http://b/ HTTP/1.1\r\nHost:\r\n\r\n";
    assert_eq!(accept(text).host.of(text.as_bytes()), b"b");
    refuse("GET / HTTP/1.1\r\nHost:\r\n\r\n", HeadFault::BadHost);
}

#[test]
fn request_lines_are_read_strictly() {
    refuse_line("GET  / HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /  HTTP/1.1", HeadFault::BadVersion);
    refuse_line("GET / HTTP/1.1 ", HeadFault::BadVersion);
    refuse_line(" GET / HTTP/1.1", HeadFault::BadMethod);
    refuse_line("GET\t/ HTTP/1.1", HeadFault::BadMethod);
    refuse_line("GET /\tHTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /\x0bHTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /", HeadFault::BadTarget);
    refuse_line("GET", HeadFault::BadMethod);
    refuse_line("", HeadFault::BadMethod);
    refuse_line("GET / /b HTTP/1.1", HeadFault::BadVersion);
    refuse_line("G@T / HTTP/1.1", HeadFault::BadMethod);
    refuse_line("G\0T / HTTP/1.1", HeadFault::BadMethod);
    refuse_line("GET /\0 HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /a#b HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /?a#b HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /\u{e4} HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET /\x7f HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET * HTTP/1.1", HeadFault::BadTarget);
    refuse_line("OPTIONS *a HTTP/1.1", HeadFault::BadTarget);
    refuse_line("OPTIONS *?a HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET a HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET ?a HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET a:80 HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET ftp://a/ HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET http:/a HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET http:///a HTTP/1.1", HeadFault::BadTarget);
    refuse_line("GET http://?a HTTP/1.1", HeadFault::BadTarget);
}

#[test]
fn versions_are_read_exactly() {
    for version in
        ["HTTP/1.2", "HTTP/0.9", "HTTP/1.10", "HTTP/1", "HTTP/1.", "HTTP/01.1", "HTTP/1.01", "http/1.1"]
    {
        refuse_line(&format!("GET / {version}"), HeadFault::BadVersion);
    }
    for version in
        ["HTTP/+1.1", "HTTP1.1", "HTP/1.1", "ICY/1.1", "", "HTTP/10.1", "HTTP/2", "HTTP/2.00", "HTTP/1.1\t"]
    {
        refuse_line(&format!("GET / {version}"), HeadFault::BadVersion);
    }
    for version in ["HTTP/2.0", "HTTP/3.0", "HTTP/9.9", "HTTP/2.1"] {
        refuse_line(&format!("GET / {version}"), HeadFault::UnknownVersion);
    }
    refuse("PRI * HTTP/2.0\r\n\r\n", HeadFault::UnknownVersion);
    refuse("PRI * HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::BadMethod);
    refuse("PRI / HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::BadMethod);
    accept("PRIX / HTTP/1.1\r\nHost: a\r\n\r\n");
    accept("pri / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(HeadFault::UnknownVersion.status(), 505);
    assert_eq!(accept("GET / HTTP/1.0\r\n\r\n").version, Version::Http10);
}

#[test]
fn line_ends_are_cr_lf_and_nothing_else() {
    refuse("GET / HTTP/1.1\nHost: a\r\n\r\n", HeadFault::BareLf);
    refuse("GET / HTTP/1.1\rHost: a\r\n\r\n", HeadFault::BareCr);
    refuse("GET / HTTP/1.1\r\nHost: a\n\n", HeadFault::BareLf);
    refuse("GET / HTTP/1.1\r\nHost: a\nB: c\r\n\r\n", HeadFault::BareLf);
    refuse("GET / HTTP/1.1\r\nHost: a\r\n\n", HeadFault::BareLf);
    refuse("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", HeadFault::BareCr);
    refuse("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::BareLf);
    accept("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    refuse("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::BadMethod);
    refuse("GET / HTTP/1.1\r\n Host: a\r\n\r\n", HeadFault::FieldFold);
    refuse("GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n d\r\n\r\n", HeadFault::FieldFold);
    refuse("GET / HTTP/1.1\r\nHost: a\r\n\r\nx", HeadFault::Excess);
    refuse("GET / HTTP/1.1\r\nHost: a\r\n", HeadFault::Truncated);
}

#[test]
fn framing_is_content_length_or_chunked() {
    assert_eq!(accept_fields("a: b").body, RequestBody::None);
    assert_eq!(accept_fields("Content-Length: 0").body, RequestBody::Length(0));
    assert_eq!(accept_fields("content-length:42 ").body, RequestBody::Length(42));
    assert_eq!(accept_fields("Content-Length: 0042").body, RequestBody::Length(42));
    let most = 9_223_372_036_854_775_807;
    assert_eq!(accept_fields(&format!("Content-Length: {most}")).body, RequestBody::Length(most));
    assert_eq!(accept_fields("Transfer-Encoding: chunked").body, RequestBody::Chunked);
    assert_eq!(accept_fields("transfer-encoding:CHUNKED\t").body, RequestBody::Chunked);
    for length in [
        "",
        "+1",
        "-1",
        "1,1",
        "1, 1",
        "1 1",
        "0x1",
        "1_0",
        "1.0",
        "1e3",
        "a",
        "1;",
        "9223372036854775808",
        "9999999999999999999",
        "18446744073709551616",
        "00000000000000000001",
        "\u{b2}",
        "1\u{a0}",
    ] {
        refuse_fields(&format!("Content-Length: {length}"), HeadFault::BadLength);
    }
    refuse_fields("Content-Length: 1\r\nContent-Length: 1", HeadFault::LengthRepeated);
    refuse_fields("Content-Length: 1\r\ncontent-length: 2", HeadFault::LengthRepeated);
    for coding in [
        "",
        "identity",
        "gzip, chunked",
        "chunked, chunked",
        "chunked,",
        ",chunked",
        "chunked;a=b",
        "\"chunked\"",
        "xchunked",
        "chunke",
        "chunkedx",
        "chunked gzip",
        "chun ked",
        "chunked\u{a0}",
    ] {
        refuse_fields(&format!("Transfer-Encoding: {coding}"), HeadFault::BadCoding);
    }
    refuse_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", HeadFault::CodingRepeated);
    refuse_fields("Transfer-Encoding: chunked\r\nContent-Length: 1", HeadFault::LengthAndCoding);
    refuse_fields("Content-Length: 1\r\nTransfer-Encoding: chunked", HeadFault::LengthAndCoding);
    refuse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", HeadFault::CodingInHttp10);
    refuse(
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        HeadFault::CodingInHttp10,
    );
}

#[test]
fn unknown_expectations_are_refused() {
    assert!(accept_fields("Content-Length: 1\r\nExpect: 100-Continue").expects_continue);
    assert!(accept_fields("Transfer-Encoding: chunked\r\nExpect: 100-continue").expects_continue);
    assert!(!accept_fields("Expect: 100-continue").expects_continue);
    assert!(!accept("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n").expects_continue);
    for expectation in ["", "100", "100-continue, x", "200-ok", "x=y", "100-continue;a"] {
        refuse_fields(&format!("Expect: {expectation}"), HeadFault::UnknownExpectation);
    }
    refuse_fields("Expect: 100-continue\r\nExpect: 100-continue", HeadFault::UnknownExpectation);
    assert_eq!(HeadFault::UnknownExpectation.status(), 417);
}

#[test]
fn connect_and_trace_with_a_body_are_refused() {
    assert!(accept("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n").wants_tunnel());
    for target in ["/", "a", "a:", "a:0", "a?b:1", "http://a:1", "a:1/", "u@a:1"] {
        refuse(&format!("CONNECT {target} HTTP/1.1\r\nHost: a\r\n\r\n"), HeadFault::BadTarget);
    }
    for field in ["Content-Length: 0", "Content-Length: 5", "Transfer-Encoding: chunked"] {
        let text = format!("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n{field}\r\n\r\n");
        refuse(&text, HeadFault::ConnectRefused);
    }
    refuse("CONNECT a:443 HTTP/1.0\r\nHost: a:443\r\n\r\n", HeadFault::ConnectRefused);
    assert_eq!(HeadFault::ConnectRefused.status(), 501);
    refuse("TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", HeadFault::TraceWithBody);
    accept("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n");
}

#[test]
fn keep_alive_follows_version_and_connection_option() {
    let keeps = |version: &str, fields: &str| {
        accept(&format!("GET / HTTP/{version}\r\nHost: a\r\n{fields}\r\n")).keep_alive
    };
    assert!(keeps("1.1", ""));
    assert!(!keeps("1.0", ""));
    assert!(!keeps("1.1", "Connection: Close\r\n"));
    assert!(keeps("1.0", "Connection: Keep-Alive\r\n"));
    assert!(!keeps("1.0", "Connection: keep-alive, close\r\n"));
    assert!(!keeps("1.1", "Connection: x\r\nConnection: ,, close\r\n"));
    assert!(keeps("1.1", "Connection: closed\r\n"));
    assert!(keeps("1.1", "Proxy-Connection: close\r\n"));
}

#[test]
fn connection_nominates_only_unknown_fields() {
    let head = accept_fields(
        "X-A: 1\r\nConnection: x-a, X-B, cookie, host, x-forwarded-for\r\nx-b: 2\r\nX-C: 3\r\nCookie: c\r\nX-Forwarded-For: d",
    );
    let nominated: Vec<bool> = head.places().iter().map(|field| field.is_nominated).collect();
    assert_eq!(nominated, [false, true, false, true, false, false, false]);
    let many = "x,".repeat(33);
    refuse_fields(&format!("Connection: {many}"), HeadFault::TooManyOptions);
    accept_fields(&format!("Connection: {}", "x,".repeat(32)));
    accept_fields(&format!("Connection: {}", ",".repeat(1000)));
}

#[test]
fn upgrade_te_and_max_forwards_are_recorded() {
    assert!(accept_fields("Connection: Upgrade\r\nUpgrade: websocket").has_upgrade);
    assert!(!accept_fields("Upgrade: websocket").has_upgrade);
    assert!(!accept_fields("Connection: upgrade").has_upgrade);
    assert!(accept_fields("TE: gzip, Trailers").accepts_trailers);
    assert!(!accept_fields("TE: trailersx").accepts_trailers);
    let hops = |line: &str, value: &str| {
        accept(&format!("{line} HTTP/1.1\r\nHost: a\r\nMax-Forwards: {value}\r\n\r\n")).max_forwards
    };
    assert_eq!(hops("OPTIONS *", "0"), Some(0));
    assert_eq!(hops("TRACE /", "10"), Some(10));
    assert_eq!(hops("GET /", "10"), None);
    assert_eq!(hops("TRACE /", "x"), None);
    assert_eq!(hops("TRACE /", "+1"), None);
    assert_eq!(hops("TRACE /", "99999999999"), None);
}

#[test]
fn limits_hold_to_the_byte() {
    let limits = HeadLimits { head_bytes_max: 64, fields_max: 2, target_bytes_max: 8 };
    let check = |text: &str| RequestHead::new().parse(text.as_bytes(), &limits);
    assert_eq!(check("GET /1234567 HTTP/1.1\r\nHost: a\r\n\r\n"), Ok(()));
    assert_eq!(check("GET /12345678 HTTP/1.1\r\nHost: a\r\n\r\n"), Err(HeadFault::TargetTooLong));
    assert_eq!(check("GET / HTTP/1.1\r\nHost: a\r\nb: c\r\n\r\n"), Ok(()));
    assert_eq!(check("GET / HTTP/1.1\r\nHost: a\r\nb: c\r\nd: e\r\n\r\n"), Err(HeadFault::TooManyFields));
    let padded = |length: usize| format!("GET / HTTP/1.1\r\nHost: a\r\nb: {}\r\n\r\n", "c".repeat(length));
    let fixed = padded(0).len();
    assert_eq!(check(&padded(64 - fixed)), Ok(()));
    assert_eq!(check(&padded(65 - fixed)), Err(HeadFault::HeadTooLarge));
    let line = |length: usize| format!("{} / HTTP/1.1\r\nHost: a\r\n\r\n", "M".repeat(length));
    accept(&line(METHOD_BYTES_MAX));
    refuse(&line(METHOD_BYTES_MAX + 1), HeadFault::MethodTooLong);
    let statuses = [
        HeadFault::TargetTooLong,
        HeadFault::HeadTooLarge,
        HeadFault::TooManyFields,
        HeadFault::MethodTooLong,
    ];
    assert_eq!(statuses.map(HeadFault::status), [414, 431, 431, 501]);
}

#[test]
fn a_head_at_the_start_of_more_is_found_without_a_scan() {
    let mut head = RequestHead::new();
    let limits = HeadLimits { head_bytes_max: 27, fields_max: 1, target_bytes_max: 8 };
    let mut check = |text: &str, expected: Result<Option<usize>, HeadFault>| {
        assert_eq!(head.parse_start(text.as_bytes(), &limits), expected, "{text:?}");
    };
    let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    for end in 0..text.len() {
        check(&text[..end], Ok(None));
    }
    check(text, Ok(Some(27)));
    check(&format!("{text}{text}"), Ok(Some(27)));
    check("\r", Ok(None));
    check("\r\n", Ok(None));
    check("\r\nGET / HTTP/1.0\r\n\r\n", Ok(Some(20)));
    check("GET / HTTP/1.1\r\nHost: ab\r\n\r\n", Err(HeadFault::HeadTooLarge));
    check("GET / HTTP/1.1\r\nHost: abcde", Ok(None));
    check("GET / HTTP/1.1\r\nHost: abcdef", Err(HeadFault::HeadTooLarge));
    check("GET / HTTP/1.1\r\nA: b\r\nC:", Err(HeadFault::TooManyFields));
    check("GET /\n", Err(HeadFault::BareLf));
}

#[test]
fn a_head_is_reusable_after_any_parse() {
    let mut head = RequestHead::new();
    let limits = HeadLimits::default();
    let first = b"POST /p?q HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\nX: 1\r\nTE: trailers\r\nContent-Length: 3\r\n\r\n";
    head.parse(first, &limits).unwrap();
    head.parse(b"bad", &limits).unwrap_err();
    let second = b"GET / HTTP/1.1\r\nHost: b\r\n\r\n";
    head.parse(second, &limits).unwrap();
    let fresh = parse(second).unwrap();
    assert_eq!(format!("{head:?}"), format!("{fresh:?}"));
    assert_eq!(head.method, Method::Get);
}

#[test]
fn upgrade_offers_are_reported_where_switching_is_possible() {
    let check = |line: &str, fields: &str, expected: &[&str]| {
        let text = format!("{line}\r\nHost: a\r\n{fields}\r\n");
        let head = accept(&text);
        let offered: Vec<&str> =
            head.upgrades(text.as_bytes()).map(|name| std::str::from_utf8(name).unwrap()).collect();
        assert_eq!(offered, expected, "{text:?}");
        assert!(!head.wants_tunnel(), "of HTTP/1.1 it is an offer");
    };
    let both = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    check("GET / HTTP/1.1", both, &["websocket"]);
    check(
        "GET / HTTP/1.1",
        "Connection: a, UPGRADE\r\nUpgrade: b/1 ,, c\r\nUpgrade: d\r\n",
        &["b/1", "c", "d"],
    );
    check("POST / HTTP/1.1", &format!("{both}Content-Length: 0\r\n"), &["websocket"]);
    check("POST / HTTP/1.1", &format!("{both}Content-Length: 1\r\n"), &[]);
    check("POST / HTTP/1.1", &format!("{both}Transfer-Encoding: chunked\r\n"), &[]);
    check("GET / HTTP/1.0", both, &[]);
    check("GET / HTTP/1.1", "Upgrade: websocket\r\n", &[]);
    check("GET / HTTP/1.1", "Connection: Upgrade\r\n", &[]);
    check("GET / HTTP/1.1", "Connection: close\r\nUpgrade: websocket\r\n", &[]);
}

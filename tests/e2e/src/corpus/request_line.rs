//! Cases of the request line: spaces, method, target and version (RFC 9112 §2 and §3).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    spaces(shelf);
    versions(shelf);
    methods(shelf);
    target_forms(shelf);
    target_bytes(shelf);
    line_ends(shelf);
    limits(shelf);
}

fn line(line: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[line.as_ref(), b"\r\nHost: a.example\r\n\r\n"])
}

fn spaces(shelf: &mut CaseFile) {
    let why = "a request line has exactly one SP between its parts; other white space reads differently elsewhere \
               (RFC 9112 §3)";
    let lines: [(&str, &[u8]); 12] = [
        ("two-spaces-before-target", b"GET  / HTTP/1.1"),
        ("two-spaces-before-version", b"GET /  HTTP/1.1"),
        ("tab-before-target", b"GET\t/ HTTP/1.1"),
        ("tab-before-version", b"GET /\tHTTP/1.1"),
        ("vertical-tab-before-version", b"GET /\x0bHTTP/1.1"),
        ("form-feed-before-target", b"GET\x0c/ HTTP/1.1"),
        ("leading-space", b" GET / HTTP/1.1"),
        ("leading-tab", b"\tGET / HTTP/1.1"),
        ("trailing-space", b"GET / HTTP/1.1 "),
        ("trailing-tab", b"GET / HTTP/1.1\t"),
        ("space-in-target", b"GET /a b HTTP/1.1"),
        ("version-twice", b"GET / HTTP/1.1 HTTP/1.1"),
    ];
    for (id, bytes) in lines {
        shelf.reject(&format!("space/{id}"), line(bytes), why);
    }
    shelf.reject("space/no-target", line("GET HTTP/1.1"), "a request line has three parts (RFC 9112 §3)");
    shelf.reject("space/only-method", line("GET"), "a request line has three parts (RFC 9112 §3)");
    shelf.reject("space/http-0.9", b"GET /\r\n\r\n", "no version: HTTP/0.9 is not supported (RFC 9112 §3)");
    shelf.reject(
        "space/http-0.9-with-fields",
        line("GET /"),
        "no version: HTTP/0.9 is not supported (RFC 9112 §3)",
    );
}

fn versions(shelf: &mut CaseFile) {
    shelf.accept("version/1.1", line("GET / HTTP/1.1"), "the smallest request (RFC 9112 §3)");
    shelf.accept("version/1.0", line("GET / HTTP/1.0"), "HTTP/1.0 is supported (RFC 9110 §2.5)");
    shelf.accept(
        "version/1.0-without-host",
        "GET /old HTTP/1.0\r\n\r\n",
        "only HTTP/1.1 requires Host (RFC 9112 §3.2)",
    );
    let grammar = "HTTP-version is \"HTTP/\" DIGIT \".\" DIGIT in capitals (RFC 9112 §2.3)";
    for version in [
        "http/1.1",
        "Http/1.1",
        "HTTP/11",
        "HTTP/1",
        "HTTP/1.",
        "HTTP/.1",
        "HTTP/1.1.1",
        "HTTP/01.1",
        "HTTP/1.01",
        "HTTP/1,1",
        "HTTP-1.1",
        "HTTPS/1.1",
        "HTTP/1.x",
        "HTTP/-1.1",
        "HTTP/+1.1",
        "HTTP 1.1",
        "XHTTP/1.1",
        "HTTP/1.1x",
    ] {
        shelf.reject(&format!("version/{version}"), line(format!("GET / {version}")), grammar);
    }
    for version in ["HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"] {
        shelf.reject(
            &format!("version/{version}"),
            line(format!("GET / {version}")),
            "another major version has other framing (RFC 9110 §2.5, §15.6.6)",
        );
    }
    for version in ["HTTP/1.2", "HTTP/1.9"] {
        shelf.any(
            &format!("version/{version}"),
            line(format!("GET / {version}")),
            "a higher minor version may be read as 1.1 or refused (RFC 9110 §2.5)",
        );
    }
    shelf.reject(
        "version/http2-preface",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "the HTTP/2 preface on an HTTP/1 port (RFC 9113 §3.4)",
    );
    for (id, first) in [
        ("1.1", "PRI * HTTP/1.1"),
        ("origin-form", "PRI / HTTP/1.1"),
        ("absolute-form", "PRI http://a.example/ HTTP/1.1"),
        ("1.0", "PRI / HTTP/1.0"),
    ] {
        shelf.reject(
            &format!("method/pri-{id}"),
            line(first),
            "PRI is reserved for the HTTP/2 preface and is not a request method (RFC 9113 §3.4)",
        );
    }
}

fn methods(shelf: &mut CaseFile) {
    for method in ["HEAD", "OPTIONS", "DELETE", "PATCH", "PROPFIND", "M-SEARCH", "get", "X!#$%&'*+-.^_`|~9"] {
        shelf.accept(
            &format!("method/{method}"),
            line(format!("{method} /m HTTP/1.1")),
            "any token is a method, in its own case (RFC 9110 §9.1)",
        );
    }
    for (id, method) in [
        ("empty", &b""[..]),
        ("colon", b"GE:T"),
        ("slash", b"GE/T"),
        ("quote", b"\"GET\""),
        ("parenthesis", b"GET()"),
        ("comma", b"GET,POST"),
        ("nul", b"GE\0T"),
        ("delete", b"GET\x7f"),
        ("high-byte", b"G\xcbT"),
        ("bracket", b"[GET]"),
        ("escape", b"\x1bGET"),
    ] {
        shelf.reject(
            &format!("method/{id}"),
            line(join(&[method, b" / HTTP/1.1"])),
            "a method is a token (RFC 9110 §5.6.2, §9.1)",
        );
    }
    shelf.reject(
        "method/longer-than-any",
        line(format!("{} / HTTP/1.1", "M".repeat(200))),
        "a method longer than any known is answered 501 (RFC 9112 §3)",
    );
    shelf.reject(
        "method/connect",
        "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
        "a gateway that offers no tunnels refuses CONNECT (RFC 9110 §9.3.6)",
    );
    shelf.reject(
        "method/connect-origin-form",
        line("CONNECT / HTTP/1.1"),
        "CONNECT takes the authority form only (RFC 9112 §3.2.3)",
    );
    shelf.any("method/trace", line("TRACE / HTTP/1.1"), "TRACE may be switched off (RFC 9110 §9.3.8)");
    for (id, field) in [
        ("length", "Content-Length: 3\r\n\r\nabc"),
        ("chunked", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
        ("empty-chunked", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ] {
        shelf.reject(
            &format!("method/trace-with-{id}"),
            format!("TRACE / HTTP/1.1\r\nHost: a.example\r\n{field}"),
            "TRACE has no content (RFC 9110 §9.3.8)",
        );
    }
    for method in ["PRIX", "XPRI", "pri", "TRACK"] {
        shelf.accept(
            &format!("method/{method}"),
            line(format!("{method} /m HTTP/1.1")),
            "any token is a method, in its own case (RFC 9110 §9.1)",
        );
    }
}

fn target_forms(shelf: &mut CaseFile) {
    let absolute = "a server accepts the absolute form, and its authority wins over Host (RFC 9112 §3.2.2)";
    shelf.accept("form/absolute", line("GET http://a.example/p?q HTTP/1.1"), absolute);
    shelf.accept("form/absolute-other-host", line("GET http://b.example/p HTTP/1.1"), absolute);
    shelf.accept("form/absolute-port", line("GET http://a.example:8080/p HTTP/1.1"), absolute);
    shelf.accept("form/absolute-without-path", line("GET http://a.example HTTP/1.1"), absolute);
    shelf.accept("form/absolute-scheme-in-capitals", line("GET HTTP://a.example/p HTTP/1.1"), absolute);
    shelf.any("form/absolute-query-without-path", line("GET http://a.example?q HTTP/1.1"), absolute);
    shelf.any(
        "form/absolute-https",
        line("GET https://a.example/p HTTP/1.1"),
        "scheme and transport differ (RFC 9110 §7.4)",
    );
    for (id, target) in [
        ("without-authority", "http:///p"),
        ("userinfo", "http://user@a.example/p"),
        ("userinfo-password", "http://user:pass@a.example/p"),
        ("no-slashes", "http:a.example/p"),
        ("one-slash", "http:/a.example/p"),
        ("port-not-a-number", "http://a.example:8x/p"),
        ("fragment", "http://a.example/p#f"),
        ("open-bracket", "http://[::1/p"),
        ("other-scheme", "ftp://a.example/p"),
        ("scheme-of-files", "file:///etc/passwd"),
    ] {
        shelf.reject(
            &format!("form/absolute-{id}"),
            line(format!("GET {target} HTTP/1.1")),
            "not an http URI (RFC 9110 §4.2.1, §4.2.4; RFC 9112 §3.2.2)",
        );
    }
    shelf.reject(
        "form/authority-for-get",
        line("GET a.example:80 HTTP/1.1"),
        "the authority form is only for CONNECT (RFC 9112 §3.2.3)",
    );
    shelf.reject(
        "form/asterisk-for-get",
        line("GET * HTTP/1.1"),
        "the asterisk form is only for OPTIONS (RFC 9112 §3.2.4)",
    );
    shelf.any(
        "form/asterisk-for-options",
        line("OPTIONS * HTTP/1.1"),
        "a gateway may answer itself (RFC 9112 §3.2.4)",
    );
    shelf.reject(
        "form/asterisk-with-path",
        line("OPTIONS */p HTTP/1.1"),
        "the asterisk form has nothing else (RFC 9112 §3.2.4)",
    );
    shelf.reject(
        "form/relative",
        line("GET p HTTP/1.1"),
        "the origin form begins with a slash (RFC 9112 §3.2.1)",
    );
    shelf.reject(
        "form/query-only",
        line("GET ?q HTTP/1.1"),
        "the origin form begins with a slash (RFC 9112 §3.2.1)",
    );
    shelf.reject(
        "form/backslash",
        line("GET \\p HTTP/1.1"),
        "the origin form begins with a slash (RFC 9112 §3.2.1)",
    );
}

fn target_bytes(shelf: &mut CaseFile) {
    for (id, target) in [
        ("query", "/p?a=b&c=d"),
        ("empty-query", "/p?"),
        ("query-with-question-marks", "/p?a?b"),
        ("sub-delimiters", "/!$&'()*+,;=:@"),
        ("escaped-space", "/a%20b"),
        ("escaped-utf-8", "/%C3%A9"),
        ("double-slash", "/a//b"),
        ("query-with-url", "/r?u=http://b.example/x"),
        ("tilde", "/~user/-._"),
    ] {
        shelf.accept(
            &format!("target/{id}"),
            line(format!("GET {target} HTTP/1.1")),
            "characters allowed in a URI (RFC 3986 §3.3, §3.4)",
        );
    }
    for (id, target) in [
        ("fragment", &b"/p#f"[..]),
        ("nul", b"/a\0b"),
        ("control", b"/a\x01b"),
        ("delete", b"/a\x7fb"),
        ("high-byte", b"/\xe9"),
        ("raw-utf-8", b"/\xc3\xa9"),
        ("overlong-slash", b"/\xc0\xafb"),
        ("bare-cr", b"/a\rb"),
        ("tab", b"/a\tb"),
        ("high-byte-in-query", b"/p?\xff"),
    ] {
        let raw = line(join(&[b"GET ", target, b" HTTP/1.1"]));
        shelf.reject(
            &format!("target/{id}"),
            raw,
            "this byte is not allowed in a URI (RFC 3986 §2; RFC 9112 §3.2)",
        );
    }
    for (id, target) in [
        ("bad-escape", "/%zz"),
        ("cut-escape", "/%4"),
        ("escaped-nul", "/a%00b"),
        ("dot-segments", "/a/../b"),
        ("escaped-dot-segments", "/a/%2e%2E/b"),
        ("escaped-slash", "/a%2fb"),
        ("escaped-backslash", "/a%5cb"),
        ("raw-backslash", "/a\\b"),
        ("escaped-line-end", "/a%0d%0aX:%201"),
    ] {
        shelf.any(
            &format!("target/{id}"),
            line(format!("GET {target} HTTP/1.1")),
            "readers of the path differ; what is forwarded must still be one message (RFC 3986 §6.2.2, §7.3)",
        );
    }
    for (id, target) in [
        ("quote", "/a\"b"),
        ("angle", "/<a>"),
        ("caret", "/a^b"),
        ("pipe", "/a|b"),
        ("braces", "/{a}"),
        ("backtick", "/a`b"),
    ] {
        shelf.any(
            &format!("target/{id}"),
            line(format!("GET {target} HTTP/1.1")),
            "not allowed in a URI, but browsers send it: refusing and forwarding are both safe (RFC 3986 §2)",
        );
    }
}

fn line_ends(shelf: &mut CaseFile) {
    let why = "a line ends with CRLF; a bare CR or LF is read differently elsewhere (RFC 9112 §2.2)";
    shelf.reject("end/lf-everywhere", "GET / HTTP/1.1\nHost: a.example\n\n", why);
    shelf.reject("end/lf-after-request-line", "GET / HTTP/1.1\nHost: a.example\r\n\r\n", why);
    shelf.reject("end/cr-after-request-line", "GET / HTTP/1.1\rHost: a.example\r\n\r\n", why);
    shelf.reject("end/cr-cr-lf", "GET / HTTP/1.1\r\r\nHost: a.example\r\n\r\n", why);
    shelf.reject("end/lf-cr", "GET / HTTP/1.1\n\rHost: a.example\r\n\r\n", why);
    shelf.reject("end/cr-in-method", "GE\rT / HTTP/1.1\r\nHost: a.example\r\n\r\n", why);
    shelf.reject("end/nul-first", "\0GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", why);
    shelf.accept(
        "end/one-empty-line-before",
        "\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "a server ignores one empty line before the request line (RFC 9112 §2.2)",
    );
    shelf.any(
        "end/two-empty-lines-before",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "at least one is ignored (RFC 9112 §2.2)",
    );
    shelf.reject("end/lf-before", "\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n", why);
    shelf.reject("end/cr-before", "\rGET / HTTP/1.1\r\nHost: a.example\r\n\r\n", why);
    shelf.any("end/only-empty-lines", "\r\n\r\n\r\n\r\n", "not a request (RFC 9112 §2.2)");
    shelf.reject(
        "end/tls-hello",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
        "not HTTP: the first byte is not a token character",
    );
}

fn limits(shelf: &mut CaseFile) {
    shelf.accept(
        "limit/target-4096",
        line(format!("GET /{} HTTP/1.1", "a".repeat(4095))),
        "well below 8,000 bytes (RFC 9112 §3)",
    );
    shelf.reject(
        "limit/target-16384",
        line(format!("GET /{} HTTP/1.1", "a".repeat(16383))),
        "a target longer than the limit is answered 414 (RFC 9110 §15.5.15)",
    );
}

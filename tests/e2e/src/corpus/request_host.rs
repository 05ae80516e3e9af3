//! Cases of the request's authority: `Host`, duplicates and spelling (RFC 9112 §3.2, RFC 9110 §7.2).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    count(shelf);
    valid(shelf);
    invalid(shelf);
    spelling(shelf);
    mismatch(shelf);
}

fn host(value: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"GET / HTTP/1.1\r\nHost: ", value.as_ref(), b"\r\n\r\n"])
}

fn count(shelf: &mut CaseFile) {
    let why = "an HTTP/1.1 request has exactly one Host (RFC 9112 §3.2)";
    shelf.reject("count/none", "GET / HTTP/1.1\r\n\r\n", why);
    shelf.reject("count/none-but-others", "GET / HTTP/1.1\r\nAccept: */*\r\n\r\n", why);
    shelf.reject("count/two-different", "GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n", why);
    shelf.reject("count/two-alike", "GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n", why);
    shelf.reject("count/two-cases", "GET / HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\n\r\n", why);
    shelf.reject("count/second-empty", "GET / HTTP/1.1\r\nHost: a.example\r\nHost:\r\n\r\n", why);
    shelf.reject("count/two-in-1.0", "GET / HTTP/1.0\r\nHost: a.example\r\nHost: b.example\r\n\r\n", why);
    shelf.reject("count/absolute-and-none", "GET http://a.example/ HTTP/1.1\r\n\r\n", why);
    shelf.reject(
        "count/absolute-and-two",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n",
        why,
    );
    shelf.any(
        "count/empty",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "Host is empty for a URI without authority (RFC 9110 §7.2)",
    );
    shelf.any(
        "count/only-spaces",
        "GET / HTTP/1.1\r\nHost:   \r\n\r\n",
        "the value is empty (RFC 9110 §5.5, §7.2)",
    );
}

fn valid(shelf: &mut CaseFile) {
    for value in [
        "a.example:8080",
        "A.Example",
        "a_b.example",
        "127.0.0.1",
        "127.0.0.1:80",
        "[::1]",
        "[::1]:8080",
        "xn--bcher-kva.example",
        "a-b.c-d",
        "localhost",
    ] {
        shelf.accept(&format!("valid/{value}"), host(value), "uri-host and an optional port (RFC 9110 §7.2)");
    }
    for value in [
        "0.0.0.0=5000",
        "0.0.0.0=5000:80",
        "a!b",
        "$a",
        "a&b.example",
        "it's.example",
        "(a)",
        "*",
        "*.example",
        "a+b",
        "a;b",
        "a=b",
        "~a",
        "!$&'()*+;=",
    ] {
        shelf.accept(
            &format!("valid/{value}"),
            host(value),
            "a registered name may have sub-delims (RFC 9110 §7.2, RFC 3986 §3.2.2)",
        );
    }
    for value in [
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "a.example.",
        "a..example",
        "a%41.example",
        "[v1.x]",
        "a.example:00080",
    ] {
        shelf.any(&format!("odd/{value}"), host(value), "allowed by RFC 3986 §3.2, but servers differ");
    }
}

fn invalid(shelf: &mut CaseFile) {
    let why = "not uri-host [\":\" port]: answered 400 (RFC 9112 §3.2, RFC 9110 §7.2)";
    for (id, value) in [
        ("comma", &b"a.example,b.example"[..]),
        ("comma-space", b"a.example, b.example"),
        ("space", b"a.example b.example"),
        ("tab", b"a.example\tb.example"),
        ("userinfo", b"user@a.example"),
        ("userinfo-password", b"user:pass@a.example"),
        ("path", b"a.example/p"),
        ("query", b"a.example?q"),
        ("fragment", b"a.example#f"),
        ("backslash", b"a.example\\p"),
        ("url", b"http://a.example"),
        ("port-letters", b"a.example:8x"),
        ("port-sign", b"a.example:+80"),
        ("port-negative", b"a.example:-80"),
        ("two-ports", b"a.example:80:81"),
        ("open-bracket", b"[::1"),
        ("close-bracket", b"::1]"),
        ("no-brackets", b"::1"),
        ("after-bracket", b"[::1]x"),
        ("empty-brackets", b"[]"),
        ("zone", b"[fe80::1%25eth0]x"),
        ("nul", b"a\0b.example"),
        ("control", b"a\x01b.example"),
        ("delete", b"a\x7fb.example"),
        ("high-byte", b"b\xfccher.example"),
        ("utf-8", b"b\xc3\xbccher.example"),
        ("quote", b"\"a.example\""),
        ("angle", b"<a.example>"),
        ("bad-escape", b"a%zz.example"),
    ] {
        shelf.reject(&format!("invalid/{id}"), host(value), why);
    }
    shelf.reject("invalid/in-1.0", "GET / HTTP/1.0\r\nHost: a/b\r\n\r\n", why);
}

fn spelling(shelf: &mut CaseFile) {
    let before = "white space before the colon is refused (RFC 9112 §5.1)";
    shelf.reject("spelling/space-before-colon", "GET / HTTP/1.1\r\nHost : a.example\r\n\r\n", before);
    shelf.reject("spelling/tab-before-colon", "GET / HTTP/1.1\r\nHost\t: a.example\r\n\r\n", before);
    shelf.reject(
        "spelling/space-before-name",
        "GET / HTTP/1.1\r\n Host: a.example\r\n\r\n",
        "white space before the first field (RFC 9112 §2.2)",
    );
    shelf.reject(
        "spelling/folded",
        "GET / HTTP/1.1\r\nHost: a.example\r\n b.example\r\n\r\n",
        "line folding (RFC 9112 §5.2)",
    );
    shelf.reject(
        "spelling/folded-empty",
        "GET / HTTP/1.1\r\nHost:\r\n a.example\r\n\r\n",
        "line folding (RFC 9112 §5.2)",
    );
    shelf.reject(
        "spelling/alias-only",
        "GET / HTTP/1.1\r\nHost_: a.example\r\n\r\n",
        "this is not Host (RFC 9112 §3.2)",
    );
    for (id, name) in [("lower", "host"), ("upper", "HOST"), ("mixed", "hOsT")] {
        shelf.accept(
            &format!("spelling/{id}"),
            format!("GET / HTTP/1.1\r\n{name}: a.example\r\n\r\n"),
            "field names are case-insensitive (RFC 9110 §5.1)",
        );
    }
    shelf.accept(
        "spelling/no-space",
        "GET / HTTP/1.1\r\nHost:a.example\r\n\r\n",
        "white space around a value is optional (RFC 9112 §5)",
    );
    shelf.accept(
        "spelling/tabs-around",
        "GET / HTTP/1.1\r\nHost:\ta.example\t \r\n\r\n",
        "white space around a value is optional (RFC 9112 §5)",
    );
    shelf.accept(
        "spelling/last",
        "GET / HTTP/1.1\r\nAccept: */*\r\nHost: a.example\r\n\r\n",
        "the order of fields does not matter (RFC 9110 §5.3)",
    );
}

fn mismatch(shelf: &mut CaseFile) {
    let why = "the target's authority replaces Host before forwarding (RFC 9112 §3.2.2)";
    shelf.accept(
        "mismatch/other-port",
        "GET http://a.example:81/ HTTP/1.1\r\nHost: a.example:82\r\n\r\n",
        why,
    );
    shelf.accept("mismatch/other-case", "GET http://A.example/ HTTP/1.1\r\nHost: a.EXAMPLE\r\n\r\n", why);
    shelf.accept("mismatch/ip", "GET http://[::1]:80/ HTTP/1.1\r\nHost: a.example\r\n\r\n", why);
    shelf.accept(
        "mismatch/sub-delims",
        "GET http://0.0.0.0=5000/ HTTP/1.1\r\nHost: a;b\r\n\r\n",
        "both are registered names, and the target's wins (RFC 9112 §3.2.2, RFC 3986 §3.2.2)",
    );
    shelf.reject(
        "mismatch/comma",
        "GET http://a.example,b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "two hosts in one authority (RFC 9112 §3.2)",
    );
    shelf.reject(
        "mismatch/bad-host-beside-absolute",
        "GET http://a.example/ HTTP/1.1\r\nHost: b/c\r\n\r\n",
        "an invalid Host is answered 400 regardless of the target (RFC 9112 §3.2)",
    );
    shelf.accept(
        "mismatch/forwarded-host",
        "GET / HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-Host: b.example\r\nForwarded: host=c.example\r\n\r\n",
        "only Host and the target name the host (RFC 9110 §7.1)",
    );
}

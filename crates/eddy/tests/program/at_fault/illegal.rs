//! Illegal edits by filters in C, Go and Rust: none has an effect.

use std::path::Path;
use std::process::Command;

use super::kits;
use super::origin::{RecordingOrigin, send};
use crate::support::{BackgroundLoad, Directory, EddyProcess};

const REQUEST: u32 = 0;
const RESPONSE: u32 = 3;
const SET: u32 = 1;
const ADD: u32 = 2;
const REMOVE: u32 = 3;
const METHOD: u32 = 4;
const TARGET: u32 = 5;
const AUTHORITY: u32 = 6;
const STATUS: u32 = 7;
const REPLY: u32 = 12;
/// Test filter operation: a set edit on behalf of the step with this number.
const OTHER_STEP: u32 = 1000;
/// Test filter operation: these bytes instead of an edit record.
const BYTES: u32 = 1001;

/// Encodes an edit for the test filter.
fn edit(phase: u32, op: u32, number: u32, name: &[u8], value: &[u8]) -> String {
    format!("{phase} {op} {number} 1 {} {}", hex(name), hex(value))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns every edit to try.
fn changes() -> Vec<String> {
    let mut all = Vec::new();
    for byte in (0..=255_u8).filter(|byte| !is_tchar(*byte)) {
        let phase = if byte % 2 == 0 { REQUEST } else { RESPONSE };
        all.push(edit(phase, SET, 0, &[b'x', byte, b'y'], b"evil"));
    }
    for byte in (0..0x20).chain([0x7f]).filter(|byte| *byte != b'\t') {
        for (phase, op) in [(REQUEST, SET), (RESPONSE, ADD)] {
            all.push(edit(phase, op, 0, b"x-evil", &[b'a', byte, b'b']));
        }
    }
    let smuggled: &[u8] = b"a\r\nContent-Length: 7\r\n\r\nGET /evil HTTP/1.1\r\n";
    for phase in [REQUEST, RESPONSE] {
        all.push(edit(phase, SET, 0, b"x-evil", smuggled));
        for name in [
            "content-length",
            "transfer-encoding",
            "host",
            "connection",
            "upgrade",
            "te",
            "trailer",
            "keep-alive",
            "proxy",
            "proxy-connection",
            "http2-settings",
            "expect",
            "Content-Length",
            "TRANSFER-ENCODING",
            "content_length",
            "transfer_encoding",
            "content.length",
        ] {
            // Without its length, a message is sent with another framing, which is harmless.
            let may_go = name.eq_ignore_ascii_case("content-length");
            for op in [SET, ADD, REMOVE].into_iter().filter(|op| *op != REMOVE || !may_go) {
                all.push(edit(phase, op, 0, name.as_bytes(), if op == REMOVE { b"" } else { b"chunked" }));
            }
        }
        all.push(edit(phase, SET, 0, b"", b"evil"));
        // Too long a value, too long a name, too many headers, too large in total.
        all.push(format!("{phase} {SET} 0 1 {} 300000", hex(b"x-evil")));
        all.push(format!("{phase} {SET} 0 1 100000 {}", hex(b"evil")));
        all.push(format!("{phase} {ADD} 0 2100 {} {}", hex(b"x-evil"), hex(b"evil")));
        all.push(format!("{phase} {ADD} 0 8 {} 200000", hex(b"x-evil")));
        // Invalid records: of no kind, of no step, too short, longer than the data.
        all.extend([0, 19, 999].map(|op| edit(phase, op, 0, b"x-evil", b"evil")));
        all.push(edit(phase, OTHER_STEP, 7, b"x-evil", b"evil"));
        all.push(edit(phase, BYTES, 0, b"", &[1, 0, 0, 0, 6]));
        all.push(edit(
            phase,
            BYTES,
            0,
            b"",
            &[1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],
        ));
    }
    for method in ["", "GE T", "HEAD", "CONNECT", "TRACE", "GET /evil HTTP/1.1\r\nX-Evil: 1\r\n", "G\0T"] {
        all.push(edit(REQUEST, METHOD, 0, b"", method.as_bytes()));
    }
    for target in [
        "",
        "evil",
        "*",
        "/evil x",
        "/evil\r\nX: 1",
        "http://evil/",
        "/evil\0",
        "/evil/%2e%2e/%2e%2e/%2e%2e",
        "/\u{e9}vil",
    ] {
        all.push(edit(REQUEST, TARGET, 0, b"", target.as_bytes()));
    }
    for authority in ["", "evil x", "me@evil", "evil\r\nX: 1", "evil:99999999", "evil/", "evil, b"] {
        all.push(edit(REQUEST, AUTHORITY, 0, b"", authority.as_bytes()));
    }
    for status in [0, 99, 100, 101, 199, 204, 205, 304, 600, 999, 65_736, u32::MAX] {
        all.push(edit(RESPONSE, STATUS, status, b"", b""));
    }
    for status in [0, 100, 101, 199, 600, u32::MAX] {
        all.push(edit(REQUEST, REPLY, status, b"", b"evil"));
    }
    // Edits of another phase.
    all.push(edit(REQUEST, STATUS, 200, b"", b""));
    all.extend([METHOD, TARGET, AUTHORITY].map(|op| edit(RESPONSE, op, 0, b"", b"evil")));
    all.extend([8, 9, 10, 11].map(|op| edit(REQUEST, op, 1, b"", b"evil")));
    all.extend([8, 9, 10, 11].map(|op| edit(RESPONSE, op, 1, b"", b"evil")));
    all
}

/// Whether the SDKs can make an edit: their records are complete and of their own step, and a status has 16 bits.
fn is_of_a_kit(change: &str) -> bool {
    let numbers: Vec<u32> = change.split(' ').take(3).map(|word| word.parse().unwrap()).collect();
    (SET..=REPLY).contains(&numbers[1]) && u16::try_from(numbers[2]).is_ok()
}

#[test]
fn an_illegal_edit_is_not_forwarded() {
    let directory = Directory::new();
    let library = directory.join("libillegal.so");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Command::new("cc")
        .args(["-std=gnu11", "-fPIC", "-shared", "-Wall", "-I"])
        .arg(manifest.join("../../abi"))
        .arg("-o")
        .arg(&library)
        .arg(manifest.join("tests/program/at_fault/illegal.c"))
        .status()
        .expect("eddy's tests need a C compiler by the name of cc");
    assert!(built.success());
    try_all("native", &library, &changes());
}

#[test]
fn an_illegal_edit_is_not_forwarded_with_the_go_sdk() {
    let Some(library) = kits::in_go() else { return };
    try_all("go", &library, &of_kits());
}

#[test]
fn an_illegal_edit_is_not_forwarded_with_the_rust_sdk() {
    try_all("native", &kits::in_rust(), &of_kits());
}

fn of_kits() -> Vec<String> {
    changes().into_iter().filter(|change| is_of_a_kit(change)).collect()
}

/// Tries edits through the filter `illegal` of a library, while it serves other requests.
fn try_all(kind: &str, library: &Path, changes: &[String]) {
    let (origin, quiet) = (RecordingOrigin::start(), RecordingOrigin::start());
    let text = format!(
        "\
workers: 2
limits: {{queue_delay: 0s}}
filters: {{it: {{{kind}: {{filter: illegal, library: '{}'}}, config: {{}}}}}}
listeners: [{{address: '127.0.0.1:0', routes: site, filters: [it]}}]
routes: {{site: [{{match: {{path: /fine}}, cluster: quiet}}, {{cluster: c}}]}}
clusters: {{c: {{endpoints: ['{}']}}, quiet: {{endpoints: ['{}']}}}}
",
        library.display(),
        origin.address,
        quiet.address,
    );
    let eddy = EddyProcess::start(&text);
    let (address, before) = (eddy.address(), eddy.gateway());
    let others = BackgroundLoad::start(2, move || {
        let legal = edit(REQUEST, SET, 0, b"x-legal", b"1");
        let came = send(address, &request("/fine", &legal));
        assert!(came.status == 200 && came.is_whole, "{came:?}");
    });
    // Legal edits by the same filter take effect.
    for (change, status) in [
        (edit(REQUEST, SET, 0, b"x-set", b"1"), 200),
        (edit(RESPONSE, ADD, 0, b"x-set", b"1"), 200),
        (edit(RESPONSE, REMOVE, 0, b"x-set", b""), 200),
        (edit(RESPONSE, REMOVE, 0, b"content-length", b""), 200),
        (edit(REQUEST, METHOD, 0, b"", b"POST"), 200),
        (edit(REQUEST, TARGET, 0, b"", b"/set"), 200),
        (edit(REQUEST, AUTHORITY, 0, b"", b"set:80"), 200),
        (edit(RESPONSE, STATUS, 201, b"", b""), 201),
        (edit(REQUEST, REPLY, 403, b"", b"set"), 403),
    ] {
        let came = send(address, &request("/", &change));
        assert!(came.status == status && came.is_whole, "{change}: {came:?}");
    }
    origin.take();
    let mut wrong = Vec::new();
    for change in changes {
        let came = send(address, &request("/", change));
        let seen = origin.take();
        let is_request = change.starts_with("0 ");
        // The request itself does not contain the text that the filter writes.
        let has_leaked =
            came.text.contains("evil") || seen.contains("evil") || (is_request && !seen.is_empty());
        if came.status != 500 || !came.is_whole || has_leaked {
            wrong.push(format!("{change:.120}: {came:.300?}; the origin saw {seen:.300?}"));
        }
    }
    let served = others.stop();
    assert!(changes.len() >= 300, "only {} changes", changes.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), changes.len(), wrong.join("\n"));
    assert!(quiet.take().contains("x-legal: 1\r\n"));
    assert_eq!(eddy.gateway(), before);
    println!("{} changes refused, {} others without a failure", changes.len(), served);
    eddy.stop();
}

fn request(path: &str, change: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-edit: {change}\r\n\r\n")
}

use proptest::prelude::*;

use super::{Normal, PathFault, check, eddy};

fn normal(path: &str) -> Result<String, PathFault> {
    let mut out = b"left over".to_vec();
    match eddy(path.as_bytes(), &mut out)? {
        Normal::AsIs => Ok(path.to_owned()),
        Normal::Changed => Ok(String::from_utf8(out).unwrap()),
    }
}

#[test]
fn keeps_normal_paths() {
    for path in [
        "/",
        "//",
        "/a//b/",
        "*",
        "/a.b",
        "/...",
        "/.a",
        "/a..",
        "/..a/b",
        "/a;x=1",
        "/;",
        "/a;..",
        "/%20",
        "/%25",
        "/%3F%23",
        "/a|b[c]{d}",
        "/~u",
    ] {
        assert_eq!(check(path.as_bytes()), Ok(Normal::AsIs), "{path}");
        assert_eq!(normal(path).as_deref(), Ok(path));
    }
}

#[test]
fn spells_each_path_in_one_way() {
    let changed = [
        ("", "/"),
        ("/%61%2d%2E%5f%7eb", "/a-._~b"),
        ("/%c3%A9", "/%C3%A9"),
        ("/a%3a", "/a%3A"),
        ("/a%2eb", "/a.b"),
        ("/%2E%2E%2E", "/..."),
        ("/%252e", "/%252e"),
    ];
    for (path, expected) in changed {
        assert_eq!(normal(path).as_deref(), Ok(expected), "{path}");
    }
}

#[test]
fn refuses_ambiguous_paths() {
    let refused = [
        ("a", PathFault::NotAbsolute),
        ("**", PathFault::NotAbsolute),
        ("%2Fa", PathFault::NotAbsolute),
        ("/.", PathFault::DotSegment),
        ("/..", PathFault::DotSegment),
        ("/a/../b", PathFault::DotSegment),
        ("/a/./", PathFault::DotSegment),
        ("/%2e", PathFault::DotSegment),
        ("/%2E%2e/x", PathFault::DotSegment),
        ("/.%2e/x", PathFault::DotSegment),
        ("/..;/x", PathFault::DotSegment),
        ("/.;x=1/", PathFault::DotSegment),
        ("/a%2fb", PathFault::EncodedSlash),
        ("/a%2F", PathFault::EncodedSlash),
        ("/a%5cb", PathFault::EncodedBackslash),
        ("/a%00", PathFault::EncodedNul),
        ("/a\\b", PathFault::Backslash),
        ("/a b", PathFault::Control),
        ("/a\rb", PathFault::Control),
        ("/a\u{7f}", PathFault::Control),
        ("/é", PathFault::NonAscii),
        ("/a#b", PathFault::Delimiter),
        ("/a?b", PathFault::Delimiter),
        ("/%", PathFault::BadEscape),
        ("/%4", PathFault::BadEscape),
        ("/%zz", PathFault::BadEscape),
        ("/%+1", PathFault::BadEscape),
    ];
    for (path, fault) in refused {
        assert_eq!(normal(path), Err(fault), "{path}");
    }
}

#[test]
fn reasons_are_distinct_words() {
    let faults = [
        PathFault::NotAbsolute,
        PathFault::DotSegment,
        PathFault::EncodedSlash,
        PathFault::EncodedBackslash,
        PathFault::EncodedNul,
        PathFault::Backslash,
        PathFault::Control,
        PathFault::NonAscii,
        PathFault::Delimiter,
        PathFault::BadEscape,
    ];
    let words: std::collections::BTreeSet<_> = faults.iter().map(|fault| fault.reason()).collect();
    assert_eq!(words.len(), faults.len());
    assert!(words.iter().all(|word| word.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())));
}

/// Decodes every escape once, as a lenient server would.
fn decoded(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let digits = std::str::from_utf8(&tail[..2]).unwrap();
            out.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            out.push(byte);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_idempotent_and_keeps_the_meaning(path in "(/|a|\\.|;|%2e|%2E|%61|%c3|%C3|%2f|%25|%0|%|~|\\\\| |é){0,12}") {
        let path = format!("/{path}");
        let mut out = Vec::new();
        let Ok(normal) = eddy(path.as_bytes(), &mut out) else { return Ok(()) };
        let normal_path = if normal == Normal::AsIs { path.as_bytes() } else { &out };
        prop_assert_eq!(check(normal_path), Ok(Normal::AsIs));
        prop_assert_eq!(decoded(normal_path), decoded(path.as_bytes()));
        prop_assert!(decoded(normal_path).split(|byte| *byte == b'/').all(|segment| segment != b"." && segment != b".."));
        prop_assert!(normal_path.iter().all(|byte| (0x21..0x7f).contains(byte)));
    }

    #[test]
    fn never_panics(path in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut out = Vec::new();
        let _ = eddy(&path, &mut out);
    }
}

use super::id::check_unknown;
use super::*;
use crate::octet::is_tchar;
use crate::span::Span;

/// Iterates over all IDs that identify a single name.
fn known() -> impl Iterator<Item = FieldId> {
    id::IDS.iter().copied()
}

fn parse(text: &str) -> Result<(Vec<Field>, SeenFieldIds, usize), LineFault> {
    let mut fields = Vec::new();
    let (seen, end) = parse_lines(text.as_bytes(), 0, &mut fields, 4)?;
    Ok((fields, seen, end))
}

#[test]
fn known_names_are_found_in_any_case() {
    assert!(known().count() > 70);
    for id in known() {
        let name = id.name();
        assert_eq!(FieldId::from_name(name.as_bytes()), id, "{name}");
        assert_eq!(FieldId::from_name(name.to_uppercase().as_bytes()), id, "{name}");
        let line = format!("{}: x\r\n\r\n", name.to_uppercase());
        assert_eq!(parse(&line).unwrap().0[0].id, id, "{name}");
        assert!(id.is_known());
    }
}

#[test]
fn a_name_that_differs_in_one_byte_is_not_matched() {
    for id in known() {
        let name = id.name().as_bytes();
        for place in 0..name.len() {
            for byte in 0..=255_u8 {
                let mut other = name.to_vec();
                other[place] = byte;
                if other.eq_ignore_ascii_case(name) {
                    continue;
                }
                // Word comparison ignores case by setting a bit, which must not make other bytes equal.
                assert_ne!(FieldId::from_name(&other), id, "{other:?}");
                let line = [&other, b": x\r\n\r\n".as_slice()].concat();
                let mut fields = Vec::new();
                if parse_lines(&line, 0, &mut fields, 4).is_ok() {
                    assert_ne!(fields[0].id, id, "{other:?}");
                }
            }
        }
    }
}

#[test]
fn shorter_and_longer_names_are_not_matched() {
    for id in known() {
        let name = id.name();
        assert_ne!(FieldId::from_name(&name.as_bytes()[1..]), id);
        assert_ne!(FieldId::from_name(&name.as_bytes()[..name.len() - 1]), id);
        assert_ne!(FieldId::from_name(format!("{name}x").as_bytes()), id);
        assert_ne!(FieldId::from_name(format!("x{name}").as_bytes()), id);
        assert_ne!(FieldId::from_name(format!("{name}\0").as_bytes()), id);
    }
}

#[test]
fn recorded_field_ids_have_distinct_bits() {
    let noted = [
        FieldId::Host,
        FieldId::ContentLength,
        FieldId::TransferEncoding,
        FieldId::Connection,
        FieldId::Expect,
        FieldId::Upgrade,
        FieldId::Te,
        FieldId::MaxForwards,
    ];
    let all = noted.iter().fold(0, |bits, id| bits | id.bit());
    assert_eq!(all.count_ones() as usize, noted.len());
}

#[track_caller]
fn check_kind(name: &str, expected: Option<FieldId>) {
    assert_eq!(check_unknown(name.as_bytes()), expected, "{name}");
}

#[test]
fn aliases_of_a_known_name_are_detected() {
    for name in
        ["x_forwarded_for", "X.Forwarded.For", "x-forwarded_for", "CONTENT_LENGTH", "transfer_encoding"]
    {
        check_kind(name, Some(FieldId::Alias));
    }
    for name in [
        "X_Forwarded_Anything",
        "x.forwarded.user",
        "content!length",
        "x_real_ip",
        "Host".replace('H', "h_").as_str(),
    ] {
        let expected = if name.starts_with("h_") { FieldId::Other } else { FieldId::Alias };
        check_kind(name, Some(expected));
    }
    check_kind("x-forwarded-user", Some(FieldId::XForwarded));
    check_kind("X-Forwarded-Some-Very-Long-Name-That-Goes-On-And-On", Some(FieldId::XForwarded));
    check_kind("X_Forwarded_Some-Very-Long-Name-That-Goes-On-And-On", Some(FieldId::Alias));
    check_kind("x-forwarded-", Some(FieldId::Other));
    check_kind("x-forwarded", Some(FieldId::Other));
    check_kind("my_field", Some(FieldId::Other));
    check_kind("", None);
    check_kind("a b", None);
    check_kind("a\u{e4}", None);
}

#[test]
fn names_hold_tokens_only() {
    for byte in 0..=255_u8 {
        let line = [b'x', byte, b'y', b':', b'v', b'\r', b'\n', b'\r', b'\n'];
        let mut fields = Vec::new();
        let is_accepted = parse_lines(&line, 0, &mut fields, 4).is_ok();
        assert_eq!(is_accepted, is_tchar(byte) || byte == b':', "{byte}");
    }
}

#[test]
fn values_hold_text_only() {
    for byte in 0..=255_u8 {
        for length in 0..20 {
            let mut line = b"n:".to_vec();
            line.resize(line.len() + length, b'v');
            line.push(byte);
            line.extend_from_slice(b"w\r\n\r\n");
            let mut fields = Vec::new();
            let is_accepted = parse_lines(&line, 0, &mut fields, 4).is_ok();
            assert_eq!(is_accepted, byte == 9 || (byte >= 32 && byte != 127), "{byte}");
        }
    }
}

#[track_caller]
fn check(text: &str, expected: Result<&[(&str, &str)], LineFault>) {
    let found = parse(text).map(|(fields, _, end)| {
        assert_eq!(end, text.len());
        let view = Fields::new(text.as_bytes(), &fields);
        let pairs = view.iter().map(|f| (String::from_utf8_lossy(f.name), String::from_utf8_lossy(f.value)));
        pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect::<Vec<_>>()
    });
    let expected = expected.map(|pairs| {
        pairs.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect::<Vec<_>>()
    });
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn lines_are_read_strictly() {
    check("\r\n", Ok(&[]));
    check("a: b\r\n\r\n", Ok(&[("a", "b")]));
    check("a:b\r\nc: \t d \t\r\n\r\n", Ok(&[("a", "b"), ("c", "d")]));
    check("a:\r\nb:   \r\n\r\n", Ok(&[("a", ""), ("b", "")]));
    check("a: b: c\r\n\r\n", Ok(&[("a", "b: c")]));
    check("a: b\tc\r\n\r\n", Ok(&[("a", "b\tc")]));
    check("", Err(LineFault::Truncated));
    check("\r", Err(LineFault::Truncated));
    check("a: b\r\n", Err(LineFault::Truncated));
    check("a: b\r\n\r", Err(LineFault::Truncated));
    check("a: b", Err(LineFault::Truncated));
    check("a", Err(LineFault::Truncated));
    check(" a: b\r\n\r\n", Err(LineFault::Fold));
    check("\ta: b\r\n\r\n", Err(LineFault::Fold));
    check("a: b\r\n c\r\n\r\n", Err(LineFault::Fold));
    check("a : b\r\n\r\n", Err(LineFault::Name));
    check("a\t: b\r\n\r\n", Err(LineFault::Name));
    check(": b\r\n\r\n", Err(LineFault::Name));
    check("ab\r\n\r\n", Err(LineFault::Name));
    check("a\rb: c\r\n\r\n", Err(LineFault::BareCr));
    check("a: b\rc\r\n\r\n", Err(LineFault::BareCr));
    check("a: b\r\r\n\r\n", Err(LineFault::BareCr));
    check("\r\r\n", Err(LineFault::BareCr));
    check("a: b\nc: d\r\n\r\n", Err(LineFault::BareLf));
    check("\n", Err(LineFault::BareLf));
    check("a: b\r\n\n", Err(LineFault::BareLf));
    check("a: b\0c\r\n\r\n", Err(LineFault::Control));
    check("a\0: b\r\n\r\n", Err(LineFault::Control));
    check("a: \u{7f}\r\n\r\n", Err(LineFault::Control));
    check("a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\n\r\n", Ok(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]));
    check("a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\ne: 5\r\n\r\n", Err(LineFault::TooMany));
}

#[test]
fn repeated_field_ids_are_recorded() {
    let (_, seen, _) = parse("Host: a\r\nhost: b\r\nte: x\r\n\r\n").unwrap();
    assert!(seen.has(FieldId::Host) && seen.has_repeated(FieldId::Host));
    assert!(seen.has(FieldId::Te) && !seen.has_repeated(FieldId::Te));
    assert!(!seen.has(FieldId::Expect));
}

#[test]
fn a_view_finds_fields_by_id_and_by_name() {
    let text = "Accept: a\r\nX-One: 1\r\nACCEPT: b\r\nx-one: 2\r\n\r\n";
    let (places, _, _) = parse(text).unwrap();
    let fields = Fields::new(text.as_bytes(), &places);
    assert_eq!(fields.len(), 4);
    assert_eq!(fields.first(FieldId::Accept), Some(&b"a"[..]));
    assert_eq!(fields.all(FieldId::Accept).collect::<Vec<_>>(), [b"a", b"b"]);
    assert_eq!(fields.first_named(b"accept"), Some(&b"a"[..]));
    assert_eq!(fields.all_named(b"X-ONE").collect::<Vec<_>>(), [b"1", b"2"]);
    assert_eq!(fields.first_named(b"x-two"), None);
    assert_eq!(places[0].name, Span::new(0, 6));
}

use super::*;

/// Simple finder for comparison.
fn first(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| is_end(byte)).unwrap_or(bytes.len())
}

fn out_of_target(byte: u8) -> bool {
    !(0x21..0x7f).contains(&byte) || byte == b'#'
}

#[test]
fn finders_agree_with_the_reference_for_every_byte_at_every_position() {
    for length in 0..20 {
        for place in 0..length {
            for byte in 0..=255u8 {
                let mut bytes = vec![b'a'; length];
                bytes[place] = byte;
                for at in 0..=length {
                    check(&bytes, at);
                }
            }
        }
    }
}

#[test]
fn finders_agree_when_matches_are_adjacent() {
    for a in 0..=255u8 {
        for b in [0, 1, b' ', b'!', b':', b'#', b'?', b'\t', 0x7f, 0x80, 0xff] {
            check(&[b'x', a, b, b'y'], 0);
            check(&[b'x', b, a, b'y', b'z', b'x', a, b, b, a], 0);
        }
    }
}

#[test]
fn finders_agree_in_long_texts() {
    for length in [31, 32, 33, 47, 48, 49, 80, 81, 100] {
        for place in 0..length {
            for byte in [0, b'\t', b'\r', 0x1f, b' ', b'~', 0x7f, 0x80, 0xff] {
                let mut bytes = vec![0xff; length];
                bytes[place] = byte;
                bytes[length / 2] = b'~';
                check(&bytes, 0);
                check(&bytes, place / 2);
            }
        }
    }
}

#[test]
fn finders_agree_after_a_carry() {
    for a in 0..=255u8 {
        for b in [0x7d, 0x7e, 0x7f, 0x80, 0xfe, 0xff, b'\t'] {
            check(&[0xff, 0xff, b, a, b, b, a, 0xff, b, a, b, 0xff, 0x7e, 0x7e, a, b, 0x7e, b'\r'], 0);
        }
    }
}

fn check(bytes: &[u8], at: usize) {
    let bytes = &bytes[at..];
    assert_eq!(find_name_end(bytes), first(bytes, |b| b == b':' || b < 0x21));
    assert_eq!(find_token_end(bytes), first(bytes, |b| !(0x21..0x80).contains(&b)));
    assert_eq!(find_path_end(bytes), first(bytes, |b| b == b'?' || out_of_target(b)));
    assert_eq!(find_query_end(bytes), first(bytes, out_of_target));
    assert_eq!(find_text_end(bytes), first(bytes, |b| !is_text(b)));
}

#[test]
fn words_are_loaded_in_little_endian_order() {
    for length in 0..8 {
        assert_eq!(load(&b"12345678"[..length]), word_of(&b"12345678"[..length]));
    }
    assert_eq!(load(b"0123456789"), word_of(b"01234567"));
}

#[test]
fn character_classes_follow_the_grammar() {
    for byte in 0..=255u8 {
        let special = b"!#$%&'*+-.^_`|~".contains(&byte);
        assert_eq!(is_tchar(byte), byte.is_ascii_alphanumeric() || special, "{byte}");
        let is_host = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+;=".contains(&byte);
        assert_eq!(is_host_name(&[b'a', byte]), is_host, "{byte}");
        assert_eq!(NameBytes::of(&[b'a', byte]).are_token(), is_tchar(byte));
        assert_eq!(NameBytes::of(&[b'a', byte]).are_plain(), byte.is_ascii_alphanumeric() || byte == b'-');
        assert_eq!(is_text(byte), byte == 9 || (byte >= 32 && byte != 127), "{byte}");
        assert_eq!(
            hex_value(byte),
            char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok()),
            "{byte}"
        );
    }
}

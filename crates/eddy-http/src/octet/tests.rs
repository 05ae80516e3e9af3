use super::*;

/// A slow finder to compare with.
fn first(bytes: &[u8], at: usize, is_end: impl Fn(u8) -> bool) -> usize {
    (at..bytes.len()).find(|&index| is_end(bytes[index])).unwrap_or(bytes.len())
}

fn out_of_target(byte: u8) -> bool {
    !(0x21..0x7f).contains(&byte) || byte == b'#'
}

#[test]
fn finders_agree_with_the_slow_one_for_every_byte_at_every_place() {
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
fn finders_agree_when_marks_are_neighbours() {
    for a in 0..=255u8 {
        for b in [0, 1, b' ', b'!', b':', b'#', b'?', b'\t', 0x7f, 0x80, 0xff] {
            check(&[b'x', a, b, b'y'], 0);
            check(&[b'x', b, a, b'y', b'z', b'x', a, b, b, a], 0);
        }
    }
}

fn check(bytes: &[u8], at: usize) {
    assert_eq!(find_name_end(bytes, at), first(bytes, at, |b| b == b':' || !(0x21..0x80).contains(&b)));
    assert_eq!(find_token_end(bytes, at), first(bytes, at, |b| !(0x21..0x80).contains(&b)));
    assert_eq!(find_path_end(bytes, at), first(bytes, at, |b| b == b'?' || out_of_target(b)));
    assert_eq!(find_query_end(bytes, at), first(bytes, at, out_of_target));
    assert_eq!(find_text_end(bytes, at), first(bytes, at, |b| !is_text(b)));
}

#[test]
fn words_read_from_the_first_byte_upwards() {
    assert_eq!(load(b"GET /", 0), word_of(b"GET /"));
    assert_eq!(load(b"0123456789", 1), word_of(b"12345678"));
    assert_eq!(load(b"0123456789", 8), word_of(b"89"));
    assert_eq!(load(b"0123456789", 99), 0);
}

#[test]
fn classes_follow_the_grammar() {
    for byte in 0..=255u8 {
        let special = b"!#$%&'*+-.^_`|~".contains(&byte);
        assert_eq!(is_tchar(byte), byte.is_ascii_alphanumeric() || special, "{byte}");
        assert_eq!(is_host(byte), byte.is_ascii_alphanumeric() || b"-._~".contains(&byte), "{byte}");
        assert_eq!(is_text(byte), byte == 9 || (byte >= 32 && byte != 127), "{byte}");
        assert_eq!(
            hex_value(byte),
            char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok()),
            "{byte}"
        );
    }
}

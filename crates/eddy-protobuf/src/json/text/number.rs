//! Numbers: 64-bit integers, and floating-point numbers in their shortest form.

use crate::fault::ProtobufErrorKind;

/// Returns two digits of a number below 100.
#[inline]
pub(super) fn pair(value: u64) -> [u8; 2] {
    PAIRS[(value % 100) as usize]
}

/// Appends an unsigned integer.
#[inline]
pub(in crate::json) fn write_unsigned(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    while value >= 100 {
        let pair = pair(value);
        value /= 100;
        at -= 2;
        if let Some(place) = digits.get_mut(at..at + 2) {
            place.copy_from_slice(&pair);
        }
    }
    if value >= 10 {
        let pair = pair(value);
        at -= 2;
        if let Some(place) = digits.get_mut(at..at + 2) {
            place.copy_from_slice(&pair);
        }
    } else {
        at -= 1;
        if let Some(place) = digits.get_mut(at) {
            *place = b'0' + (value % 10) as u8;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a signed integer.
#[inline]
pub(in crate::json) fn write_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    write_unsigned(out, value.unsigned_abs());
}

/// Appends a `double`; a non-finite one as a string.
pub(in crate::json) fn write_double(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        write_shortest(out, zmij::Buffer::new().format_finite(value));
    } else {
        write_special(out, value);
    }
}

/// Appends a `float`.
pub(in crate::json) fn write_float(out: &mut Vec<u8>, value: f32) {
    if value.is_finite() {
        write_shortest(out, zmij::Buffer::new().format_finite(value));
    } else {
        write_special(out, f64::from(value));
    }
}

fn write_shortest(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

fn write_special(out: &mut Vec<u8>, value: f64) {
    let text: &[u8] = match value {
        value if value.is_nan() => b"\"NaN\"",
        value if value > 0.0 => b"\"Infinity\"",
        _ => b"\"-Infinity\"",
    };
    out.extend_from_slice(text);
}

/// Parses a signed integer between two bounds; `1e3` and `1.0` are integers too.
#[inline]
pub(in crate::json) fn parse_signed(text: &[u8], min: i64, max: i64) -> Result<i64, ProtobufErrorKind> {
    let (is_negative, magnitude) = parse_integer(text)?;
    let value =
        if is_negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
    value.filter(|value| (min..=max).contains(value)).ok_or(ProtobufErrorKind::JsonRange)
}

/// Parses an unsigned integer up to a bound.
#[inline]
pub(in crate::json) fn parse_unsigned(text: &[u8], max: u64) -> Result<u64, ProtobufErrorKind> {
    let (is_negative, magnitude) = parse_integer(text)?;
    if magnitude > max || is_negative && magnitude > 0 {
        return Err(ProtobufErrorKind::JsonRange);
    }
    Ok(magnitude)
}

/// Returns the sign and magnitude of an integer.
fn parse_integer(text: &[u8]) -> Result<(bool, u64), ProtobufErrorKind> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, text),
    };
    if digits.len() < 19 && !digits.is_empty() && (digits.len() == 1 || !digits.starts_with(b"0")) {
        let (count, value) = leading(digits, 0);
        if count == digits.len() {
            return Ok((is_negative, value));
        }
    }
    parse_decimal(digits).map(|value| (is_negative, value))
}

/// Returns the number of leading digits, and the number that they form when appended to `value`. It cannot overflow
/// with fewer than 19 digits.
#[inline]
fn leading(text: &[u8], mut value: u64) -> (usize, u64) {
    for (at, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (at, value);
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    (text.len(), value)
}

/// Parses an integer in any JSON number form.
fn parse_decimal(text: &[u8]) -> Result<u64, ProtobufErrorKind> {
    let parts = split_number(text).ok_or(ProtobufErrorKind::JsonType)?;
    let end = parts.fraction.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
    let fraction = &parts.fraction[..end];
    // Digits of the number without the only leading zero, and the shift of the decimal point.
    let whole = parts.whole.strip_prefix(b"0").unwrap_or(parts.whole);
    let digits = || whole.iter().chain(fraction);
    if digits().all(|digit| *digit == b'0') {
        return Ok(0);
    }
    let shift = parts.exponent - i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let mut value = 0_u64;
    let count = whole.len() + fraction.len();
    let kept = match usize::try_from(-shift) {
        Ok(dropped) if shift < 0 => {
            let kept = count.checked_sub(dropped).ok_or(ProtobufErrorKind::JsonRange)?;
            if digits().skip(kept).any(|digit| *digit != b'0') {
                return Err(ProtobufErrorKind::JsonRange);
            }
            kept
        }
        _ => count,
    };
    let push = |value: u64, digit: u8| value.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    for digit in digits().take(kept) {
        value = push(value, *digit).ok_or(ProtobufErrorKind::JsonRange)?;
    }
    for _ in 0..shift.clamp(0, ZEROS_MAX) {
        value = push(value, b'0').ok_or(ProtobufErrorKind::JsonRange)?;
    }
    Ok(value)
}

/// Parts of a JSON number without its sign.
struct DecimalParts<'t> {
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

/// Splits an unsigned number into its parts; returns `None` if it is not valid in JSON.
fn split_number(text: &[u8]) -> Option<DecimalParts<'_>> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (whole, rest) = text.split_at(digits(text));
    if whole.is_empty() || whole.len() > 1 && whole.starts_with(b"0") {
        return None;
    }
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => match rest.split_at(digits(rest)) {
            ([], _) => return None,
            parts => parts,
        },
        _ => (&[][..], rest),
    };
    let exponent = match rest {
        [] => 0,
        [b'e' | b'E', rest @ ..] => {
            let (is_negative, rest) = match rest {
                [b'-', rest @ ..] => (true, rest),
                [b'+', rest @ ..] => (false, rest),
                _ => (false, rest),
            };
            if rest.is_empty() || digits(rest) != rest.len() {
                return None;
            }
            let add = |value: i64, digit: &u8| (value * 10 + i64::from(digit - b'0')).min(EXPONENT_MAX);
            let exponent = rest.iter().fold(0, add);
            if is_negative { -exponent } else { exponent }
        }
        _ => return None,
    };
    Some(DecimalParts { whole, fraction, exponent })
}

/// Parses a `double`.
pub(in crate::json) fn parse_double(text: &[u8]) -> Result<f64, ProtobufErrorKind> {
    if let Some(value) = parse_short(text) {
        return Ok(value);
    }
    let value: f64 = number_text(text)?.parse().map_err(|_| ProtobufErrorKind::JsonType)?;
    if value.is_finite() { Ok(value) } else { Err(ProtobufErrorKind::JsonRange) }
}

/// Parses a `float`, rounded to the nearest.
pub(in crate::json) fn parse_float(text: &[u8]) -> Result<f32, ProtobufErrorKind> {
    let value: f32 = number_text(text)?.parse().map_err(|_| ProtobufErrorKind::JsonType)?;
    if value.is_finite() { Ok(value) } else { Err(ProtobufErrorKind::JsonRange) }
}

/// Parses a number of few digits without an exponent; returns `None` for any other number, or an invalid one.
///
/// # Source
/// W. D. Clinger, "How to read floating point numbers accurately": the quotient of two exact numbers is rounded once.
fn parse_short(text: &[u8]) -> Option<f64> {
    let (is_negative, text) = match text {
        [b'-', text @ ..] => (true, text),
        _ => (false, text),
    };
    if text.len() > SHORT_DIGITS_MAX {
        return None;
    }
    let (whole, digits) = leading(text, 0);
    if whole == 0 || whole > 1 && text.starts_with(b"0") {
        return None;
    }
    let (fraction, digits) = match text.get(whole..)? {
        [] => (0, digits),
        [b'.', rest @ ..] => match leading(rest, digits) {
            (0, _) => return None,
            (count, _) if count < rest.len() => return None,
            (count, digits) => (count, digits),
        },
        _ => return None,
    };
    #[expect(clippy::cast_precision_loss, reason = "15 digits are fewer than 53 bits")]
    let value = digits as f64 / POWERS.get(fraction)?;
    Some(if is_negative { -value } else { value })
}

/// Returns the text if it is a JSON number.
fn number_text(text: &[u8]) -> Result<&str, ProtobufErrorKind> {
    split_number(text.strip_prefix(b"-").unwrap_or(text)).ok_or(ProtobufErrorKind::JsonType)?;
    std::str::from_utf8(text).map_err(|_| ProtobufErrorKind::JsonType)
}

/// Beyond this exponent any number is out of range, or 0.
const EXPONENT_MAX: i64 = 1 << 40;
/// More trailing zeros exceed 64 bits.
const ZEROS_MAX: i64 = 20;
/// Numbers of up to this many digits are exact in a `double`.
const SHORT_DIGITS_MAX: usize = 15;
/// Powers of ten, all exact.
const POWERS: [f64; SHORT_DIGITS_MAX] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];
const PAIRS: [[u8; 2]; 100] = pairs();

#[expect(clippy::cast_possible_truncation, reason = "below 100")]
const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < 100 {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_the_standard_library_does() {
        let mut value = 1_u64;
        for _ in 0..200 {
            for value in [value, value - 1, value.wrapping_neg()] {
                let mut out = Vec::new();
                write_unsigned(&mut out, value);
                assert_eq!(out, value.to_string().into_bytes());
                out.clear();
                write_signed(&mut out, value.cast_signed());
                assert_eq!(out, value.cast_signed().to_string().into_bytes());
            }
            value = value.wrapping_mul(3).max(1);
        }
    }

    #[test]
    fn integers_come_in_many_forms() {
        let check = |text: &str, expected| {
            assert_eq!(parse_signed(text.as_bytes(), i64::MIN, i64::MAX), expected, "{text}")
        };
        check("0", Ok(0));
        check("-0", Ok(0));
        check("-0.0e5", Ok(0));
        check("1e3", Ok(1000));
        check("1.5e1", Ok(15));
        check("100e-2", Ok(1));
        check("1000.000", Ok(1000));
        check("9223372036854775807", Ok(i64::MAX));
        check("-9223372036854775808", Ok(i64::MIN));
        check("-9.223372036854775808e18", Ok(i64::MIN));
        check("9223372036854775808", Err(ProtobufErrorKind::JsonRange));
        check("0e999999999999999999999", Ok(0));
        for text in ["1.5", "1e-1", "0.1", "1e20", "1e999999999999999999", "1e-99999999999999999999"] {
            check(text, Err(ProtobufErrorKind::JsonRange));
        }
        for text in
            ["", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", " 1", "1 ", "0x1", "1_0", "--1", "١"]
        {
            check(text, Err(ProtobufErrorKind::JsonType));
        }
        assert_eq!(parse_unsigned(b"18446744073709551615", u64::MAX), Ok(u64::MAX));
        assert_eq!(parse_unsigned(b"-0", u64::MAX), Ok(0));
        assert_eq!(parse_unsigned(b"-1", u64::MAX), Err(ProtobufErrorKind::JsonRange));
        assert_eq!(parse_unsigned(b"4294967296", u64::from(u32::MAX)), Err(ProtobufErrorKind::JsonRange));
    }

    #[test]
    fn short_numbers_match_the_standard_library() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (digits, fraction) = (state >> 14, state % 17);
            let text = format!("{:.*}", usize::try_from(fraction).unwrap(), digits as f64 / 3e9);
            for text in [&text, &format!("-{text}"), &format!("0.{digits}"), &format!("{}", digits % 100_000)]
            {
                let expected: f64 = text.parse().unwrap();
                assert_eq!(parse_double(text.as_bytes()).unwrap().to_bits(), expected.to_bits(), "{text}");
            }
        }
    }

    #[test]
    fn out_of_range_floats_are_refused() {
        assert_eq!(parse_double(b"-1.89769e308"), Err(ProtobufErrorKind::JsonRange));
        assert_eq!(parse_double(b"1.7976931348623157e308"), Ok(f64::MAX));
        assert_eq!(parse_float(b"3.502823e38"), Err(ProtobufErrorKind::JsonRange));
        assert_eq!(parse_float(b"3.4028235e38"), Ok(f32::MAX));
        assert!(parse_double(b"-0").unwrap().is_sign_negative());
        for text in
            ["NaN", "inf", "1.", "01", "", "-", "-01", ".5", "1..2", "1.2.3", "1.5x", "+1", "0x1", "00", "1 "]
        {
            assert_eq!(parse_double(text.as_bytes()), Err(ProtobufErrorKind::JsonType), "{text}");
        }
    }
}

//! `Timestamp` and `Duration`.

use super::number::{pair, write_unsigned};
use crate::fault::ProtobufErrorKind;

/// Appends a timestamp in RFC 3339 format, in UTC, with zero, three, six or nine fractional digits, in quotes.
pub(in crate::json) fn write_timestamp(
    out: &mut Vec<u8>,
    seconds: i64,
    nanos: i32,
) -> Result<(), ProtobufErrorKind> {
    let Ok(nanos @ 0..NANOS) = u32::try_from(nanos) else { return Err(ProtobufErrorKind::TimestampRange) };
    if !(TIMESTAMP_MIN..=TIMESTAMP_MAX).contains(&seconds) {
        return Err(ProtobufErrorKind::TimestampRange);
    }
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY).unsigned_abs();
    let [century, of_century] = [year.unsigned_abs() / 100, year.unsigned_abs() % 100].map(pair);
    let [month, day] = [month, day].map(pair);
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60].map(pair);
    let mut text = *b"\"0000-00-00T00:00:00";
    for (place, digits) in
        [(1, century), (3, of_century), (6, month), (9, day), (12, hour), (15, minute), (18, second)]
    {
        if let Some(place) = text.get_mut(place..place + 2) {
            place.copy_from_slice(&digits);
        }
    }
    out.extend_from_slice(&text);
    write_fraction(out, nanos);
    out.extend_from_slice(b"Z\"");
    Ok(())
}

/// Appends a duration in seconds, in quotes.
pub(in crate::json) fn write_duration(
    out: &mut Vec<u8>,
    seconds: i64,
    nanos: i32,
) -> Result<(), ProtobufErrorKind> {
    let is_mixed = seconds < 0 && nanos > 0 || seconds > 0 && nanos < 0;
    if is_mixed || seconds.unsigned_abs() > DURATION_MAX || nanos.unsigned_abs() >= NANOS {
        return Err(ProtobufErrorKind::DurationRange);
    }
    out.push(b'"');
    if seconds < 0 || nanos < 0 {
        out.push(b'-');
    }
    write_unsigned(out, seconds.unsigned_abs());
    write_fraction(out, nanos.unsigned_abs());
    out.extend_from_slice(b"s\"");
    Ok(())
}

fn write_fraction(out: &mut Vec<u8>, nanos: u32) {
    let (value, digits) = match nanos {
        0 => return,
        _ if nanos.is_multiple_of(1_000_000) => (nanos / 1_000_000, 3),
        _ if nanos.is_multiple_of(1_000) => (nanos / 1_000, 6),
        _ => (nanos, 9),
    };
    // The digits are at the end, preceded by zeros.
    let mut text = *b".000000000";
    let mut left = value;
    for place in text.iter_mut().skip(1).take(digits).rev() {
        *place = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.extend_from_slice(text.get(..=digits).unwrap_or_default());
}

/// Parses a timestamp to seconds and nanoseconds since 1970.
pub(in crate::json) fn parse_timestamp(text: &[u8]) -> Result<(i64, i32), ProtobufErrorKind> {
    read_timestamp(text).ok_or(ProtobufErrorKind::JsonTimestamp).and_then(|(seconds, nanos)| {
        if (TIMESTAMP_MIN..=TIMESTAMP_MAX).contains(&seconds) {
            Ok((seconds, nanos))
        } else {
            Err(ProtobufErrorKind::TimestampRange)
        }
    })
}

fn read_timestamp(text: &[u8]) -> Option<(i64, i32)> {
    let mut reader = TimeTextReader(text);
    let year = reader.digits(4)?;
    let month = reader.after(b'-')?.digits(2)?;
    let day = reader.after(b'-')?.digits(2)?;
    let hour = reader.after(b'T')?.digits(2)?;
    let minute = reader.after(b':')?.digits(2)?;
    let second = reader.after(b':')?.digits(2)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last_day = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=last_day).contains(&day) || hour > 23 || minute > 59 || second > 59
    {
        return None;
    }
    let nanos = reader.fraction()?;
    let offset = match reader.0 {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let mut rest = TimeTextReader(rest);
            let hours = rest.digits(2)?;
            let minutes = rest.after(b':')?.digits(2)?;
            if !rest.0.is_empty() || hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 3600 + minutes * 60) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    Some((seconds, nanos))
}

/// Parses a duration to seconds and nanoseconds of the same sign.
pub(in crate::json) fn parse_duration(text: &[u8]) -> Result<(i64, i32), ProtobufErrorKind> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, text),
    };
    let (seconds, nanos) = read_duration(digits).ok_or(ProtobufErrorKind::JsonDuration)?;
    if seconds.unsigned_abs() > DURATION_MAX {
        return Err(ProtobufErrorKind::DurationRange);
    }
    Ok(if is_negative { (-seconds, -nanos) } else { (seconds, nanos) })
}

fn read_duration(text: &[u8]) -> Option<(i64, i32)> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 || count > DURATION_DIGITS_MAX || count > 1 && text.starts_with(b"0") {
        return None;
    }
    let mut reader = TimeTextReader(text);
    let seconds = reader.digits(count)?;
    let nanos = reader.fraction()?;
    (reader.0 == b"s").then_some((seconds, nanos))
}

/// Reads from the front of a text.
struct TimeTextReader<'t>(&'t [u8]);

impl TimeTextReader<'_> {
    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first == byte).then_some(self)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0_i64, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0'))
        })
    }

    /// Reads up to nine digits after a dot, as nanoseconds; returns 0 without a dot.
    fn fraction(&mut self) -> Option<i32> {
        let [b'.', rest @ ..] = self.0 else { return Some(0) };
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || count > 9 {
            return None;
        }
        self.0 = rest;
        let value = i32::try_from(self.digits(count)?).ok()?;
        let zeros = u32::try_from(9 - count).ok()?;
        Some(value * 10_i32.pow(zeros))
    }
}

/// Returns year, month and day of a day since 1970, in the proleptic Gregorian calendar.
fn civil(day: i64) -> (i64, u64, u64) {
    // Years begin in March here, so that the leap day is their last.
    let day = day + MARCH_OF_0000;
    let era = day.div_euclid(ERA);
    let of_era = day.rem_euclid(ERA);
    let year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month.unsigned_abs(), day.unsigned_abs())
}

/// Returns the days since 1970 of a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - MARCH_OF_0000
}

const NANOS: u32 = 1_000_000_000;
const DAY: i64 = 86_400;
/// Days of 400 years.
const ERA: i64 = 146_097;
/// Days from March 1 of the year 0 to 1970.
const MARCH_OF_0000: i64 = 719_468;
/// `0001-01-01T00:00:00Z`.
const TIMESTAMP_MIN: i64 = -62_135_596_800;
/// `9999-12-31T23:59:59Z`.
const TIMESTAMP_MAX: i64 = 253_402_300_799;
/// 10,000 years, in seconds.
const DURATION_MAX: u64 = 315_576_000_000;
/// More digits are always out of range.
const DURATION_DIGITS_MAX: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, seconds: i64, nanos: i32) {
        assert_eq!(parse_timestamp(text.as_bytes()), Ok((seconds, nanos)), "{text}");
        let mut out = Vec::new();
        write_timestamp(&mut out, seconds, nanos).unwrap();
        assert_eq!(out, format!("\"{text}\"").into_bytes());
    }

    #[test]
    fn timestamps_round_trip() {
        check("1970-01-01T00:00:00Z", 0, 0);
        check("0001-01-01T00:00:00Z", TIMESTAMP_MIN, 0);
        check("9999-12-31T23:59:59.999999999Z", TIMESTAMP_MAX, 999_999_999);
        check("2024-02-29T12:34:56.500Z", 1_709_210_096, 500_000_000);
        check("1969-12-31T23:59:59.000001Z", -1, 1000);
        check("1900-03-01T00:00:00Z", -2_203_891_200, 0);
        for day in (-719_162..2_932_896).step_by(97) {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, i64::try_from(month).unwrap(), i64::try_from(date).unwrap()), day);
        }
    }

    #[test]
    fn timestamps_have_one_form() {
        assert_eq!(parse_timestamp(b"1970-01-01T01:00:00.5+01:00"), Ok((0, 500_000_000)));
        for text in [
            "1970-01-01t00:00:00Z",
            "1970-01-01T00:00:00z",
            "1970-01-01T00:00:00",
            "1970-13-01T00:00:00Z",
            "1970-02-29T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.1234567890Z",
            "1970-01-01T00:00:00+1:00",
            "1970-1-1T00:00:00Z",
            "1970-01-01 00:00:00Z",
            "",
            "1970-01-01T00:00:00Zx",
        ] {
            assert_eq!(parse_timestamp(text.as_bytes()), Err(ProtobufErrorKind::JsonTimestamp), "{text}");
        }
        assert_eq!(parse_timestamp(b"0000-12-31T23:59:59Z"), Err(ProtobufErrorKind::TimestampRange));
        assert_eq!(parse_timestamp(b"9999-12-31T23:59:59-00:01"), Err(ProtobufErrorKind::TimestampRange));
        assert_eq!(write_timestamp(&mut Vec::new(), 0, -1), Err(ProtobufErrorKind::TimestampRange));
        assert_eq!(
            write_timestamp(&mut Vec::new(), 0, 1_000_000_000),
            Err(ProtobufErrorKind::TimestampRange)
        );
    }

    #[test]
    fn durations_round_trip() {
        for (text, seconds, nanos) in [
            ("0s", 0, 0),
            ("-0.500s", 0, -500_000_000),
            ("1.000000001s", 1, 1),
            ("-315576000000s", -315_576_000_000, 0),
        ] {
            assert_eq!(parse_duration(text.as_bytes()), Ok((seconds, nanos)), "{text}");
            let mut out = Vec::new();
            write_duration(&mut out, seconds, nanos).unwrap();
            assert_eq!(out, format!("\"{text}\"").into_bytes());
        }
        for text in ["", "s", "1", "1 s", "1.s", ".5s", "1.0000000001s", "+-1s", "01s", "1e3s"] {
            assert_eq!(parse_duration(text.as_bytes()), Err(ProtobufErrorKind::JsonDuration), "{text}");
        }
        assert_eq!(parse_duration(b"+0.000001s"), Ok((0, 1000)));
        assert_eq!(parse_duration(b"315576000001s"), Err(ProtobufErrorKind::DurationRange));
        assert_eq!(write_duration(&mut Vec::new(), 1, -1), Err(ProtobufErrorKind::DurationRange));
    }
}

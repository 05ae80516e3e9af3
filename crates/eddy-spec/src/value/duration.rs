//! Durations such as `250ms`, `10s`, `5m` or `1h`.

use std::time::Duration;

use super::number::parse_digits;
use crate::read::{FromScalar, InvalidValue, WordInfo};

/// A duration from `LEAST` to `MOST` milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time<const LEAST: u64, const MOST: u64>(pub Duration);

impl<const LEAST: u64, const MOST: u64> From<Time<LEAST, MOST>> for Duration {
    fn from(time: Time<LEAST, MOST>) -> Self {
        time.0
    }
}

impl<const LEAST: u64, const MOST: u64> FromScalar for Time<LEAST, MOST> {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let duration = parse_duration(text)?;
        let least = Duration::from_millis(LEAST);
        let most = Duration::from_millis(MOST);
        if (least..=most).contains(&duration) { Ok(Self(duration)) } else { Err(InvalidValue::Range) }
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some("^(0|[1-9][0-9]*)(ms|s|m|h)$"),
            limit: Some(format!("{} to {}", duration_text(LEAST), duration_text(MOST))),
            ..WordInfo::text("a duration such as `10s`")
        }
    }
}

fn parse_duration(text: &str) -> Result<Duration, InvalidValue> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(misfit(digits, unit)),
    };
    let millis = parse_digits(digits)?.checked_mul(unit_ms).ok_or(InvalidValue::Range)?;
    Ok(Duration::from_millis(millis))
}

/// Returns the problem with an unknown unit, with a hint.
fn misfit(digits: &str, unit: &str) -> InvalidValue {
    if digits.is_empty() {
        return InvalidValue::FORM;
    }
    let ours = match &*unit.trim().to_ascii_lowercase() {
        "" => {
            return InvalidValue::form(format!(
                "add a unit: `{digits}ms`, `{digits}s`, `{digits}m` or `{digits}h`"
            ));
        }
        "msec" | "millis" | "milliseconds" | "ms" => "ms",
        "sec" | "secs" | "second" | "seconds" | "s" => "s",
        "min" | "mins" | "minute" | "minutes" | "m" => "m",
        "hr" | "hrs" | "hour" | "hours" | "h" => "h",
        "d" | "day" | "days" => return InvalidValue::form("the units are ms, s, m and h; a day is `24h`"),
        "us" | "µs" | "ns" => {
            return InvalidValue::form("the units are ms, s, m and h; the smallest value is `1ms`");
        }
        other if other.starts_with('.') => {
            return InvalidValue::form("write a whole number of a smaller unit: `1500ms`");
        }
        _ => return InvalidValue::form("the units are ms, s, m and h"),
    };
    InvalidValue::form(format!("write `{digits}{ours}`"))
}

/// Formats a number of milliseconds in the largest unit that divides it.
pub(super) fn duration_text(millis: u64) -> String {
    match millis {
        0 => "0s".to_owned(),
        _ if millis.is_multiple_of(3_600_000) => format!("{}h", millis / 3_600_000),
        _ if millis.is_multiple_of(60_000) => format!("{}m", millis / 60_000),
        _ if millis.is_multiple_of(1000) => format!("{}s", millis / 1000),
        _ => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{duration_text, parse_duration};
    use crate::read::InvalidValue;

    #[test]
    fn the_units_are_ms_s_m_and_h() {
        let check = |text: &str, millis: u64| {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        };
        check("250ms", 250);
        check("10s", 10_000);
        check("5m", 300_000);
        check("1h", 3_600_000);
        check("0s", 0);
    }

    #[test]
    fn other_forms_are_refused_with_a_hint() {
        let check = |text: &str, hint: &str| match parse_duration(text) {
            Err(InvalidValue::Form { hint: Some(found) }) => assert!(found.contains(hint), "{text}: {found}"),
            other => panic!("{text}: {other:?}"),
        };
        check("10", "`10s`");
        check("10 s", "`10s`");
        check("10sec", "`10s`");
        check("1d", "`24h`");
        check("1.5s", "1500ms");
        check("10 apples", "units are");
        check("010s", "leading zeros");
        assert_eq!(parse_duration("soon"), Err(InvalidValue::FORM));
        assert_eq!(parse_duration("-1s"), Err(InvalidValue::FORM));
        assert_eq!(parse_duration("99999999999999999999h"), Err(InvalidValue::Range));
        assert_eq!(parse_duration("18446744073709551615h"), Err(InvalidValue::Range));
    }

    proptest! {
        #[test]
        fn written_values_are_parsed_back(millis in 0..=u64::MAX) {
            prop_assert_eq!(parse_duration(&duration_text(millis)), Ok(Duration::from_millis(millis)));
        }

        #[test]
        fn any_text_is_accepted_or_refused(text in ".{0,40}") {
            let _ = parse_duration(&text);
        }

        #[test]
        fn near_misses_are_accepted_or_refused(text in "[0-9 .mshd-]{0,24}") {
            let _ = parse_duration(&text);
        }
    }
}

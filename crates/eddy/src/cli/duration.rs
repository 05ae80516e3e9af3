//! Durations on the command line.

use std::time::Duration;

/// Parses a duration such as `500ms`, `30s` or `2m`; at most one day.
///
/// # Errors
/// Error message for people.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err("expected a number and a unit, as in 500ms, 30s or 2m".to_owned()),
    };
    let number: u64 =
        number.parse().map_err(|_| "expected a number before the unit, as in 30s".to_owned())?;
    match number.checked_mul(unit_ms) {
        Some(time_ms) if (1..=TIME_MS_MAX).contains(&time_ms) => Ok(Duration::from_millis(time_ms)),
        _ => Err("expected a time above zero and at most one day".to_owned()),
    }
}

const TIME_MS_MAX: u64 = 24 * 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected_ms: Option<u64>) {
        assert_eq!(parse_duration(text).ok(), expected_ms.map(Duration::from_millis), "{text}");
    }

    #[test]
    fn times_are_read() {
        check("500ms", Some(500));
        check("30s", Some(30_000));
        check("2m", Some(120_000));
        check("0s", None);
        check("30", None);
        check("s", None);
        check("-1s", None);
        check("1h", None);
        check("99999999999999999999s", None);
        check("18446744073709551615m", None);
    }
}

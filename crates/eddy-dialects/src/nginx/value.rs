//! Sizes, times and numbers in NGINX's notation.

use std::time::Duration;

/// Parses a size such as `10`, `8k`, `1m` or `2g`.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let (digits, unit) = split_unit(text);
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Parses a time such as `30`, `10s`, `500ms` or `1h 30m`; without a unit, seconds.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits_end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(digits_end);
        let unit_end =
            after.find(|letter: char| letter.is_ascii_digit() || letter == ' ').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let unit_ms = match unit {
            "ms" => 1,
            "" | "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            "M" => 2_592_000_000,
            "y" => 31_536_000_000,
            _ => return None,
        };
        let millis = digits.parse::<u64>().ok()?.checked_mul(unit_ms)?;
        total = total.checked_add(Duration::from_millis(millis))?;
        rest = after.trim_start();
    }
    Some(total)
}

fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse_size, parse_time};

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(parse_size("10"), Some(10));
        assert_eq!(parse_size("8k"), Some(8192));
        assert_eq!(parse_size("1M"), Some(1 << 20));
        assert_eq!(parse_size("k"), None);
        assert_eq!(parse_size("1x"), None);
        assert_eq!(parse_time("30"), Some(Duration::from_secs(30)));
        assert_eq!(parse_time("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse_time("1h 30m"), Some(Duration::from_secs(5400)));
        assert_eq!(parse_time("1m30s"), Some(Duration::from_secs(90)));
        assert_eq!(parse_time("x"), None);
        assert_eq!(parse_time(""), None);
    }
}

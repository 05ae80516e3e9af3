//! Scalars of Istio objects.

use std::time::Duration;

use eddy_spec::read::{FromScalar, InvalidValue, WordInfo};

/// Duration in Go's notation: `1h30m`, `1.5s`, `500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoTime(pub(crate) Duration);

/// Share of requests, per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IstioPercent(pub(crate) u32);

impl FromScalar for GoTime {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_time(text).map(Self).ok_or(InvalidValue::FORM)
    }

    fn info() -> WordInfo {
        WordInfo::text("a time such as `5s`, `500ms` or `1h30m`")
    }
}

impl FromScalar for IstioPercent {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let value: f64 = text.parse().map_err(|_| InvalidValue::FORM)?;
        if !(0.0..=100.0).contains(&value) {
            return Err(InvalidValue::Range);
        }
        // Fractions of a millionth are dropped, as in Istio.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to a million")]
        let millionths = (value * 10_000.0) as u32;
        Ok(Self(millionths))
    }

    fn info() -> WordInfo {
        WordInfo { limit: Some("0 to 100".to_owned()), ..WordInfo::text("a percentage") }
    }
}

fn parse_time(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (unit, after) = UNITS.iter().find_map(|(name, unit)| Some((*unit, after.strip_prefix(name)?)))?;
        let whole: u128 =
            if whole.is_empty() { 0 } else { whole.get(..18.min(whole.len()))?.parse().ok()? };
        total = total.checked_add(whole.checked_mul(unit)?)?;
        let fraction = fraction.get(..9.min(fraction.len()))?;
        if !fraction.is_empty() {
            let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
            total = total.checked_add(fraction.parse::<u128>().ok()?.checked_mul(unit)? / scale)?;
        }
        rest = after;
    }
    // More nanoseconds than a `u64` holds are an error.
    let nanos = u64::try_from(total).ok()?;
    (!text.is_empty()).then_some(Duration::from_nanos(nanos))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Units in nanoseconds; longer names first.
const UNITS: [(&str, u128); 7] = [
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use eddy_spec::read::FromScalar;

    use super::{IstioPercent, parse_time};

    #[test]
    fn durations_have_the_syntax_of_go() {
        for (text, millis) in [
            ("5s", 5000),
            ("1.5s", 1500),
            ("500ms", 500),
            ("1h30m", 5_400_000),
            ("0s", 0),
            (".5s", 500),
            ("2m", 120_000),
        ] {
            assert_eq!(parse_time(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "5x", "-1s", ".s", "1 s", "99999999999999999999h"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn percentages_may_be_fractional() {
        assert_eq!(IstioPercent::parse("0.1"), Ok(IstioPercent(1000)));
        assert_eq!(IstioPercent::parse("100"), Ok(IstioPercent(1_000_000)));
        assert!(IstioPercent::parse("100.1").is_err());
        assert!(IstioPercent::parse("NaN").is_err());
    }
}

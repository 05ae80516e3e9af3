//! Whole numbers within the range that their type specifies.

use crate::read::{FromScalar, InvalidValue, WordInfo, WordKind};

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<const LEAST: u64, const MOST: u64>(pub u64);

/// Explicit rank of a rule among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank(pub i32);

impl<const LEAST: u64, const MOST: u64> Number<LEAST, MOST> {
    /// Converts the number to a narrower type; the range in the type ensures that it fits.
    pub fn to_u32(self) -> u32 {
        const { assert!(MOST <= u32::MAX as u64, "the range fits") };
        u32::try_from(self.0).expect("the range in the type fits")
    }

    /// Converts the number to a narrower type; the range in the type ensures that it fits.
    pub fn to_u16(self) -> u16 {
        const { assert!(MOST <= u16::MAX as u64, "the range fits") };
        u16::try_from(self.0).expect("the range in the type fits")
    }

    /// Converts the number to a narrower type; the range in the type ensures that it fits.
    pub fn to_u8(self) -> u8 {
        const { assert!(MOST <= u8::MAX as u64, "the range fits") };
        u8::try_from(self.0).expect("the range in the type fits")
    }
}

impl<const LEAST: u64, const MOST: u64> From<Number<LEAST, MOST>> for u8 {
    fn from(number: Number<LEAST, MOST>) -> Self {
        number.to_u8()
    }
}

impl<const LEAST: u64, const MOST: u64> From<Number<LEAST, MOST>> for u32 {
    fn from(number: Number<LEAST, MOST>) -> Self {
        number.to_u32()
    }
}

impl<const LEAST: u64, const MOST: u64> From<Number<LEAST, MOST>> for u64 {
    fn from(number: Number<LEAST, MOST>) -> Self {
        number.0
    }
}

impl<const LEAST: u64, const MOST: u64> From<Number<LEAST, MOST>> for usize {
    fn from(number: Number<LEAST, MOST>) -> Self {
        number.to_u32() as Self
    }
}

impl<const LEAST: u64, const MOST: u64> FromScalar for Number<LEAST, MOST> {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let value = parse_digits(text)?;
        if (LEAST..=MOST).contains(&value) { Ok(Self(value)) } else { Err(InvalidValue::Range) }
    }

    fn info() -> WordInfo {
        let kind = WordKind::Number { least: LEAST.cast_signed(), most: MOST.cast_signed() };
        WordInfo { kind, limit: Some(format!("{LEAST} to {MOST}")), ..WordInfo::text("a whole number") }
    }
}

impl FromScalar for Rank {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let size = i64::try_from(parse_digits(digits)?).map_err(|_| InvalidValue::Range)?;
        i32::try_from(if is_negative { -size } else { size }).map(Self).map_err(|_| InvalidValue::Range)
    }

    fn info() -> WordInfo {
        let kind = WordKind::Number { least: i32::MIN.into(), most: i32::MAX.into() };
        WordInfo {
            kind,
            limit: Some(format!("{} to {}", i32::MIN, i32::MAX)),
            ..WordInfo::text("a whole number")
        }
    }
}

/// Parses decimal digits. A number that is too large for any range is out of range, not malformed.
pub(super) fn parse_digits(text: &str) -> Result<u64, InvalidValue> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let bare: String = text.chars().filter(|c| !matches!(c, '_' | ',' | '\'')).collect();
        let is_grouped =
            bare.len() < text.len() && !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
        return Err(if is_grouped {
            InvalidValue::form(format!("write `{bare}`"))
        } else {
            InvalidValue::FORM
        });
    }
    if text.len() > 1 && text.starts_with('0') {
        // YAML 1.1 reads such numbers as octal.
        return Err(InvalidValue::form("remove the leading zeros"));
    }
    text.parse().map_err(|_| InvalidValue::Range)
}

#[cfg(test)]
mod tests {
    use super::{Number, Rank};
    use crate::read::{FromScalar, InvalidValue};

    #[test]
    fn digits_within_the_range_are_accepted() {
        let check = |text: &str, expected: Result<u64, InvalidValue>| {
            assert_eq!(Number::<1, 256>::parse(text).map(|number| number.0), expected, "{text}");
        };
        check("1", Ok(1));
        check("256", Ok(256));
        check("0", Err(InvalidValue::Range));
        check("257", Err(InvalidValue::Range));
        check("99999999999999999999999", Err(InvalidValue::Range));
        check("", Err(InvalidValue::FORM));
        check("-1", Err(InvalidValue::FORM));
        check("1.0", Err(InvalidValue::FORM));
        check("0x10", Err(InvalidValue::FORM));
        check("007", Err(InvalidValue::form("remove the leading zeros")));
        check("1_00", Err(InvalidValue::form("write `100`")));
    }

    #[test]
    fn a_rank_may_be_negative() {
        assert_eq!(Rank::parse("-2147483648"), Ok(Rank(i32::MIN)));
        assert_eq!(Rank::parse("2147483648"), Err(InvalidValue::Range));
        assert_eq!(Rank::parse("--1"), Err(InvalidValue::FORM));
    }
}

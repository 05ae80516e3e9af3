//! Sizes such as `8KiB`, `1MiB` or a plain number of bytes.

use super::number::parse_digits;
use crate::read::{FromScalar, InvalidValue, WordInfo, WordKind};

/// A number of bytes from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSize<const LEAST: u64, const MOST: u64>(pub u64);

impl<const LEAST: u64, const MOST: u64> ByteSize<LEAST, MOST> {
    /// Converts the size to a narrower type; the range in the type ensures that it fits.
    pub fn to_u32(self) -> u32 {
        const { assert!(MOST <= u32::MAX as u64, "the range fits") };
        u32::try_from(self.0).expect("the range in the type fits")
    }
}

impl<const LEAST: u64, const MOST: u64> From<ByteSize<LEAST, MOST>> for u32 {
    fn from(size: ByteSize<LEAST, MOST>) -> Self {
        size.to_u32()
    }
}

impl<const LEAST: u64, const MOST: u64> From<ByteSize<LEAST, MOST>> for u64 {
    fn from(size: ByteSize<LEAST, MOST>) -> Self {
        size.0
    }
}

impl<const LEAST: u64, const MOST: u64> From<ByteSize<LEAST, MOST>> for usize {
    fn from(size: ByteSize<LEAST, MOST>) -> Self {
        size.to_u32() as Self
    }
}

impl<const LEAST: u64, const MOST: u64> FromScalar for ByteSize<LEAST, MOST> {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let bytes = parse_size(text)?;
        if (LEAST..=MOST).contains(&bytes) { Ok(Self(bytes)) } else { Err(InvalidValue::Range) }
    }

    fn info() -> WordInfo {
        WordInfo {
            kind: WordKind::TextOrNumber,
            pattern: Some("^(0|[1-9][0-9]*)(B|KiB|MiB|GiB|TiB)?$"),
            limit: Some(format!("{} to {}", size_text(LEAST), size_text(MOST))),
            ..WordInfo::text("a size such as `64KiB`")
        }
    }
}

fn parse_size(text: &str) -> Result<u64, InvalidValue> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let unit_bytes = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1_u64 << 40,
        _ => return Err(misfit(digits, unit)),
    };
    parse_digits(digits)?.checked_mul(unit_bytes).ok_or(InvalidValue::Range)
}

/// Returns the problem with an unknown unit, with a hint.
fn misfit(digits: &str, unit: &str) -> InvalidValue {
    if digits.is_empty() {
        return InvalidValue::FORM;
    }
    let ours = match &*unit.trim().to_ascii_lowercase() {
        "b" | "byte" | "bytes" => "B",
        "k" | "kb" | "ki" | "kib" => "KiB",
        "m" | "mb" | "mi" | "mib" => "MiB",
        "g" | "gb" | "gi" | "gib" => "GiB",
        "t" | "tb" | "ti" | "tib" => "TiB",
        _ => return InvalidValue::form("the units are B, KiB, MiB, GiB and TiB"),
    };
    InvalidValue::form(format!("write `{digits}{ours}`; 1KiB is 1024 bytes"))
}

/// Formats a number of bytes in the largest unit that divides it.
pub(super) fn size_text(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| bytes > 0 && bytes.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{}{unit}", bytes / size),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{parse_size, size_text};
    use crate::read::InvalidValue;

    #[test]
    fn sizes_are_in_powers_of_1024() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1MiB"), Ok(1 << 20));
        assert_eq!(parse_size("8192"), Ok(8192));
        assert_eq!(parse_size("0"), Ok(0));
        assert_eq!(parse_size("12B"), Ok(12));
    }

    #[test]
    fn other_forms_are_refused_with_a_hint() {
        assert_eq!(parse_size("64k"), Err(InvalidValue::form("write `64KiB`; 1KiB is 1024 bytes")));
        assert_eq!(parse_size("1 MB"), Err(InvalidValue::form("write `1MiB`; 1KiB is 1024 bytes")));
        assert_eq!(parse_size("1 acre"), Err(InvalidValue::form("the units are B, KiB, MiB, GiB and TiB")));
        assert_eq!(parse_size("large"), Err(InvalidValue::FORM));
        assert_eq!(parse_size("18446744073709551615KiB"), Err(InvalidValue::Range));
    }

    proptest! {
        #[test]
        fn written_values_are_parsed_back(bytes in 0..=u64::MAX) {
            prop_assert_eq!(parse_size(&size_text(bytes)), Ok(bytes));
        }

        #[test]
        fn any_text_is_accepted_or_refused(text in "[0-9 .,kKmMgGtTiIbB-]{0,24}") {
            let _ = parse_size(&text);
        }
    }
}

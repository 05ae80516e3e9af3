//! HTTP dates.

/// Returns `unix_seconds` as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// The format has four digits for the year: dates after 9999 are written as the last second of that year.
///
/// # Units
/// Seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
///
/// # Spec
/// [RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7)
///
/// # Source
/// Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
pub fn format_date(unix_seconds: u64) -> [u8; DATE_BYTES] {
    let seconds = unix_seconds.min(LAST_SECOND);
    let days = seconds / 86_400;
    let (year, month, day) = civil_of_days(days);
    let mut out = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    put(&mut out, 0, name_of(b"ThuFriSatSunMonTueWed", days % 7));
    put(&mut out, 5, &digits_of(day));
    put(&mut out, 8, name_of(b"JanFebMarAprMayJunJulAugSepOctNovDec", month - 1));
    put(&mut out, 12, &digits_of(year / 100));
    put(&mut out, 14, &digits_of(year % 100));
    put(&mut out, 17, &digits_of(seconds % 86_400 / 3_600));
    put(&mut out, 20, &digits_of(seconds % 3_600 / 60));
    put(&mut out, 23, &digits_of(seconds % 60));
    out
}

/// Returns year, month (1 to 12) and day (1 to 31) of a day counted from 1970-01-01.
fn civil_of_days(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Returns the two decimal digits of a number below 100.
fn digits_of(number: u64) -> [u8; 2] {
    [b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]
}

/// Returns the three-letter name at `index`.
fn name_of(names: &[u8], index: u64) -> &[u8] {
    let index = usize::try_from(index).expect("at most eleven");
    names.chunks_exact(3).nth(index).expect("a name for each day and month")
}

fn put(out: &mut [u8; DATE_BYTES], at: usize, bytes: &[u8]) {
    out.get_mut(at..at + bytes.len()).expect("a part of the date").copy_from_slice(bytes);
}

/// Length of a date.
pub const DATE_BYTES: usize = 29;

/// 9999-12-31 23:59:59.
const LAST_SECOND: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::format_date;

    #[track_caller]
    fn check(unix_seconds: u64, expected: &str) {
        assert_eq!(String::from_utf8(format_date(unix_seconds).to_vec()).unwrap(), expected);
    }

    #[test]
    fn dates_follow_the_calendar() {
        check(0, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT");
        check(951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT");
        check(1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT");
        check(1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT");
        check(4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT");
        check(4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT");
        check(2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT");
        check(253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT");
        check(u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}

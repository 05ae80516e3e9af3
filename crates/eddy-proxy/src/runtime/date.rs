//! Value of the `Date` header, formatted once per second.

use eddy_http::{DATE_BYTES, format_date};

/// Cache of the formatted time of the current second.
#[derive(Debug, Default)]
pub(crate) struct DateCache {
    second: u64,
    date: Option<[u8; DATE_BYTES]>,
}

impl DateCache {
    /// Returns the date of a second since 1970, as in `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    pub(crate) fn at(&mut self, second: u64) -> [u8; DATE_BYTES] {
        match self.date {
            Some(date) if self.second == second => date,
            _ => {
                let date = format_date(second);
                self.second = second;
                self.date = Some(date);
                date
            }
        }
    }
}

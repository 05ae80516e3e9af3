//! The `grpc-timeout` field: the deadline of a call.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Invalid value of `grpc-timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadGrpcTimeout;

impl fmt::Display for BadGrpcTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a gRPC timeout is 1 to 8 digits and one of `H`, `M`, `S`, `m`, `u` and `n`")
    }
}

impl Error for BadGrpcTimeout {}

/// Parses a value of `grpc-timeout`.
///
/// # Errors
/// [`BadGrpcTimeout`] for anything except 1 to 8 digits and a unit.
///
/// # Spec
/// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Timeout
pub fn parse_grpc_timeout(value: &[u8]) -> Result<Duration, BadGrpcTimeout> {
    let (unit, digits) = value.split_last().ok_or(BadGrpcTimeout)?;
    if !(1..=DIGITS_MAX).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return Err(BadGrpcTimeout);
    }
    let count = digits.iter().fold(0_u64, |count, digit| count * 10 + u64::from(digit - b'0'));
    Ok(match unit {
        b'H' => Duration::from_secs(count * 3600),
        b'M' => Duration::from_secs(count * 60),
        b'S' => Duration::from_secs(count),
        b'm' => Duration::from_millis(count),
        b'u' => Duration::from_micros(count),
        b'n' => Duration::from_nanos(count),
        _ => return Err(BadGrpcTimeout),
    })
}

const DIGITS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_digits_and_a_unit() {
        let check = |value: &str, expected| {
            assert_eq!(parse_grpc_timeout(value.as_bytes()), expected, "{value}");
        };
        check("1H", Ok(Duration::from_secs(3600)));
        check("2M", Ok(Duration::from_secs(120)));
        check("3S", Ok(Duration::from_secs(3)));
        check("100m", Ok(Duration::from_millis(100)));
        check("7u", Ok(Duration::from_micros(7)));
        check("99999999n", Ok(Duration::from_nanos(99_999_999)));
        check("99999999H", Ok(Duration::from_secs(99_999_999 * 3600)));
        check("0S", Ok(Duration::ZERO));
        for bad in
            ["", "S", "1", "1s", "123456789S", "-1S", "+1S", " 1S", "1 S", "1.5S", "0x1S", "1S,1S", "1Sm"]
        {
            check(bad, Err(BadGrpcTimeout));
        }
    }
}

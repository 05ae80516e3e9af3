//! Properties that must hold for any bytes: one function per fuzz target, also run on the corpus and by property tests.

mod chunked;
mod egress;
mod forwarding;
mod request_head;
mod response_head;

pub(crate) use chunked::chunked;
pub(crate) use egress::egress;
pub(crate) use forwarding::forwarding;
pub(crate) use request_head::request_head;
pub(crate) use response_head::response_head;

use eddy_http::{Fields, HeadFault, HeadLimits, HeadScanner};

/// Small limits, so that small inputs reach them.
const LIMITS: HeadLimits = HeadLimits { head_bytes_max: 512, fields_max: 8, target_bytes_max: 64 };

/// Scans at once, byte by byte and in unequal pieces: the results must agree. Returns the length of the head.
fn scan(scanner: &HeadScanner, data: &[u8], limits: &HeadLimits) -> Result<Option<usize>, HeadFault> {
    let whole = scanner.clone().scan(data, limits);
    for step in [1, 7, 64] {
        let mut pieces = scanner.clone();
        let mut found = Ok(None);
        let mut end = 0;
        while found == Ok(None) && end < data.len() {
            end = (end + step).min(data.len());
            found = pieces.scan(&data[..end], limits);
        }
        // With several faults, the pieces determine which is found first.
        match whole {
            Ok(_) => assert_eq!(found, whole, "cut every {step} bytes"),
            Err(_) => assert!(found.is_err(), "cut every {step} bytes"),
        }
    }
    if let Ok(Some(end)) = whole {
        assert!(end <= data.len() && data[..end].ends_with(b"\r\n\r\n"));
        assert!(end <= limits.head_bytes_max as usize);
    }
    whole
}

/// Compares fields with those of `httparse`.
fn compare_fields(ours: Fields<'_>, theirs: &[httparse::Header<'_>]) {
    assert_eq!(ours.len(), theirs.len());
    for (our, their) in ours.iter().zip(theirs) {
        assert_eq!(our.name, their.name.as_bytes());
        assert_eq!(our.value, their.value);
        assert!(our.name.iter().all(|byte| byte.is_ascii_graphic()));
        assert!(our.value.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f)));
    }
}

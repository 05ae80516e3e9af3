//! Computes when renewals and retries are due.

use eddy_tls::Validity;

/// Renewal window, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RenewalWindow {
    /// First second.
    pub(crate) start: u64,
    /// Second after the last one.
    pub(crate) end: u64,
}

/// Returns when a certificate is to be renewed, in seconds since 1970.
///
/// Without a window from the authority, the window is one thirtieth of the certificate's lifetime and begins when two
/// thirds have passed. `fraction` (of 65,536) selects the point in the window. It differs per certificate, so that many
/// renewals don't coincide, and is the same after a restart.
///
/// # Source
/// RFC 9773 §4.2 for windows from the authority. They are trusted within limits: a window that is open from the first
/// second would have every certificate replaced at once.
pub(crate) fn renewal(validity: Validity, told: Option<RenewalWindow>, fraction: u16, now: u64) -> u64 {
    let Validity { not_before, not_after } = validity;
    let life = not_after.saturating_sub(not_before);
    let window = match told {
        // The window has ended: the authority wants the certificate replaced now, as after a revocation.
        Some(window) if window.end <= now => return window.end,
        Some(window) => RenewalWindow { start: window.start.max(not_before + life / 3), ..window },
        None => {
            let start = not_before + life / 3 * 2;
            RenewalWindow { start, end: start + life / 30 }
        }
    };
    let width = window.end.saturating_sub(window.start);
    let point =
        window.start + width / 65_536 * u64::from(fraction) + width % 65_536 * u64::from(fraction) / 65_536;
    point.min(not_before + life / 10 * 9)
}

/// Returns the seconds to wait after this many consecutive failures.
pub(crate) fn pause(failures: u32) -> u64 {
    let step = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES_S.get(step).copied().unwrap_or(PAUSE_MAX_S)
}

/// Pauses grow from one minute: authorities count failures per hour.
const PAUSES_S: [u64; 3] = [60, 4 * 60, 15 * 60];
/// Maximum pause between two attempts.
pub(crate) const PAUSE_MAX_S: u64 = 3600;

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3600;
    const LIFE: Validity = Validity { not_before: 1_000_000, not_after: 1_000_000 + 90 * DAY };

    #[test]
    fn renewal_starts_with_a_third_of_the_lifetime_left() {
        let (first, last) = (renewal(LIFE, None, 0, 0), renewal(LIFE, None, u16::MAX, 0));
        assert_eq!(first, LIFE.not_before + 60 * DAY);
        assert!(last > first + 2 * DAY && last < first + 3 * DAY, "{last}");
        // A lifetime of seconds, as in tests of authorities.
        let short = Validity { not_before: 100, not_after: 112 };
        assert_eq!(renewal(short, None, u16::MAX, 0), 108);
    }

    #[test]
    fn the_authority_can_set_the_renewal_time() {
        let now = LIFE.not_before + 10 * DAY;
        let told = |start, end| {
            let window =
                RenewalWindow { start: LIFE.not_before + start * DAY, end: LIFE.not_before + end * DAY };
            let of =
                |fraction| (renewal(LIFE, Some(window), fraction, now) - LIFE.not_before) as f64 / DAY as f64;
            (of(0), of(32_768))
        };
        assert_eq!(told(50, 52), (50.0, 51.0));
        // The window has ended: renew now.
        assert!(told(4, 5).0 < 10.0);
        // The window is open from the beginning: not before a third of the lifetime.
        assert_eq!(told(0, 40), (30.0, 35.0));
        // The window begins after the certificate has expired: at nine tenths of the lifetime.
        assert_eq!(told(100, 120), (81.0, 81.0));
    }

    #[test]
    fn failures_back_off() {
        let pauses: Vec<u64> = (1..=6).map(pause).collect();
        assert_eq!(pauses, [60, 240, 900, 3600, 3600, 3600]);
        assert_eq!(pause(u32::MAX), PAUSE_MAX_S);
    }
}

//! When what is due: renewals within the life of a certificate, and attempts after those that failed.

use eddy_tls::Validity;

/// A span of time, seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RenewalWindow {
    /// Its first second.
    pub(crate) start: u64,
    /// The second behind its last.
    pub(crate) end: u64,
}

/// When a certificate is to be renewed, seconds since 1970.
///
/// Where the authority tells no window, it is the thirtieth of the certificate's life that begins when two thirds are over.
/// `fraction` (of 65,536) says where in the window; each certificate has its own, so that many don't come at once and that it
/// is the same after a restart.
///
/// # Source
/// RFC 9773 §4.2 for windows that the authority tells. It is asked to be believed only so far: a window that is open from the
/// first second would have every certificate replaced at once.
pub(crate) fn renewal(validity: Validity, told: Option<RenewalWindow>, fraction: u16, now: u64) -> u64 {
    let Validity { not_before, not_after } = validity;
    let life = not_after.saturating_sub(not_before);
    let window = match told {
        // It is over: the authority wants the certificate replaced now, as when it has revoked it.
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

/// How long to wait after so many failures in a row, seconds.
pub(crate) fn pause(failures: u32) -> u64 {
    let step = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES_S.get(step).copied().unwrap_or(PAUSE_MAX_S)
}

/// A minute, then longer and longer: authorities count failures by the hour.
const PAUSES_S: [u64; 3] = [60, 4 * 60, 15 * 60];
/// Longest pause between two attempts.
pub(crate) const PAUSE_MAX_S: u64 = 3600;

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3600;
    const LIFE: Validity = Validity { not_before: 1_000_000, not_after: 1_000_000 + 90 * DAY };

    #[test]
    fn a_third_of_the_life_is_left_for_renewal() {
        let (first, last) = (renewal(LIFE, None, 0, 0), renewal(LIFE, None, u16::MAX, 0));
        assert_eq!(first, LIFE.not_before + 60 * DAY);
        assert!(last > first + 2 * DAY && last < first + 3 * DAY, "{last}");
        // A life of seconds, as in tests of authorities.
        let short = Validity { not_before: 100, not_after: 112 };
        assert_eq!(renewal(short, None, u16::MAX, 0), 108);
    }

    #[test]
    fn the_authority_can_say_when() {
        let now = LIFE.not_before + 10 * DAY;
        let told = |start, end| {
            let window =
                RenewalWindow { start: LIFE.not_before + start * DAY, end: LIFE.not_before + end * DAY };
            let of =
                |fraction| (renewal(LIFE, Some(window), fraction, now) - LIFE.not_before) as f64 / DAY as f64;
            (of(0), of(32_768))
        };
        assert_eq!(told(50, 52), (50.0, 51.0));
        // Over: now.
        assert!(told(4, 5).0 < 10.0);
        // Open from the beginning: not before a third of the life.
        assert_eq!(told(0, 40), (30.0, 35.0));
        // Too late to be of use.
        assert_eq!(told(100, 120), (81.0, 81.0));
    }

    #[test]
    fn failures_make_attempts_rarer() {
        let pauses: Vec<u64> = (1..=6).map(pause).collect();
        assert_eq!(pauses, [60, 240, 900, 3600, 3600, 3600]);
        assert_eq!(pause(u32::MAX), PAUSE_MAX_S);
    }
}

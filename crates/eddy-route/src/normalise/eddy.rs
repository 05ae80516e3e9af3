//! Path normaliser of eddy's dialect: a canonical form of each path, and rejection of paths that servers interpret
//! differently.

/// Result of normalising a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normal {
    /// The path as sent is normal; nothing was written.
    AsIs,
    /// The normal path differs; it was written to the buffer.
    Changed,
}

/// Reason for rejecting a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFault {
    /// The path does not begin with `/`.
    NotAbsolute,
    /// A segment is `.` or `..`, plain or encoded, alone or before a `;`.
    DotSegment,
    /// `%2F`: some servers treat it as a slash, others as a plain byte.
    EncodedSlash,
    /// `%5C`: some servers treat it as a slash, others as a plain byte.
    EncodedBackslash,
    /// `%00`: some servers treat it as the end of the path.
    EncodedNul,
    /// A raw backslash.
    Backslash,
    /// A raw control byte or space.
    Control,
    /// A raw byte above 0x7e.
    NonAscii,
    /// A raw `?` or `#`, which cannot be part of a path.
    Delimiter,
    /// A `%` without two hexadecimal digits.
    BadEscape,
}

impl PathFault {
    /// Returns the fault as one word for access log entries.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotAbsolute => "path_not_absolute",
            Self::DotSegment => "path_dot_segment",
            Self::EncodedSlash => "path_encoded_slash",
            Self::EncodedBackslash => "path_encoded_backslash",
            Self::EncodedNul => "path_encoded_nul",
            Self::Backslash => "path_backslash",
            Self::Control => "path_control_byte",
            Self::NonAscii => "path_non_ascii_byte",
            Self::Delimiter => "path_delimiter",
            Self::BadEscape => "path_bad_escape",
        }
    }
}

/// Normalises a path: escapes of unreserved bytes are decoded, other escapes get upper-case digits.
///
/// An empty path becomes `/`; `*` (of `OPTIONS *`) is unchanged. Repeated `/`, `;parameters` and all other bytes are
/// unchanged as well. Idempotent: its output is normal.
///
/// `out` is cleared and written only if the result is `Changed`.
///
/// # Errors
///
/// The first fault from the left; the request must be answered 400.
///
/// # Cost
///
/// One pass; a second one and a copy if the path changes. Allocates only to grow `out`.
///
/// # Spec
///
/// RFC 3986 §6.2.2, <https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2>; it rejects more than the RFC.
pub fn eddy(path: &[u8], out: &mut Vec<u8>) -> Result<Normal, PathFault> {
    match check(path)? {
        Normal::AsIs => Ok(Normal::AsIs),
        Normal::Changed => {
            out.clear();
            write_normal(path, out);
            debug_assert_eq!(check(out), Ok(Normal::AsIs), "normalising twice changes nothing");
            Ok(Normal::Changed)
        }
    }
}

/// Returns whether a path is normal, without writing it.
///
/// # Errors
///
/// As [`eddy`].
pub fn check(path: &[u8]) -> Result<Normal, PathFault> {
    match path.first() {
        None => return Ok(Normal::Changed),
        Some(b'/') => {}
        Some(b'*') if path.len() == 1 => return Ok(Normal::AsIs),
        Some(_) => return Err(PathFault::NotAbsolute),
    }
    let mut normal = Normal::AsIs;
    let mut segment = SegmentState::Empty;
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if IS_PLAIN[usize::from(byte)] {
            segment = SegmentState::Other;
            continue;
        }
        if byte == b'%' {
            let (value, after, is_upper) = read_escape(tail)?;
            rest = after;
            if is_unreserved(value) {
                normal = Normal::Changed;
                segment = segment.then(value)?;
                continue;
            }
            refuse_escaped(value)?;
            if !is_upper {
                normal = Normal::Changed;
            }
            segment = SegmentState::Other;
            continue;
        }
        refuse_raw(byte)?;
        segment = segment.then(byte)?;
    }
    segment.then(b'/')?;
    Ok(normal)
}

/// Classification of the bytes of a segment so far.
#[derive(Clone, Copy)]
enum SegmentState {
    Empty,
    Dot,
    DotDot,
    Other,
}

impl SegmentState {
    fn then(self, byte: u8) -> Result<Self, PathFault> {
        match (byte, self) {
            (b'/' | b';', Self::Dot | Self::DotDot) => Err(PathFault::DotSegment),
            (b'/', Self::Empty | Self::Other) => Ok(Self::Empty),
            (b'.', Self::Empty) => Ok(Self::Dot),
            (b'.', Self::Dot) => Ok(Self::DotDot),
            _ => Ok(Self::Other),
        }
    }
}

/// Writes the normal form of a path that [`check`] has accepted.
fn write_normal(path: &[u8], out: &mut Vec<u8>) {
    if path.is_empty() {
        out.push(b'/');
    }
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        // Invariant: `check` found two digits after every `%`.
        let Ok((value, after, _)) = read_escape(tail) else { continue };
        rest = after;
        if is_unreserved(value) {
            out.push(value);
        } else {
            out.extend_from_slice(&[
                b'%',
                UPPER_HEX[usize::from(value >> 4)],
                UPPER_HEX[usize::from(value & 15)],
            ]);
        }
    }
}

/// Reads the two digits after a `%`: their value, the bytes after them, and whether no digit is a lower-case letter.
fn read_escape(after_percent: &[u8]) -> Result<(u8, &[u8], bool), PathFault> {
    let [high, low, rest @ ..] = after_percent else { return Err(PathFault::BadEscape) };
    let (Some(high_value), Some(low_value)) = (hex_value(*high), hex_value(*low)) else {
        return Err(PathFault::BadEscape);
    };
    let is_upper = !high.is_ascii_lowercase() && !low.is_ascii_lowercase();
    Ok((high_value << 4 | low_value, rest, is_upper))
}

fn refuse_escaped(value: u8) -> Result<(), PathFault> {
    match value {
        b'/' => Err(PathFault::EncodedSlash),
        b'\\' => Err(PathFault::EncodedBackslash),
        0 => Err(PathFault::EncodedNul),
        _ => Ok(()),
    }
}

fn refuse_raw(byte: u8) -> Result<(), PathFault> {
    match byte {
        b'\\' => Err(PathFault::Backslash),
        b'?' | b'#' => Err(PathFault::Delimiter),
        0..=b' ' | 0x7f => Err(PathFault::Control),
        0x80.. => Err(PathFault::NonAscii),
        _ => Ok(()),
    }
}

/// Returns the value of a hexadecimal digit in either letter case.
pub(crate) fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Bytes that are allowed anywhere in a path and that the normaliser does not change.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = 0x21_u8;
    while byte < 0x7f {
        is_plain[byte as usize] = !matches!(byte, b'/' | b'.' | b';' | b'%' | b'\\' | b'?' | b'#');
        byte += 1;
    }
    is_plain
};

//! Detection of the end of a head as its bytes arrive.

use super::request::parse_version;
use super::{HeadFault, HeadLimits};
use crate::field::LineFault;
use crate::method::METHOD_BYTES_MAX;
use crate::octet::{find_text_end, is_tchar};

/// Finds the end of a head as its bytes arrive.
///
/// Rejects invalid bytes as soon as they arrive, without waiting for the end: a first byte that cannot begin a head, a
/// bare CR or LF, NUL and other control bytes, folded lines, and exceeded limits.
///
/// # Cost
/// Linear in the bytes of a head, however they are split; no allocation.
#[derive(Clone, Debug)]
pub struct HeadScanner {
    kind: HeadKind,
    /// Number of bytes that were scanned.
    at: usize,
    /// Start of the current line.
    line_start: usize,
    /// Number of complete lines, including the first.
    lines: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadKind {
    Request,
    Response,
}

impl Default for HeadScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl HeadScanner {
    /// Creates a scanner for requests. It tolerates exactly one CR LF before the head (RFC 9112 §2.2).
    pub fn new() -> Self {
        Self { kind: HeadKind::Request, at: 0, line_start: 0, lines: 0 }
    }

    /// Creates a scanner for responses.
    pub fn for_responses() -> Self {
        Self { kind: HeadKind::Response, ..Self::new() }
    }

    /// Resets the scanner for the next head.
    pub fn reset(&mut self) {
        *self = Self { kind: self.kind, ..Self::new() };
    }

    /// Whether a head has begun; a CR LF before it does not count.
    pub fn started(&self) -> bool {
        self.at > self.line_start || self.lines > 0
    }

    /// Searches the end of the head in `bytes`, which must start at the beginning of the head and grow from call to
    /// call.
    ///
    /// Returns the length of the head, including its empty line and a CR LF before it.
    ///
    /// # Errors
    /// A [`HeadFault`]. Some faults are found only by the parser.
    pub fn scan(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<usize>, HeadFault> {
        if self.kind == HeadKind::Request && self.line_start == 0 && !self.skip_line_end(bytes)? {
            return Ok(None);
        }
        loop {
            self.check_start(bytes)?;
            let unscanned = bytes.get(self.at..).expect("the bytes of a head only grow");
            let (text, rest) = unscanned.split_at(find_text_end(unscanned));
            let end = self.at + text.len();
            match rest {
                [b'\r', b'\n', ..] => {}
                [] | [b'\r'] => {
                    self.at = end;
                    return self.check_unfinished(bytes, limits).map(|()| None);
                }
                _ => return Err(LineFault::of_control(rest).into()),
            }
            let is_empty = end == self.line_start;
            if self.lines == 0 {
                self.check_first_line(bytes, end, limits)?;
                self.check_version(bytes, end)?;
            } else if !is_empty && self.lines > u32::from(limits.fields_max) {
                return Err(HeadFault::TooManyFields);
            }
            self.at = end + 2;
            self.line_start = self.at;
            self.lines = self.lines.saturating_add(1);
            if self.at > limits.head_bytes_max as usize {
                return Err(HeadFault::HeadTooLarge);
            }
            if is_empty {
                return Ok(Some(self.at));
            }
        }
    }

    /// Skips the optional CR LF before a request; returns false if more bytes are needed to decide.
    fn skip_line_end(&mut self, bytes: &[u8]) -> Result<bool, HeadFault> {
        match bytes {
            [] | [b'\r'] => Ok(false),
            [b'\r', b'\n', ..] => {
                self.line_start = 2;
                self.at = 2;
                Ok(true)
            }
            [b'\r', ..] => Err(HeadFault::BareCr),
            [b'\n', ..] => Err(HeadFault::BareLf),
            _ => Ok(true),
        }
    }

    /// Checks the first byte of the current line, if it has arrived.
    fn check_start(&self, bytes: &[u8]) -> Result<(), HeadFault> {
        if self.lines == 0 && self.kind == HeadKind::Response {
            let is_start = bytes.iter().zip(RESPONSE_START).all(|(a, b)| a == b);
            return if is_start { Ok(()) } else { Err(HeadFault::BadStart) };
        }
        match bytes.get(self.line_start) {
            None => Ok(()),
            Some(&byte) if is_tchar(byte) => Ok(()),
            Some(_) if self.lines == 0 => Err(HeadFault::BadStart),
            Some(b' ' | b'\t') => Err(HeadFault::FieldFold),
            // The line end and control bytes are checked together with the byte that follows them.
            Some(&byte) if byte < b' ' => Ok(()),
            Some(_) => Err(HeadFault::BadFieldName),
        }
    }

    /// Checks a first line that is complete at `end`, or incomplete up to there.
    fn check_first_line(&self, bytes: &[u8], end: usize, limits: &HeadLimits) -> Result<(), HeadFault> {
        if self.kind == HeadKind::Response {
            return Ok(());
        }
        let line = bytes.get(self.line_start..end).expect("a line begins before its end");
        let method_len = line.iter().take(METHOD_BYTES_MAX + 1).take_while(|&&byte| is_tchar(byte)).count();
        if method_len > METHOD_BYTES_MAX {
            return Err(HeadFault::MethodTooLong);
        }
        if line.get(method_len).is_some_and(|&byte| byte != b' ') {
            return Err(HeadFault::BadMethod);
        }
        if line.len() > limits.target_bytes_max as usize + LINE_REST_BYTES_MAX {
            return Err(HeadFault::TargetTooLong);
        }
        Ok(())
    }

    /// Checks the version at the end of a request line.
    fn check_version(&self, bytes: &[u8], end: usize) -> Result<(), HeadFault> {
        if self.kind == HeadKind::Response {
            return Ok(());
        }
        let start = end.saturating_sub(VERSION_BYTES).max(self.line_start);
        match parse_version(bytes, start) {
            Ok(_) => Ok(()),
            Err(HeadFault::UnknownVersion) => Err(HeadFault::UnknownVersion),
            Err(_) => Err(HeadFault::BadVersion),
        }
    }

    /// Checks the limits that an incomplete head already exceeds.
    fn check_unfinished(&self, bytes: &[u8], limits: &HeadLimits) -> Result<(), HeadFault> {
        if self.lines == 0 {
            self.check_first_line(bytes, self.at, limits)?;
        } else if self.at > self.line_start && self.lines > u32::from(limits.fields_max) {
            return Err(HeadFault::TooManyFields);
        }
        // A head of exactly the limit would be complete; one byte more is too many.
        if bytes.len() > limits.head_bytes_max as usize { Err(HeadFault::HeadTooLarge) } else { Ok(()) }
    }
}

/// First bytes of every response.
const RESPONSE_START: &[u8] = b"HTTP/1.";

/// Maximum bytes of a request line without its target: method, version, two spaces.
const LINE_REST_BYTES_MAX: usize = METHOD_BYTES_MAX + VERSION_BYTES + 2;

/// Length of `HTTP/1.1`.
const VERSION_BYTES: usize = 8;

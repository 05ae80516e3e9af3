//! Where a head ends, found as its bytes arrive.

use super::request::parse_version;
use super::{HeadFault, HeadLimits};
use crate::field::LineFault;
use crate::method::METHOD_BYTES_MAX;
use crate::octet::{find_text_end, is_tchar};

/// Finds where a head ends as its bytes arrive.
///
/// Refuses what no head can hold as soon as it is there, without waiting for the end: a first byte that begins no
/// head, a bare CR or LF, NUL and other control bytes, folded lines, and all that is over a limit.
///
/// # Cost
/// Linear in the bytes of a head however they are cut; no allocation.
#[derive(Clone, Debug)]
pub struct HeadScanner {
    kind: HeadKind,
    /// Bytes that need no second look.
    at: usize,
    /// Where the current line begins.
    line_start: usize,
    /// Lines ended so far, the first one counted.
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
    /// A scanner for requests. It tolerates exactly one CR LF before the head (RFC 9112 §2.2).
    pub fn new() -> Self {
        Self { kind: HeadKind::Request, at: 0, line_start: 0, lines: 0 }
    }

    /// A scanner for responses.
    pub fn for_responses() -> Self {
        Self { kind: HeadKind::Response, ..Self::new() }
    }

    /// Makes ready for the next head.
    pub fn reset(&mut self) {
        *self = Self { kind: self.kind, ..Self::new() };
    }

    /// Whether a head has begun; a CR LF before it does not count.
    pub fn started(&self) -> bool {
        self.at > self.line_start || self.lines > 0
    }

    /// Looks for the end of the head in `bytes`, which begin where the head does and grow from call to call.
    ///
    /// Answers with the length of the head, up to and including its empty line and with a CR LF before it.
    ///
    /// # Errors
    /// A [`HeadFault`]. Not all faults are found here: the parser has the last word.
    pub fn scan(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<usize>, HeadFault> {
        if self.kind == HeadKind::Request && self.line_start == 0 && !self.skip_line_end(bytes)? {
            return Ok(None);
        }
        loop {
            self.check_start(bytes)?;
            let end = self.at + find_text_end(bytes.get(self.at..).unwrap_or_default());
            let rest = bytes.get(end..).unwrap_or_default();
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

    /// Steps over the one CR LF that may stand before a request; false if more bytes must tell.
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

    /// Checks the first byte of the current line, if it is there.
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
            // The line end and control bytes are judged with what follows them.
            Some(&byte) if byte < b' ' => Ok(()),
            Some(_) => Err(HeadFault::BadFieldName),
        }
    }

    /// Checks a first line that ends at `end`, or goes on there.
    fn check_first_line(&self, bytes: &[u8], end: usize, limits: &HeadLimits) -> Result<(), HeadFault> {
        if self.kind == HeadKind::Response {
            return Ok(());
        }
        let line = bytes.get(self.line_start..end).unwrap_or_default();
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

    /// Checks the version that a request line ends with.
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

    /// Checks the limits that an unfinished head is already over.
    fn check_unfinished(&self, bytes: &[u8], limits: &HeadLimits) -> Result<(), HeadFault> {
        if self.lines == 0 {
            self.check_first_line(bytes, self.at, limits)?;
        } else if self.at > self.line_start && self.lines > u32::from(limits.fields_max) {
            return Err(HeadFault::TooManyFields);
        }
        // A head of exactly the limit ends with it; one byte more is too many.
        if bytes.len() > limits.head_bytes_max as usize { Err(HeadFault::HeadTooLarge) } else { Ok(()) }
    }
}

/// What a response begins with.
const RESPONSE_START: &[u8] = b"HTTP/1.";

/// Most bytes of a request line beside its target: method, version, two spaces.
const LINE_REST_BYTES_MAX: usize = METHOD_BYTES_MAX + VERSION_BYTES + 2;

/// Bytes of `HTTP/1.1`.
const VERSION_BYTES: usize = 8;

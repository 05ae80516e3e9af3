//! Field lines: from bytes to places, strictly.

use super::id::{check_unknown, classify};
use super::{Field, FieldId};
use crate::octet::{find_name_end, find_text_end, is_text};
use crate::span::Span;

/// Why a field line is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// The bytes end before the empty line does.
    Truncated,
    /// A line begins with white space: a folded value, or a field before the first.
    Fold,
    /// No name, no colon after it, or a byte in it that is no token's.
    Name,
    /// A CR that no LF follows.
    BareCr,
    /// An LF that no CR precedes.
    BareLf,
    /// Another control byte.
    Control,
    /// More fields than the limit.
    TooMany,
}

impl LineFault {
    /// What is wrong with the control byte, or the end, at `at`.
    #[cold]
    pub(crate) fn of_control(bytes: &[u8], at: usize) -> Self {
        match bytes.get(at..).unwrap_or_default() {
            [] | [b'\r'] => Self::Truncated,
            // A line that ends before its colon.
            [b'\r', b'\n', ..] => Self::Name,
            [b'\r', ..] => Self::BareCr,
            [b'\n', ..] => Self::BareLf,
            _ => Self::Control,
        }
    }
}

/// Which ids a section holds, and which of them more than once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    once: u64,
    twice: u64,
}

impl Seen {
    #[inline]
    fn note(&mut self, id: FieldId) {
        let bit = id.bit();
        self.twice |= self.once & bit;
        self.once |= bit;
    }

    /// Whether the field is there. Only for ids among the first 64.
    #[inline]
    pub(crate) fn has(self, id: FieldId) -> bool {
        debug_assert!(id.bit() != 0, "only the first ids are noted");
        self.once & id.bit() != 0
    }

    /// Whether the field is there more than once. Only for ids among the first 64.
    #[inline]
    pub(crate) fn has_repeated(self, id: FieldId) -> bool {
        debug_assert!(id.bit() != 0, "only the first ids are noted");
        self.twice & id.bit() != 0
    }
}

/// Reads field lines from `at` up to and including the empty line; adds them to `fields`.
///
/// Answers with what was seen and the index after the empty line.
///
/// # Spec
/// [RFC 9112 §5](https://www.rfc-editor.org/rfc/rfc9112#section-5); no folding (§5.2), no white space before the colon
/// (§5.1), no line end but CR LF (§2.2).
pub(crate) fn parse_lines(
    bytes: &[u8],
    at: usize,
    fields: &mut Vec<Field>,
    fields_max: usize,
) -> Result<(Seen, usize), LineFault> {
    let mut at = at;
    let mut seen = Seen::default();
    while !is_line_end(bytes, at) {
        if fields.len() >= fields_max {
            // What may still become the empty line is not one too many.
            let is_cut = matches!(bytes.get(at..).unwrap_or_default(), [] | [b'\r']);
            return Err(if is_cut { LineFault::Truncated } else { LineFault::TooMany });
        }
        let name_end = find_name_end(bytes, at);
        if bytes.get(name_end) != Some(&b':') {
            return Err(name_fault(bytes, at, name_end));
        }
        let mut id = classify(bytes, at, name_end - at);
        if id == FieldId::Other {
            id = check_unknown(bytes.get(at..name_end).unwrap_or_default()).ok_or(LineFault::Name)?;
        }
        let value = skip_space(bytes, name_end + 1);
        let line_end = find_text_end(bytes, value);
        if !is_line_end(bytes, line_end) {
            return Err(LineFault::of_control(bytes, line_end));
        }
        seen.note(id);
        fields.push(Field {
            name: Span::new(at, name_end),
            value: Span::new(value, trim_space(bytes, value, line_end)),
            id,
            is_nominated: false,
        });
        at = line_end + 2;
    }
    Ok((seen, at + 2))
}

/// Whether CR LF stands at `at`.
#[inline]
pub(crate) fn is_line_end(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).and_then(<[u8]>::first_chunk) == Some(b"\r\n")
}

#[inline]
fn skip_space(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(b' ' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The end of what lies from `start` to `end` without the white space after it.
#[inline]
fn trim_space(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut end = end;
    while end > start && matches!(bytes.get(end - 1), Some(b' ' | b'\t')) {
        end -= 1;
    }
    end
}

#[cold]
fn name_fault(bytes: &[u8], at: usize, end: usize) -> LineFault {
    match bytes.get(end) {
        Some(b' ' | b'\t') if end == at => LineFault::Fold,
        Some(&byte) if !is_text(byte) => LineFault::of_control(bytes, end),
        Some(_) => LineFault::Name,
        None => LineFault::Truncated,
    }
}

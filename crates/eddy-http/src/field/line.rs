//! Strict parser of field lines.

use super::id::{check_unknown, classify};
use super::{Field, FieldId};
use crate::octet::{find_name_end, find_text_end, is_text};
use crate::span::Span;

/// Reason for rejecting a field line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// The bytes end before the empty line is complete.
    Truncated,
    /// A line that begins with white space: a folded value, or a line before the first field.
    Fold,
    /// No name, no colon after it, or a byte in it that is not allowed in tokens.
    Name,
    /// A CR without LF.
    BareCr,
    /// An LF without CR.
    BareLf,
    /// Another control byte.
    Control,
    /// More fields than the limit.
    TooMany,
}

impl LineFault {
    /// Classifies the control byte, or the end of input, at the beginning of `rest`.
    #[cold]
    pub(crate) fn of_control(rest: &[u8]) -> Self {
        match rest {
            [] | [b'\r'] => Self::Truncated,
            // The line ends before its colon.
            [b'\r', b'\n', ..] => Self::Name,
            [b'\r', ..] => Self::BareCr,
            [b'\n', ..] => Self::BareLf,
            _ => Self::Control,
        }
    }
}

/// IDs of the fields in a section, and which of them are repeated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenFieldIds {
    once: u64,
    twice: u64,
}

impl SeenFieldIds {
    #[inline]
    fn note(&mut self, id: FieldId) {
        let bit = id.bit();
        self.twice |= self.once & bit;
        self.once |= bit;
    }

    /// Whether the field is present. Only for the first 64 IDs.
    #[inline]
    pub(crate) fn has(self, id: FieldId) -> bool {
        debug_assert!(id.bit() != 0, "only the first ids are noted");
        self.once & id.bit() != 0
    }

    /// Whether the field is present more than once. Only for the first 64 IDs.
    #[inline]
    pub(crate) fn has_repeated(self, id: FieldId) -> bool {
        debug_assert!(id.bit() != 0, "only the first ids are noted");
        self.twice & id.bit() != 0
    }
}

/// Parses field lines from `at` up to and including the empty line; appends them to `fields`.
///
/// Returns the IDs seen and the index after the empty line.
///
/// # Spec
/// [RFC 9112 §5](https://www.rfc-editor.org/rfc/rfc9112#section-5); no folding (§5.2), no white space before the colon
/// (§5.1), CR LF as the only line end (§2.2).
pub(crate) fn parse_lines(
    bytes: &[u8],
    at: usize,
    fields: &mut Vec<Field>,
    fields_max: usize,
) -> Result<(SeenFieldIds, usize), LineFault> {
    let mut rest = bytes.split_at(at).1;
    let mut seen = SeenFieldIds::default();
    loop {
        let start = bytes.len() - rest.len();
        if rest.first_chunk() == Some(LINE_END) {
            return Ok((seen, start + LINE_END.len()));
        }
        if fields.len() >= fields_max {
            // A possible beginning of the empty line does not count as another field.
            return Err(if matches!(rest, [] | [b'\r']) { LineFault::Truncated } else { LineFault::TooMany });
        }
        let name_len = find_name_end(rest);
        let Some((name, [b':', after @ ..])) = rest.split_at_checked(name_len) else {
            return Err(name_fault(rest, name_len));
        };
        let mut id = classify(rest, name_len);
        if id == FieldId::Other {
            id = check_unknown(name).ok_or(LineFault::Name)?;
        }
        let line = skip_space(after);
        let value_start = bytes.len() - line.len();
        let (text, end) = line.split_at(find_text_end(line));
        rest = end.strip_prefix(LINE_END).ok_or_else(|| LineFault::of_control(end))?;
        seen.note(id);
        fields.push(Field {
            name: Span::new(start, start + name_len),
            value: Span::new(value_start, value_start + trimmed_len(text)),
            id,
            is_nominated: false,
            is_own: false,
        });
    }
}

/// Whether there is a CR LF at `at`.
#[inline]
pub(crate) fn is_line_end(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).and_then(<[u8]>::first_chunk) == Some(LINE_END)
}

#[inline]
fn skip_space(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [b' ' | b'\t', after @ ..] = rest {
        rest = after;
    }
    rest
}

/// Returns the length without trailing white space.
#[inline]
fn trimmed_len(text: &[u8]) -> usize {
    let mut rest = text;
    while let [before @ .., b' ' | b'\t'] = rest {
        rest = before;
    }
    rest.len()
}

/// Classifies a line whose name ends at `end` without a colon.
#[cold]
fn name_fault(line: &[u8], end: usize) -> LineFault {
    match line.get(end) {
        Some(b' ' | b'\t') if end == 0 => LineFault::Fold,
        Some(&byte) if !is_text(byte) => LineFault::of_control(line.split_at(end).1),
        Some(_) => LineFault::Name,
        None => LineFault::Truncated,
    }
}

const LINE_END: &[u8; 2] = b"\r\n";

//! Writer of field lines.

use crate::field::Field;

/// Writes one field line.
pub(super) fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(LINE_END);
}

/// Writes a field line whose value is a number.
pub(super) fn write_number_field(out: &mut Vec<u8>, name: &[u8], value: u64) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    write_number(out, value);
    out.extend_from_slice(LINE_END);
}

/// Writes a number in decimal digits.
pub(super) fn write_number(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0; 20];
    let mut rest = value;
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        start -= 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.split_at(start).1);
}

/// Copies the field lines that are kept, in their order.
///
/// Lines in the form `name: value` are copied unchanged, adjacent ones at once; others are converted to that form, so
/// that unusual white space is not forwarded.
pub(super) fn copy_fields(
    out: &mut Vec<u8>,
    bytes: &[u8],
    fields: &[Field],
    mut is_kept: impl FnMut(&Field) -> bool,
) {
    // The pending part to copy; it lacks its last line end.
    let mut piece = 0..0;
    for field in fields {
        if !is_kept(field) {
            continue;
        }
        let (start, end) = (field.name.start as usize, field.value.end as usize);
        let colon = field.name.end as usize;
        let is_plain = field.value.start as usize == colon + 2 && bytes.get(colon + 1) == Some(&b' ');
        if is_plain && !piece.is_empty() && piece.end + 2 == start {
            piece.end = end;
            continue;
        }
        copy_piece(out, bytes, &piece);
        piece = 0..0;
        if is_plain {
            piece = start..end;
        } else {
            write_field(out, field.name.of(bytes), field.value.of(bytes));
        }
    }
    copy_piece(out, bytes, &piece);
}

fn copy_piece(out: &mut Vec<u8>, bytes: &[u8], piece: &std::ops::Range<usize>) {
    if let Some(lines) = bytes.get(piece.clone()).filter(|lines| !lines.is_empty()) {
        out.extend_from_slice(lines);
        out.extend_from_slice(LINE_END);
    }
}

pub(super) const LINE_END: &[u8] = b"\r\n";

//! Fields into their compressed form.
//!
//! Nothing is ever remembered on our side, so there is no table to keep, and nothing that one answer tells of another.

use super::{huffman, integer, names};

/// Writes the status of an answer; `is_first` in the first block of a connection, which says that there is no table.
pub(in super::super) fn encode_status(out: &mut Vec<u8>, status: u16, is_first: bool) {
    if is_first {
        out.push(0x20);
    }
    let index = match status {
        200 => 8,
        204 => 9,
        206 => 10,
        304 => 11,
        400 => 12,
        404 => 13,
        500 => 14,
        _ => {
            integer::write(out, 0, 4, 8);
            write_text(out, status.to_string().as_bytes());
            return;
        }
    };
    integer::write(out, 0x80, 7, index);
}

/// Writes a field; its name is in lower case.
pub(in super::super) fn encode_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    // What a cookie says is for nobody's table on the way.
    let first = if name == b"set-cookie" { 0x10 } else { 0 };
    match names::index(name) {
        Some(index) => integer::write(out, first, 4, index),
        None => {
            out.push(first);
            write_text(out, name);
        }
    }
    write_text(out, value);
}

fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    let coded = huffman::length(text);
    if coded < text.len() {
        integer::write(out, 0x80, 7, coded);
        huffman::encode(out, text);
    } else {
        integer::write(out, 0, 7, text.len());
        out.extend_from_slice(text);
    }
}

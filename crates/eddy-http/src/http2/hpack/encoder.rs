//! HPACK encoder.
//!
//! The dynamic table is never used, so there is no table to maintain, and compression leaks nothing from one response
//! to another.

use super::{huffman, integer, names};

/// Writes the status of a response; the first block of a connection (`is_first`) also sets the dynamic table size to
/// zero.
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

/// Pseudo-header fields of a request.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PseudoHeaders<'a> {
    pub(in super::super) method: &'a [u8],
    pub(in super::super) scheme: &'static str,
    /// Empty if the request has no host.
    pub(in super::super) authority: &'a [u8],
    pub(in super::super) path: &'a [u8],
    /// Protocol of an extended `CONNECT`; empty otherwise.
    pub(in super::super) protocol: &'a [u8],
}

/// Writes the pseudo-header fields of a request; `is_first` as with [`encode_status`].
pub(in super::super) fn encode_pseudo_headers(out: &mut Vec<u8>, asked: &PseudoHeaders<'_>, is_first: bool) {
    if is_first {
        out.push(0x20);
    }
    match asked.method {
        b"GET" => integer::write(out, 0x80, 7, 2),
        b"POST" => integer::write(out, 0x80, 7, 3),
        other => write_known(out, 2, other),
    }
    integer::write(out, 0x80, 7, if asked.scheme == "https" { 7 } else { 6 });
    if !asked.authority.is_empty() {
        write_known(out, 1, asked.authority);
    }
    match asked.path {
        b"/" => integer::write(out, 0x80, 7, 4),
        other => write_known(out, 4, other),
    }
    if !asked.protocol.is_empty() {
        out.push(0);
        write_text(out, b":protocol");
        write_text(out, asked.protocol);
    }
}

/// Writes a field whose name has this index in the static table.
fn write_known(out: &mut Vec<u8>, index: usize, value: &[u8]) {
    integer::write(out, 0, 4, index);
    write_text(out, value);
}

/// Writes a field; its name must be in lower case.
pub(in super::super) fn encode_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    // Credentials must not enter the dynamic table of an intermediary.
    let is_secret = matches!(name, b"set-cookie" | b"cookie" | b"authorization" | b"proxy-authorization");
    let first = if is_secret { 0x10 } else { 0 };
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

//! Writes messages with known fields, without a schema.

use super::types::{FIXED64, LENGTH, VARINT};
use super::write::{close_length, open_length, write_bytes, write_tag, write_varint};

/// Writes the fields of a message at the end of a buffer.
///
/// As in proto3, a number that is 0 and an empty string are left out. The caller is responsible for the types that
/// the message declares, and for UTF-8 in a `string`.
///
/// # Cost
/// No allocation except for the growth of the buffer. A nested message of 128 bytes or more is moved once.
#[derive(Debug)]
pub struct FieldWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> FieldWriter<'a> {
    /// Creates a writer that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Writes a varint field: a non-negative integer, a `bool`, an enum.
    pub fn varint(&mut self, number: u32, value: u64) {
        if value != 0 {
            write_tag(self.out, number, VARINT);
            write_varint(self.out, value);
        }
    }

    /// Writes a `double` field.
    pub fn double(&mut self, number: u32, value: f64) {
        if value != 0.0 {
            write_tag(self.out, number, FIXED64);
            self.out.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Writes a `string` or `bytes` field.
    pub fn bytes(&mut self, number: u32, value: &[u8]) {
        if !value.is_empty() {
            write_tag(self.out, number, LENGTH);
            write_bytes(self.out, value);
        }
    }

    /// Writes a message, even if it has no fields; `fields` writes its fields.
    pub fn message(&mut self, number: u32, fields: impl FnOnce(&mut FieldWriter<'_>)) {
        write_tag(self.out, number, LENGTH);
        let start = open_length(self.out);
        fields(&mut FieldWriter { out: &mut *self.out });
        close_length(self.out, start);
    }
}

#[cfg(test)]
mod tests {
    use super::FieldWriter;

    #[test]
    fn nested_lengths_are_correct() {
        for length in [0, 1, 125, 126, 127, 128, 16_380, 16_384, 70_000] {
            let text = vec![b'a'; length];
            let mut out = b"before".to_vec();
            let mut fields = FieldWriter::new(&mut out);
            fields.message(3, |inner| inner.message(1, |inner| inner.bytes(2, &text)));
            fields.varint(300, 1);
            let mut rest = out.strip_prefix(b"before").unwrap();
            for tag in [0x1a, 0x0a, 0x12] {
                if tag == 0x12 && length == 0 {
                    continue;
                }
                assert_eq!(rest.first(), Some(&tag), "{length}");
                let (measured, behind) = varint(&rest[1..]);
                assert_eq!(measured, behind.len() - 3, "{length}");
                rest = behind;
            }
            assert_eq!(rest.len(), length + 3);
            assert_eq!(&rest[length..], [0xe0, 0x12, 1]);
        }
    }

    #[test]
    fn default_values_are_omitted() {
        let mut out = Vec::new();
        let mut fields = FieldWriter::new(&mut out);
        fields.varint(1, 0);
        fields.double(2, 0.0);
        fields.bytes(3, b"");
        fields.message(4, |_| {});
        fields.double(5, 1.0);
        assert_eq!(out, [0x22, 0, 0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }

    fn varint(bytes: &[u8]) -> (usize, &[u8]) {
        let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let value = bytes[..end].iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7f));
        (value, &bytes[end..])
    }
}

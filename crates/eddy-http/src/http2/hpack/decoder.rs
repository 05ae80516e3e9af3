//! HPACK decoder.

use std::ops::ControlFlow;

use super::huffman;
use super::integer::{self, Unreadable};
use super::table::HpackDynamicTable;

/// Maximum size of the dynamic table, bytes: the default of the protocol.
const TABLE_BYTES_MAX: usize = 4096;
/// Capacity above which memory is freed after a block.
const KEPT_BYTES_MAX: usize = 8 * 1024;

/// Decodes field blocks, one after the other.
#[derive(Debug)]
pub(in super::super) struct Decoder {
    table: HpackDynamicTable,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    pub(in super::super) fn new() -> Self {
        Self { table: HpackDynamicTable::new(TABLE_BYTES_MAX), name: Vec::new(), value: Vec::new() }
    }

    /// Decodes a whole block and passes each field to `each`, until that returns `Break`.
    ///
    /// # Errors
    /// The connection must end: the dynamic tables of both sides may differ.
    ///
    /// # Cost
    /// Allocates for each field that the sender adds to the dynamic table.
    pub(in super::super) fn decode(
        &mut self,
        block: &[u8],
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let mut rest = block;
        let mut has_fields = false;
        while let Some(first) = rest.first() {
            if first & 0xe0 == 0x20 {
                let (bytes_max, after) = integer::read(rest, 5)?;
                if has_fields || bytes_max > TABLE_BYTES_MAX {
                    return Err(Unreadable);
                }
                self.table.resize(bytes_max);
                rest = after;
                continue;
            }
            has_fields = true;
            if first & 0x80 != 0 {
                let (index, after) = integer::read(rest, 7)?;
                let (name, value) = self.table.get(index).ok_or(Unreadable)?;
                if each(name, value).is_break() {
                    return Err(Unreadable);
                }
                rest = after;
                continue;
            }
            let is_remembered = first & 0x40 != 0;
            let (index, after) = integer::read(rest, if is_remembered { 6 } else { 4 })?;
            self.name.clear();
            self.value.clear();
            rest = if index == 0 {
                read_text(&mut self.name, after)?
            } else {
                let (name, _) = self.table.get(index).ok_or(Unreadable)?;
                self.name.extend_from_slice(name);
                after
            };
            rest = read_text(&mut self.value, rest)?;
            if each(&self.name, &self.value).is_break() {
                return Err(Unreadable);
            }
            if is_remembered {
                self.table.insert(&self.name, &self.value);
            }
        }
        self.name.shrink_to(KEPT_BYTES_MAX);
        self.value.shrink_to(KEPT_BYTES_MAX);
        Ok(())
    }
}

/// Decodes a string literal; returns the bytes after it.
fn read_text<'b>(out: &mut Vec<u8>, bytes: &'b [u8]) -> Result<&'b [u8], Unreadable> {
    let is_coded = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let (length, rest) = integer::read(bytes, 7)?;
    let (text, rest) = rest.split_at_checked(length).ok_or(Unreadable)?;
    if is_coded {
        huffman::decode(out, text)?;
    } else {
        out.extend_from_slice(text);
    }
    Ok(rest)
}

//! A list of header fields in memory that the next exchange uses again.

use eddy_io::{Reusable, Reuse};

/// Names and values of header fields, one behind the other in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct FieldList {
    text: Vec<u8>,
    /// End of each name and of its value in `text`.
    ends: Vec<(usize, usize)>,
}

impl FieldList {
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let name_end = self.text.len();
        self.text.extend_from_slice(value);
        self.ends.push((name_end, self.text.len()));
    }

    /// Returns the fields in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = self.text.as_slice();
        let mut start = 0;
        self.ends.iter().map(move |(name_end, end)| {
            let (field, behind) = rest.split_at(end - start);
            let parts = field.split_at(name_end - start);
            (rest, start) = (behind, *end);
            parts
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the length of all names and values.
    pub(crate) fn text_bytes(&self) -> usize {
        self.text.len()
    }
}

impl Reusable for FieldList {
    fn empty(&mut self) -> Reuse {
        self.ends.clear();
        self.text.empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_returned_as_added() {
        let mut list = FieldList::default();
        let fields: [(&[u8], &[u8]); 4] = [(b"a", b"1"), (b"", b""), (b"long-name", b""), (b"b", b"two")];
        for fields in [&fields[..], &fields[2..]] {
            list.reset();
            assert!(list.is_empty());
            fields.iter().for_each(|(name, value)| list.add(name, value));
            assert!(list.iter().eq(fields.iter().copied()));
            let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
            assert_eq!((list.len(), list.text_bytes()), (fields.len(), bytes));
        }
    }
}

//! Types whose layout in Go's memory equals that in messages, so that they need no conversion.

use crate::declaration::{Declaration, FieldDeclaration, Measures, RecordDeclaration};
use crate::types::{MemoryOwner, Scalar, Type};

/// Memory layout of a declaration's types in Go.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'d>(pub(crate) &'d Declaration);

/// A word of a message that is not a plain 64-bit number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordLayout {
    /// A number of this many bytes; the higher bytes are ignored.
    Narrow(usize),
    /// With the next word, a list whose elements have this many bytes.
    Numbers(usize),
    /// With the next word, a list of strings.
    Texts,
}

impl Layout<'_> {
    /// Whether the Go value has the layout of a message. Structs do with the padding of [`Layout::padding`].
    pub(crate) fn fits(&self, of: &Type) -> bool {
        match of {
            Type::Bool | Type::Scalar(_) | Type::Str { .. } => true,
            // Go slices have a third word.
            Type::List { of, owner } => *owner == MemoryOwner::Caller && matches!(**of, Type::Scalar(_)),
            Type::Option(value) => self.fits(value),
            Type::Record(_) => self.record(of).is_some_and(|record| self.fits_record(record)),
            Type::Unit | Type::Map { .. } | Type::Result(..) => false,
        }
    }

    /// Whether all fields of a struct have the layout of a message.
    pub(crate) fn fits_record(&self, record: &RecordDeclaration) -> bool {
        record.fields.iter().all(|field| self.fits(&field.of))
    }

    /// Returns the number of padding bytes after a field, so that the next one begins at a word.
    pub(crate) fn padding(&self, fields: &[FieldDeclaration], index: usize) -> usize {
        match (bytes(&fields[index].of), fields.get(index + 1)) {
            (8, _) => 0,
            (_, Some(next)) if self.is_wide(&next.of) => 0,
            (bytes, _) => 8 - bytes,
        }
    }

    /// Whether Go itself aligns the type to eight bytes.
    fn is_wide(&self, of: &Type) -> bool {
        match self.record(of) {
            Some(record) => record.fields.iter().any(|field| self.is_wide(&field.of)),
            None => bytes(of) == 8,
        }
    }

    fn record(&self, of: &Type) -> Option<&RecordDeclaration> {
        let Type::Record(name) = of else { return None };
        self.0.records.iter().find(|record| record.name == *name)
    }

    /// Returns the words of a value at `at` that are not plain 64-bit numbers.
    pub(crate) fn parts(&self, of: &Type, at: usize, measures: &Measures) -> Vec<(usize, WordLayout)> {
        match of {
            Type::Bool | Type::Scalar(_) if bytes(of) < 8 => vec![(at, WordLayout::Narrow(bytes(of)))],
            Type::Str { .. } => vec![(at, WordLayout::Numbers(1))],
            Type::List { of, .. } => match &**of {
                Type::Scalar(_) => vec![(at, WordLayout::Numbers(bytes(of)))],
                _ => vec![(at, WordLayout::Texts)],
            },
            Type::Option(value) => self.parts(value, at + 1, measures),
            Type::Record(_) => {
                let mut parts = Vec::new();
                let mut at = at;
                for field in self.record(of).map_or(&[][..], |record| &record.fields) {
                    parts.extend(self.parts(&field.of, at, measures));
                    at += measures.words(&field.of);
                }
                parts
            }
            Type::Unit | Type::Bool | Type::Scalar(_) | Type::Map { .. } | Type::Result(..) => Vec::new(),
        }
    }
}

/// Returns the size of a number or bool in bytes; eight for types that begin with a word.
pub(crate) fn bytes(of: &Type) -> usize {
    match of {
        Type::Bool => 1,
        Type::Scalar(Scalar { rust, .. }) => match rust.trim_start_matches(['u', 'i', 'f']) {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            _ => 8,
        },
        _ => 8,
    }
}

//! Which types lie in Go's memory as they do in messages, so that nobody has to take them apart.

use crate::declaration::{Declaration, FieldDeclaration, Measures, RecordDeclaration};
use crate::types::{MemoryOwner, Scalar, Type};

/// How the types of a declaration lie in Go's memory.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'d>(pub(crate) &'d Declaration);

/// A word of a message that is more than a number of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordLayout {
    /// A number of so many bytes; those above them mean nothing.
    Narrow(usize),
    /// A list, with the next word, whose elements have so many bytes.
    Numbers(usize),
    /// A list, with the next word, of texts.
    Texts,
}

impl Layout<'_> {
    /// Whether a value of Go is a record of a message. Structs are, with the padding that [`Layout::padding`] tells.
    pub(crate) fn fits(&self, of: &Type) -> bool {
        match of {
            Type::Bool | Type::Scalar(_) | Type::Str { .. } => true,
            // Slices of Go have a third word.
            Type::List { of, owner } => *owner == MemoryOwner::Caller && matches!(**of, Type::Scalar(_)),
            Type::Option(value) => self.fits(value),
            Type::Record(_) => self.record(of).is_some_and(|record| self.fits_record(record)),
            Type::Unit | Type::Map { .. } | Type::Result(..) => false,
        }
    }

    /// Whether all fields of a struct fit.
    pub(crate) fn fits_record(&self, record: &RecordDeclaration) -> bool {
        record.fields.iter().all(|field| self.fits(&field.of))
    }

    /// How many bytes a struct needs behind one of its fields, so that the next begins with a word.
    pub(crate) fn padding(&self, fields: &[FieldDeclaration], index: usize) -> usize {
        match (bytes(&fields[index].of), fields.get(index + 1)) {
            (8, _) => 0,
            (_, Some(next)) if self.is_wide(&next.of) => 0,
            (bytes, _) => 8 - bytes,
        }
    }

    /// Whether Go itself puts it at a multiple of eight.
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

    /// What is more than a number of 64 bits in a value that begins with a word.
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

/// Bytes of a number or a bool; eight for what begins with a word.
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

//! Edits of a message: dropped fields, masked values, and the enclosing lengths that change with them.

use crate::wire::{varint_len, write_varint};

/// Edit of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEdit {
    /// The field is removed.
    Drop,
    /// The value is replaced.
    Mask(Mask),
}

/// Replacement of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// By a value of the same length: each byte of a string by `*`, of bytes by 0, a number by 0.
    SameLength,
    /// A string or bytes by this text.
    Text(String),
}

/// A range of the input and its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteReplacement {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) to: To,
}

/// Replacement of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Nothing,
    /// A length.
    Length(u64),
    Stars,
    Zeros,
    /// Varints of the same number of bytes with value 0.
    ZeroVarints,
    /// A text of the program, preceded by its length.
    Text(u16),
}

impl To {
    /// Whether the replacement has the length of the original.
    pub(super) fn is_same_length(self) -> bool {
        matches!(self, Self::Stars | Self::Zeros | Self::ZeroVarints)
    }

    /// Replaces bytes in place.
    pub(super) fn mask(self, bytes: &mut [u8]) {
        match self {
            Self::Stars => bytes.fill(b'*'),
            Self::Zeros => bytes.fill(0),
            // The continuation bits stay, so that there are as many varints of the same lengths.
            Self::ZeroVarints => bytes.iter_mut().for_each(|byte| *byte &= 0x80),
            Self::Nothing | Self::Length(_) | Self::Text(_) => {}
        }
    }
}

/// Returns the length of a text including its length prefix.
pub(super) fn text_len(text: &[u8]) -> usize {
    varint_len(text.len() as u64) + text.len()
}

/// Appends `message` with its changes, which are sorted and do not overlap.
pub(super) fn apply(message: &[u8], changes: &[ByteReplacement], texts: &[Box<[u8]>], out: &mut Vec<u8>) {
    let mut at = 0;
    for change in changes {
        out.extend_from_slice(&message[at..change.start]);
        match change.to {
            To::Nothing => {}
            To::Length(length) => write_varint(out, length),
            To::Text(text) => {
                let text = &texts[usize::from(text)];
                write_varint(out, text.len() as u64);
                out.extend_from_slice(text);
            }
            to => {
                let start = out.len();
                out.extend_from_slice(&message[change.start..change.end]);
                to.mask(&mut out[start..]);
            }
        }
        at = change.end;
    }
    out.extend_from_slice(&message[at..]);
}

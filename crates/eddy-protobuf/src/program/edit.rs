//! Changes to a message: fields dropped, values masked, lengths that change with them.

use crate::wire::{varint_len, write_varint};

/// What is done to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEdit {
    /// It is left out.
    Drop,
    /// Its value is replaced.
    Mask(Mask),
}

/// What a value is replaced by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// By one of the same length: each byte of a string by `*`, of bytes by 0, a number by 0.
    SameLength,
    /// A string or bytes by these.
    Text(String),
}

/// A place of the input and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteReplacement {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) to: To,
}

/// What a place becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Nothing,
    /// A length.
    Length(u64),
    Stars,
    Zeros,
    /// Varints of as many bytes that are 0.
    ZeroVarints,
    /// A text of the program, with its length before it.
    Text(u16),
}

impl To {
    /// Whether it has the length of what it replaces.
    pub(super) fn is_same_length(self) -> bool {
        matches!(self, Self::Stars | Self::Zeros | Self::ZeroVarints)
    }

    /// Changes bytes that keep their length.
    pub(super) fn mask(self, bytes: &mut [u8]) {
        match self {
            Self::Stars => bytes.fill(b'*'),
            Self::Zeros => bytes.fill(0),
            // What says that more follows stays, so that as many varints of as many bytes are there.
            Self::ZeroVarints => bytes.iter_mut().for_each(|byte| *byte &= 0x80),
            Self::Nothing | Self::Length(_) | Self::Text(_) => {}
        }
    }
}

/// How many bytes a text has with its length.
pub(super) fn text_len(text: &[u8]) -> usize {
    varint_len(text.len() as u64) + text.len()
}

/// Appends `message` with its changes, which are in their order and apart.
pub(super) fn apply(message: &[u8], changes: &[ByteReplacement], texts: &[Box<[u8]>], out: &mut Vec<u8>) {
    let mut at = 0;
    for change in changes {
        out.extend_from_slice(message.get(at..change.start).unwrap_or_default());
        match change.to {
            To::Nothing => {}
            To::Length(length) => write_varint(out, length),
            To::Text(text) => {
                let text = texts.get(usize::from(text)).map_or(&[][..], |text| text);
                write_varint(out, text.len() as u64);
                out.extend_from_slice(text);
            }
            to => {
                let start = out.len();
                out.extend_from_slice(message.get(change.start..change.end).unwrap_or_default());
                to.mask(out.get_mut(start..).unwrap_or_default());
            }
        }
        at = change.end;
    }
    out.extend_from_slice(message.get(at..).unwrap_or_default());
}

//! Chunk size line: the size and extensions before the data of a chunk, parsed byte by byte.

use super::ChunkFault;
use crate::octet::{hex_value, is_tchar, is_text};

/// Parser state of a size line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeLine {
    size: u64,
    digits: u8,
    place: SizeLineState,
}

/// Position in the grammar before the next byte.
///
/// `chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeLineState {
    /// In the digits.
    Size,
    /// In white space that a `;` must follow.
    BeforeSemicolon,
    /// After a `;`, before the name.
    BeforeName,
    /// In a name.
    Name,
    /// In white space after a name.
    AfterName,
    /// After a `=`, before the value.
    BeforeValue,
    /// In a value that is a token.
    Token,
    /// In a quoted string.
    Quoted,
    /// After a backslash in a quoted string.
    Escaped,
    /// After a quoted value.
    AfterQuoted,
    /// After the CR.
    LineFeed,
}

/// Result of a byte of a size line.
pub(super) enum SizeStep {
    /// More bytes of the line follow.
    More,
    /// More bytes follow, and this one belongs to an extension.
    Extension,
    /// The line is complete; the chunk size.
    Done(u64),
}

impl SizeLine {
    /// Creates a parser at the beginning of a line.
    pub(super) const fn new() -> Self {
        Self { size: 0, digits: 0, place: SizeLineState::Size }
    }

    /// Consumes the next byte.
    pub(super) fn take(&mut self, byte: u8) -> Result<SizeStep, ChunkFault> {
        if self.place == SizeLineState::Size {
            return self.take_size(byte);
        }
        if self.place == SizeLineState::LineFeed {
            return if byte == b'\n' { Ok(SizeStep::Done(self.size)) } else { Err(ChunkFault::BadLineEnd) };
        }
        self.place = self.place.after(byte)?;
        Ok(SizeStep::Extension)
    }

    fn take_size(&mut self, byte: u8) -> Result<SizeStep, ChunkFault> {
        if let Some(digit) = hex_value(byte) {
            self.size = self.size << 4 | u64::from(digit);
            self.digits += 1;
            // Sizes of 2^63 or more are rejected, so that sums with them cannot overflow.
            let is_fit = self.digits <= SIZE_DIGITS_MAX && self.size <= i64::MAX.unsigned_abs();
            return if is_fit { Ok(SizeStep::More) } else { Err(ChunkFault::BadSize) };
        }
        if self.digits == 0 {
            return Err(ChunkFault::BadSize);
        }
        self.place = match byte {
            b'\r' => SizeLineState::LineFeed,
            b';' => SizeLineState::BeforeName,
            b' ' | b'\t' => SizeLineState::BeforeSemicolon,
            b'\n' => return Err(ChunkFault::BadLineEnd),
            _ => return Err(ChunkFault::BadSize),
        };
        Ok(if byte == b'\r' { SizeStep::More } else { SizeStep::Extension })
    }
}

impl SizeLineState {
    /// Returns the state after `byte` in an extension.
    fn after(self, byte: u8) -> Result<Self, ChunkFault> {
        let is_space = matches!(byte, b' ' | b'\t');
        let next = match self {
            Self::BeforeSemicolon | Self::BeforeName | Self::BeforeValue if is_space => self,
            Self::BeforeSemicolon if byte == b';' => Self::BeforeName,
            Self::BeforeName if is_tchar(byte) => Self::Name,
            Self::BeforeValue if byte == b'"' => Self::Quoted,
            Self::BeforeValue if is_tchar(byte) => Self::Token,
            Self::Name | Self::Token if is_tchar(byte) => self,
            Self::Name | Self::AfterName if byte == b'=' => Self::BeforeValue,
            Self::Name | Self::AfterName if is_space => Self::AfterName,
            Self::AfterName if byte == b';' => Self::BeforeName,
            Self::Token | Self::AfterQuoted if is_space => Self::BeforeSemicolon,
            Self::Name | Self::Token | Self::AfterQuoted if byte == b';' => Self::BeforeName,
            Self::Name | Self::Token | Self::AfterQuoted if byte == b'\r' => Self::LineFeed,
            Self::Quoted if byte == b'"' => Self::AfterQuoted,
            Self::Quoted if byte == b'\\' => Self::Escaped,
            Self::Quoted | Self::Escaped if is_text(byte) => Self::Quoted,
            Self::Size
            | Self::BeforeSemicolon
            | Self::BeforeName
            | Self::Name
            | Self::AfterName
            | Self::BeforeValue
            | Self::Token
            | Self::Quoted
            | Self::Escaped
            | Self::AfterQuoted
            | Self::LineFeed => return Err(ChunkFault::BadExtension),
        };
        Ok(next)
    }
}

/// Maximum digits of a size.
const SIZE_DIGITS_MAX: u8 = 16;

//! JSON tokenizer.

use crate::fault::ProtobufErrorKind;
use crate::json::text::plain_len;
use crate::wire::PiecePosition;

/// A token that is a value, or begins one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'w> {
    ObjectStart,
    ArrayStart,
    Null,
    True,
    False,
    Number(&'w [u8]),
    Text(JsonString<'w>),
}

/// Content of a string between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonString<'w> {
    pub(super) raw: &'w [u8],
    /// Whether it has escapes and must be decoded.
    pub(super) has_escapes: bool,
    /// Whether it has non-ASCII bytes.
    pub(super) has_non_ascii: bool,
}

/// Reads a token from the front of a window, and returns it with its length; `None` if the window ends within it.
/// `position` is that of the window in the input.
pub(super) fn read_token(
    window: &[u8],
    position: PiecePosition,
) -> Result<Option<(Token<'_>, usize)>, ProtobufErrorKind> {
    match window.first() {
        None => Ok(None),
        Some(b'{') => Ok(Some((Token::ObjectStart, 1))),
        Some(b'[') => Ok(Some((Token::ArrayStart, 1))),
        Some(b'"') => Ok(read_text(window)?.map(|(text, bytes)| (Token::Text(text), bytes))),
        Some(_) => read_word(window, position),
    }
}

fn read_word(
    window: &[u8],
    position: PiecePosition,
) -> Result<Option<(Token<'_>, usize)>, ProtobufErrorKind> {
    let bytes = word_len(window);
    if bytes == window.len() && position == PiecePosition::Inner {
        return Ok(None);
    }
    let word = window.get(..bytes).unwrap_or_default();
    let token = match word {
        b"null" => Token::Null,
        b"true" => Token::True,
        b"false" => Token::False,
        [b'-' | b'0'..=b'9', ..] => Token::Number(word),
        _ => return Err(ProtobufErrorKind::JsonSyntax),
    };
    Ok(Some((token, bytes)))
}

/// Returns the number of leading bytes that can be part of a number or literal.
pub(super) fn word_len(window: &[u8]) -> usize {
    let is_of_word =
        |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'a'..=b'z' | b'A'..=b'Z');
    window.iter().take_while(is_of_word).count()
}

/// Reads a string whose opening quote is the first byte.
#[inline]
pub(super) fn read_text(window: &[u8]) -> Result<Option<(JsonString<'_>, usize)>, ProtobufErrorKind> {
    let mut text = JsonString { raw: &[], has_escapes: false, has_non_ascii: false };
    let mut at = 1;
    loop {
        let rest = window.get(at..).unwrap_or_default();
        at += plain_len(rest);
        match window.get(at) {
            None => return Ok(None),
            Some(b'"') => {
                text.raw = window.get(1..at).unwrap_or_default();
                return Ok(Some((text, at + 1)));
            }
            Some(b'\\') => {
                text.has_escapes = true;
                at += 2;
            }
            Some(0x80..) => {
                text.has_non_ascii = true;
                at += window.get(at..).unwrap_or_default().iter().take_while(|byte| **byte >= 0x80).count();
            }
            Some(_) => return Err(ProtobufErrorKind::JsonSyntax),
        }
    }
}

/// Whether the byte is white space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Continuation of an incomplete token in the next piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The token ends after this many bytes of the piece.
    Ends(usize),
    /// The token continues after the piece.
    Continues,
}

/// Finds the end of a token, whose beginning is `carried`, in the next piece.
pub(super) fn tail(carried: &[u8], piece: &[u8]) -> Tail {
    if carried.first() != Some(&b'"') {
        let bytes = word_len(piece);
        return if bytes < piece.len() { Tail::Ends(bytes) } else { Tail::Continues };
    }
    // A quote after an odd number of backslashes does not end the string.
    let slashes = carried.iter().rev().take_while(|byte| **byte == b'\\').count();
    let mut is_escaped = slashes % 2 == 1;
    for (at, byte) in piece.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Tail::Ends(at + 1),
            _ => {}
        }
    }
    Tail::Continues
}

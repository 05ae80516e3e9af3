//! Incremental Base64 decoder for input in pieces that may each be padded.

use eddy_protobuf::decode_base64;

/// Characters of an incomplete Base64 group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Base64Remainder {
    pub(super) bytes: [u8; 3],
    /// Number of characters, 0 to 3.
    pub(super) count: u8,
}

/// Error of decoding invalid Base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadBase64;

impl Base64Remainder {
    /// Decodes a piece of Base64 and appends the bytes. Padding may occur within it, because concatenated parts are
    /// padded each.
    ///
    /// # Errors
    /// [`BadBase64`]; bytes appended before are then invalid.
    pub(super) fn decode(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), BadBase64> {
        let rest = self.complete(piece, out)?;
        let (groups, left) = rest.split_at(rest.len() / GROUP * GROUP);
        decode_groups(groups, out)?;
        if !left.is_empty() {
            debug_assert_eq!(self.count, 0, "what was held is complete");
            self.hold(left);
        }
        Ok(())
    }

    /// Ends the text.
    ///
    /// # Errors
    /// [`BadBase64`] within a group.
    pub(super) fn finish(self) -> Result<(), BadBase64> {
        if self.count == 0 { Ok(()) } else { Err(BadBase64) }
    }

    /// Completes the held group from the front of a piece and returns the rest of the piece.
    fn complete<'p>(&mut self, piece: &'p [u8], out: &mut Vec<u8>) -> Result<&'p [u8], BadBase64> {
        let count = usize::from(self.count);
        if count == 0 {
            return Ok(piece);
        }
        let Some((missing, rest)) = piece.split_at_checked(GROUP.saturating_sub(count)) else {
            self.hold(piece);
            return Ok(&[]);
        };
        let mut group = [0; GROUP];
        let held = self.bytes.iter().take(count).chain(missing);
        group.iter_mut().zip(held).for_each(|(place, letter)| *place = *letter);
        self.count = 0;
        decode_groups(&group, out)?;
        Ok(rest)
    }

    /// Adds characters to the held group; together they are less than a group.
    fn hold(&mut self, letters: &[u8]) {
        for letter in letters {
            if let Some(place) = self.bytes.get_mut(usize::from(self.count)) {
                *place = *letter;
                self.count += 1;
            }
        }
    }
}

/// Decodes whole groups, some of which may be padded.
fn decode_groups(mut groups: &[u8], out: &mut Vec<u8>) -> Result<(), BadBase64> {
    while !groups.is_empty() {
        let padded = groups.iter().position(|letter| *letter == b'=');
        let end = padded.map_or(groups.len(), |at| (at / GROUP + 1) * GROUP);
        let (part, rest) = groups.split_at_checked(end).ok_or(BadBase64)?;
        decode_base64(out, part).ok_or(BadBase64)?;
        groups = rest;
    }
    Ok(())
}

/// Number of characters in a group, which encodes up to three bytes.
const GROUP: usize = 4;

#[cfg(test)]
mod tests {
    use eddy_protobuf::write_base64;

    use super::*;

    /// Decodes a text in pieces of `step` characters.
    fn decoded(text: &[u8], step: usize) -> Result<Vec<u8>, BadBase64> {
        let (mut held, mut out) = (Base64Remainder::default(), Vec::new());
        for piece in text.chunks(step) {
            held.decode(piece, &mut out)?;
        }
        held.finish().map(|()| out)
    }

    #[test]
    fn base64_text_is_decoded_in_any_chunking() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut text = Vec::new();
        // Parts of various lengths, each with its own padding.
        for part in [&bytes[..1], &bytes[1..3], &bytes[3..6], &bytes[6..7], &bytes[7..]] {
            write_base64(&mut text, part);
        }
        for step in 1..=text.len() {
            assert_eq!(decoded(&text, step).as_deref(), Ok(&*bytes), "by {step}");
        }
        assert_eq!(decoded(b"", 1), Ok(Vec::new()));
    }

    #[test]
    fn invalid_base64_is_refused_in_any_chunking() {
        for text in
            ["A", "AA", "AAA", "AAAAA", "A===", "====", "=AAA", "AA=A", "AA*A", "AA A", "AAAA\r\n", "AAAA="]
        {
            for step in 1..=text.len() {
                assert_eq!(decoded(text.as_bytes(), step), Err(BadBase64), "{text} by {step}");
            }
        }
    }
}

//! Objects that are buffered until their end.

/// An object that is buffered until its end, because its `@type` is not its first member.
#[derive(Debug, Default)]
pub(super) struct Capture {
    /// The object without its opening brace.
    pub(super) text: Vec<u8>,
    /// The object with `@type` first.
    pub(super) ordered: Vec<u8>,
    pub(super) depth: u32,
    pub(super) is_in_string: bool,
    pub(super) is_escaped: bool,
    /// Bytes reordered in this message; a nested `Any` counts on each level.
    pub(super) spent: usize,
}

impl Capture {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.spent = 0;
    }

    /// Takes bytes up to the end of the object; returns how many, and whether it has ended.
    pub(super) fn take(&mut self, piece: &[u8]) -> (usize, bool) {
        for (at, byte) in piece.iter().enumerate() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                b'{' | b'[' if !self.is_in_string => self.depth += 1,
                b'}' | b']' if !self.is_in_string => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                self.text.extend_from_slice(piece.get(..=at).unwrap_or_default());
                return (at + 1, true);
            }
        }
        self.text.extend_from_slice(piece);
        (piece.len(), false)
    }
}

//! Detection of the body functions that a script may use, by the words in its text.
//!
//! A filter that receives bodies costs each exchange something, and one that may change them removes `Content-Length`.
//! A script can only call what it names, so its text is sufficient.

/// Words that occur in a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    /// `body` or `bodyChunks`.
    pub(super) body: bool,
    /// `trailers`.
    pub(super) trailers: bool,
    /// `downstreamRequestHeaders`.
    pub(super) request_headers: bool,
    /// `setBytes`.
    pub(super) changes_body: bool,
}

impl Mentions {
    /// Whether the script may read bodies or trailers.
    pub(super) fn is_of_bodies(self) -> bool {
        self.body || self.trailers
    }

    /// Scans a text, including its comments.
    pub(super) fn of(text: &[u8]) -> Self {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut mentions = Self::default();
        for word in text.split(|byte| !is_word(byte)) {
            match word {
                b"body" | b"bodyChunks" => mentions.body = true,
                b"trailers" => mentions.trailers = true,
                b"downstreamRequestHeaders" => mentions.request_headers = true,
                b"setBytes" => mentions.changes_body = true,
                _ => {}
            }
        }
        mentions
    }
}

#[cfg(test)]
mod tests {
    use super::Mentions;

    #[test]
    fn only_whole_words_count() {
        let all = Mentions { body: true, trailers: true, request_headers: true, changes_body: true };
        assert_eq!(Mentions::of(b"h:body():setBytes(h:trailers())h:downstreamRequestHeaders()"), all);
        assert_eq!(
            Mentions::of(b"for c in h:bodyChunks() do end"),
            Mentions { body: true, ..Mentions::default() }
        );
        assert_eq!(Mentions::of(b"local anybody, body_size, setBytes2 = nobody"), Mentions::default());
    }
}

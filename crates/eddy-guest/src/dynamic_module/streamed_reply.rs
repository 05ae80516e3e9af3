//! Local replies that a module sends piece by piece.
//!
//! eddy sends a local reply as a whole, so the pieces are collected until the module ends the reply.

/// Reply that is being collected.
#[derive(Debug, Default)]
pub(super) struct StreamedReply {
    pub(super) status: u32,
    pub(super) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) body: Vec<u8>,
}

impl StreamedReply {
    /// Begins a reply with these headers, of which `:status` is the status.
    ///
    /// # Errors
    /// There is no valid status.
    pub(super) fn begin<'h>(
        headers: impl Iterator<Item = (&'h [u8], &'h [u8])>,
    ) -> Result<Self, &'static str> {
        let mut reply = Self::default();
        for (name, value) in headers {
            if name == b":status" {
                reply.status =
                    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            } else if !name.starts_with(b":") {
                reply.headers.push((name.to_vec(), value.to_vec()));
            }
        }
        if reply.status == 0 { Err("its streamed reply has no `:status`") } else { Ok(reply) }
    }

    /// Adds a piece of the body.
    ///
    /// # Errors
    /// The body is larger than [`REPLY_BYTES_MAX`].
    pub(super) fn push(&mut self, data: &[u8]) -> Result<(), &'static str> {
        if self.body.len() + data.len() > REPLY_BYTES_MAX {
            return Err("its streamed reply is larger than 15 MiB");
        }
        self.body.extend_from_slice(data);
        Ok(())
    }
}

/// Maximum size of a streamed reply's body in bytes; less than that of all edits of a crossing.
const REPLY_BYTES_MAX: usize = 15 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streamed_reply_is_collected() {
        let headers: [(&[u8], &[u8]); 3] = [(b":status", b"207"), (b"a", b"1"), (b":x", b"")];
        let mut reply = StreamedReply::begin(headers.into_iter()).unwrap();
        reply.push(b"one").unwrap();
        reply.push(b" two").unwrap();
        assert_eq!((reply.status, &*reply.body), (207, &b"one two"[..]));
        assert_eq!(reply.headers, [(b"a".to_vec(), b"1".to_vec())]);
        assert!(reply.push(&vec![0; REPLY_BYTES_MAX]).is_err());
        assert!(StreamedReply::begin(std::iter::empty()).is_err());
    }
}

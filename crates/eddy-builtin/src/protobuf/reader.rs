//! Splits a body into messages, for any framing.

use eddy_protobuf::{Compressed, FrameEvent, Frames, ProtobufError, ProtobufErrorKind, ProtobufLimits};

/// Incremental reader of the messages of a body.
#[derive(Debug)]
pub(crate) struct MessageReader {
    form: MessageFraming,
    /// Number of body bytes consumed.
    offset: u64,
}

#[derive(Debug)]
enum MessageFraming {
    /// gRPC frames.
    Frames(Frames),
    /// The body is one message.
    Whole { is_begun: bool, is_ended: bool, bytes: usize, bytes_max: usize },
}

/// Next element of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageEvent<'p> {
    /// Start of a message.
    Start {
        /// Length in bytes, if framed.
        length: Option<u32>,
        /// Whether the message is compressed.
        is_compressed: bool,
    },
    /// Data of the message.
    Data(&'p [u8]),
    /// End of the message.
    End,
}

impl MessageReader {
    /// Creates a reader of a framed body; the message size is limited by `limits`.
    pub(crate) fn framed(compressed: Compressed, limits: &ProtobufLimits) -> Self {
        Self { form: MessageFraming::Frames(Frames::new(compressed, limits)), offset: 0 }
    }

    /// Creates a reader of a body that is one message.
    pub(crate) fn whole(limits: &ProtobufLimits) -> Self {
        let bytes_max = limits.message_bytes_max;
        Self {
            form: MessageFraming::Whole { is_begun: false, is_ended: false, bytes: 0, bytes_max },
            offset: 0,
        }
    }

    /// Whether the body is framed.
    pub(crate) fn is_framed(&self) -> bool {
        matches!(self.form, MessageFraming::Frames(_))
    }

    /// Number of body bytes consumed so far: at the start of a message, those before it.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next event from the front of `piece`; returns `None` when the piece is consumed, and after the last
    /// piece when the body has ended.
    ///
    /// # Errors
    /// Errors of [`Frames::next`] and [`Frames::finish`]; [`ProtobufErrorKind::MessageTooLarge`]. The offset counts
    /// from the beginning of the body.
    pub(crate) fn next<'p>(
        &mut self,
        piece: &mut &'p [u8],
        is_last: bool,
    ) -> Result<Option<MessageEvent<'p>>, ProtobufError> {
        let before = piece.len();
        let event = self.form.next(piece, is_last);
        self.offset += (before - piece.len()) as u64;
        event
    }
}

impl MessageFraming {
    fn next<'p>(
        &mut self,
        piece: &mut &'p [u8],
        is_last: bool,
    ) -> Result<Option<MessageEvent<'p>>, ProtobufError> {
        match self {
            Self::Frames(frames) => match frames.next(piece)? {
                Some(FrameEvent::Start { length, is_compressed }) => {
                    Ok(Some(MessageEvent::Start { length: Some(length), is_compressed }))
                }
                Some(FrameEvent::Data(data)) => Ok(Some(MessageEvent::Data(data))),
                Some(FrameEvent::End) => Ok(Some(MessageEvent::End)),
                None if is_last => frames.finish().map(|()| None),
                None => Ok(None),
            },
            Self::Whole { is_begun, is_ended, bytes, bytes_max } => {
                if !*is_begun {
                    *is_begun = true;
                    return Ok(Some(MessageEvent::Start { length: None, is_compressed: false }));
                }
                if piece.is_empty() {
                    return Ok(
                        (is_last && !std::mem::replace(is_ended, is_last)).then_some(MessageEvent::End)
                    );
                }
                let data = std::mem::take(piece);
                *bytes += data.len();
                if *bytes > *bytes_max {
                    let offset = *bytes_max as u64;
                    return Err(ProtobufError {
                        offset,
                        kind: ProtobufErrorKind::MessageTooLarge,
                        field: None,
                    });
                }
                Ok(Some(MessageEvent::Data(data)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(reader: &mut MessageReader, pieces: &[&[u8]]) -> Result<String, ProtobufError> {
        let mut out = String::new();
        for (index, piece) in pieces.iter().enumerate() {
            let (mut rest, is_last) = (*piece, index + 1 == pieces.len());
            while let Some(event) = reader.next(&mut rest, is_last)? {
                match event {
                    MessageEvent::Start { .. } => out.push('<'),
                    MessageEvent::Data(data) => out.push_str(std::str::from_utf8(data).unwrap()),
                    MessageEvent::End => out.push('>'),
                }
            }
        }
        Ok(out)
    }

    #[test]
    fn a_body_is_one_message_or_grpc_frames() {
        let limits = ProtobufLimits { message_bytes_max: 4, ..ProtobufLimits::default() };
        let whole = |pieces: &[&[u8]]| events(&mut MessageReader::whole(&limits), pieces);
        assert_eq!(whole(&[b"ab", b"", b"cd"]), Ok("<abcd>".to_owned()));
        assert_eq!(whole(&[b"ab", b""]), Ok("<ab>".to_owned()));
        assert_eq!(whole(&[b""]), Ok("<>".to_owned()));
        assert_eq!(whole(&[b"ab", b"cde"]).unwrap_err().kind, ProtobufErrorKind::MessageTooLarge);
        let framed =
            |pieces: &[&[u8]]| events(&mut MessageReader::framed(Compressed::Refuse, &limits), pieces);
        assert_eq!(framed(&[b"\0\0\0\0\x02a", b"b\0\0\0\0\0"]), Ok("<ab><>".to_owned()));
        let mut reader = MessageReader::framed(Compressed::Refuse, &limits);
        assert_eq!(
            reader.next(&mut &b"\0\0\0\0\x02ab"[..], false).unwrap().map(|_| reader.offset()),
            Some(5)
        );
        assert_eq!(framed(&[b""]), Ok(String::new()));
        assert_eq!(framed(&[b"\0\0\0\0\x02a"]).unwrap_err().kind, ProtobufErrorKind::Truncated);
        assert_eq!(framed(&[b"\0\0\0\0\x05abcde"]).unwrap_err().kind, ProtobufErrorKind::MessageTooLarge);
        assert_eq!(framed(&[b"\x01\0\0\0\x01a"]).unwrap_err().kind, ProtobufErrorKind::FrameCompressed);
    }
}

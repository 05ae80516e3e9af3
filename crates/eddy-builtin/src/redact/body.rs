//! Redaction of the messages of a body while it passes.

use std::sync::Arc;

use eddy_protobuf::{
    Compressed, Frames, MessageWalk, ProtobufError, ProtobufErrorKind, ProtobufLimits, WalkProgram,
};

use crate::protobuf::{MessageEvent, MessageReader};

/// Redaction state of a body, message by message.
///
/// # Cost
/// One walk per message. If an edit can change lengths, a message is held until it is complete.
#[derive(Debug)]
pub(super) struct RedactedBody {
    reader: MessageReader,
    walk: MessageWalk,
    /// Whether edits keep lengths, so that messages can be streamed.
    is_streamable: bool,
    /// Whether the current message is compressed and passed unchanged.
    is_passed_unchanged: bool,
    /// Number of messages redacted so far.
    pub(super) redacted: u64,
    /// Number of compressed messages passed unchanged.
    pub(super) passed: u64,
}

impl RedactedBody {
    /// Creates the state for a body of frames, or for a body that is one message.
    pub(super) fn new(
        program: &Arc<WalkProgram>,
        is_framed: bool,
        compressed: Compressed,
        message_bytes_max: usize,
    ) -> Self {
        let is_streamable = program.is_streamable();
        let limits = ProtobufLimits {
            // Streamed messages need no size limit.
            message_bytes_max: if is_streamable { usize::MAX } else { message_bytes_max },
            items_max: EDITS_MAX,
            ..ProtobufLimits::default()
        };
        let reader = if is_framed {
            MessageReader::framed(compressed, &limits)
        } else {
            MessageReader::whole(&limits)
        };
        let walk = MessageWalk::new(Arc::clone(program), limits);
        Self { reader, walk, is_streamable, is_passed_unchanged: false, redacted: 0, passed: 0 }
    }

    /// Redacts the next piece and appends the output.
    ///
    /// # Errors
    /// [`ProtobufError`] when a message cannot be read. The output up to then is whole messages, or a masked part of
    /// one.
    pub(super) fn push(
        &mut self,
        mut piece: &[u8],
        is_last: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), ProtobufError> {
        while let Some(event) = self.reader.next(&mut piece, is_last)? {
            match event {
                MessageEvent::Start { length, is_compressed } => {
                    self.walk.reset();
                    self.is_passed_unchanged = is_compressed;
                    if let Some(length) = length
                        && (self.is_streamable || is_compressed)
                    {
                        out.extend_from_slice(&Frames::head(length, is_compressed));
                    }
                }
                MessageEvent::Data(data) if self.is_passed_unchanged => out.extend_from_slice(data),
                MessageEvent::Data(data) if self.is_streamable => self.walk.push_masked(data, out)?,
                MessageEvent::Data(data) => self.walk.push(data)?,
                MessageEvent::End if self.is_passed_unchanged => self.passed += 1,
                MessageEvent::End => self.end_message(out)?,
            }
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) -> Result<(), ProtobufError> {
        self.walk.finish()?;
        self.redacted += 1;
        if self.is_streamable {
            return Ok(());
        }
        if !self.reader.is_framed() {
            self.walk.write(out);
            return Ok(());
        }
        let start = out.len();
        out.extend_from_slice(&Frames::plain_head(0));
        let begin = out.len();
        self.walk.write(out);
        let length = u32::try_from(out.len() - begin).map_err(|_| ProtobufError {
            offset: 0,
            kind: ProtobufErrorKind::MessageTooLarge,
            field: None,
        })?;
        if let Some(head) = out.get_mut(start..begin) {
            head.copy_from_slice(&Frames::plain_head(length));
        }
        Ok(())
    }
}

/// Maximum number of edits per message. With the longest mask text, a message grows by at most 4.25 MiB.
const EDITS_MAX: usize = 128 * 1024;
